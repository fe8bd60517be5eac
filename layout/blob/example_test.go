package blob_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// An object is created once, and read whole or by ranges.
func ExampleBucket() {
	ctx, bucket := context.Background(), memblob.New()
	if err := bucket.Create(ctx, "notes/1", []byte("a bucket of words")); err != nil {
		fmt.Println(err)
		return
	}

	word, err := bucket.Get(ctx, "notes/1", blob.Range{Offset: 2, Length: 6})
	fmt.Printf("%s, %v\n", word, err)
	end, err := bucket.Get(ctx, "notes/1", blob.Range{Offset: -5})
	fmt.Printf("%s, %v\n", end, err)

	err = bucket.Create(ctx, "notes/1", []byte("other words"))
	fmt.Println("exists:", errors.Is(err, blob.ErrExists))
	_, err = bucket.Get(ctx, "notes/2", blob.Range{})
	fmt.Println("absent:", errors.Is(err, blob.ErrAbsent))
	// Output:
	// bucket, <nil>
	// words, <nil>
	// exists: true
	// absent: true
}

// A message that arrives twice stores its object once.
func ExampleCreateOnce() {
	ctx, bucket := context.Background(), memblob.New()
	fmt.Println(blob.CreateOnce(ctx, bucket, "notes/1", []byte("words")))
	fmt.Println(blob.CreateOnce(ctx, bucket, "notes/1", []byte("words")))
	// Output:
	// <nil>
	// <nil>
}
