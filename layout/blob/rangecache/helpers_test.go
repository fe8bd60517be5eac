package rangecache

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// store returns a bucket that counts its requests. It has objects of the given sizes, with the keys
// a, b, ….
func store(t testing.TB, sizes ...int) *countblob.Bucket {
	t.Helper()
	random, bucket := rand.NewChaCha8([32]byte{1}), memblob.New()
	for i, size := range sizes {
		content := make([]byte, size)
		_, _ = random.Read(content)
		if err := bucket.Create(context.Background(), string(rune('a'+i)), content); err != nil {
			t.Fatal(err)
		}
	}
	return countblob.New(bucket)
}

// open returns a cache that is closed with the test.
func open(t testing.TB, reader blob.Reader, o Options) *Cache {
	t.Helper()
	c, err := New(reader, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, c) })
	return c
}

func shut(t testing.TB, c *Cache) {
	t.Helper()
	if err := c.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

// wantRead reads ranges through the cache, and compares the bytes with those that the reader itself
// returns.
func wantRead(t testing.TB, c *Cache, reader blob.Reader, key string, ranges ...blob.Range) {
	t.Helper()
	got, err := c.Read(t.Context(), key, ranges)
	for i, r := range ranges {
		want, errWant := reader.Get(t.Context(), key, r)
		if errWant != nil {
			if errors.Is(errWant, blob.ErrRange) != errors.Is(err, blob.ErrRange) || errors.Is(errWant, blob.ErrAbsent) != errors.Is(err, blob.ErrAbsent) || err == nil {
				t.Fatalf("%s %+v: got error %v, want %v", key, ranges, err, errWant)
			}
			return
		}
		if err == nil && !bytes.Equal(got[i], want) {
			t.Fatalf("%s %+v: got %d bytes, want %d, or others", key, r, len(got[i]), len(want))
		}
	}
	if err != nil {
		t.Fatalf("%s %+v: %v", key, ranges, err)
	}
}

func blocks(size int64, numbers ...int64) []blob.Range {
	ranges := make([]blob.Range, len(numbers))
	for i, n := range numbers {
		ranges[i] = blob.Range{Offset: n * size, Length: size}
	}
	return ranges
}
