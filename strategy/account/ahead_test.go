package account

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// aheadOf returns an ahead, the bucket whose requests it counts, and the content of its object.
func aheadOf(t *testing.T, size, books int) (*ahead, *countblob.Bucket, []byte) {
	t.Helper()
	content, random := make([]byte, size), rand.NewChaCha8([32]byte{})
	random.Read(content)
	bucket := countblob.New(memblob.New())
	if err := bucket.Create(t.Context(), "book", content); err != nil {
		t.Fatal(err)
	}
	return newAhead(bucket, books), bucket, content
}

// TestAhead reads random ranges, and whole runs of ranges that follow each other or overlap. The bytes must be those
// of the object.
func TestAhead(t *testing.T) {
	a, _, content := aheadOf(t, 3<<20, 20)
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		offset := random.Int64N(int64(len(content)))
		for range random.IntN(20) {
			r := blob.Range{Offset: offset, Length: 1 + random.Int64N(100_000)}
			from, to, err := r.Within(int64(len(content)))
			if err != nil {
				break
			}
			got, err := a.Get(t.Context(), "book", r)
			if err != nil || !bytes.Equal(got, content[from:to]) {
				t.Fatalf("%+v: %d bytes, %v", r, len(got), err)
			}
			offset = to - random.Int64N(to-from+1)*random.Int64N(2)
		}
	}
}

// TestAheadRequests counts requests and bytes. A single range must be requested exactly. Two sections of an object
// that are read in turn, range by range, must take few requests, whatever the number of ranges is.
func TestAheadRequests(t *testing.T) {
	for _, test := range []struct {
		books, ranges int
		requests      int64 // the most that are allowed
		read          int64 // the same, in bytes
	}{
		{1, 1, 2, 2 << 10},
		{1, 1000, 20, 4 << 20},
		{20, 1000, 22, 4 << 20},
		{1000, 1000, 42, 4 << 20},
	} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			a, bucket, _ := aheadOf(t, 4<<20, test.books)
			before := bucket.Counts()
			for i := range test.ranges {
				for _, section := range []int64{0, 2 << 20} {
					if _, err := a.Get(t.Context(), "book", blob.Range{Offset: section + int64(i)<<10, Length: 1 << 10}); err != nil {
						t.Fatal(err)
					}
				}
			}
			spent := bucket.Counts().Minus(before)
			if spent.Get > test.requests || spent.Read > test.read {
				t.Errorf("%d requests and %d bytes, want at most %d and %d", spent.Get, spent.Read, test.requests, test.read)
			}
		})
	}
}

// TestAheadOnce reads an object in ranges that have some bytes in common with the range before, as ranges of the hash
// space share a block. No byte may be requested twice.
func TestAheadOnce(t *testing.T) {
	for _, books := range []int{1, 20, 1000} {
		a, bucket, content := aheadOf(t, 4<<20, books)
		for from := 0; from < len(content); from += 50_000 {
			r := blob.Range{Offset: int64(max(0, from-12_000)), Length: int64(min(50_000, len(content)-from) + min(from, 12_000))}
			if _, err := a.Get(t.Context(), "book", r); err != nil {
				t.Fatal(err)
			}
		}
		if read := bucket.Counts().Read; read > int64(len(content)) {
			t.Errorf("%d books: %d bytes were requested of an object of %d", books, read, len(content))
		}
	}
}

// TestAheadOfRanges asks for the states of all URLs in very small ranges. The number of requests must be about that
// of one large range, and the states the same.
func TestAheadOfRanges(t *testing.T) {
	bucket := countblob.New(memblob.New())
	s := publish(t, bucket, nil)
	for n := range 3 {
		addBook(t, bucket, crawled(t, n, 400))
	}
	requests := func(most int64) (map[string]URL, int64) {
		b, err := Read(t.Context(), bucket, s)
		if err != nil {
			t.Fatal(err)
		}
		b.most = most
		before := bucket.Counts()
		return judged(t, b.All(t.Context(), layout.Range{})), bucket.Counts().Minus(before).Get
	}
	whole, few := requests(maxURLs)
	parts, many := requests(50)
	if diff := cmp.Diff(whole, parts); diff != "" {
		t.Errorf("states in small ranges (-whole +small):\n%s", diff)
	}
	if many > 2*few+30 {
		t.Errorf("%d requests in small ranges, %d in large ones", many, few)
	}
}
