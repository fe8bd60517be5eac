package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// getCounter is a bucket that counts the GETs of one object.
type getCounter struct {
	blob.Bucket
	key  string
	gets atomic.Int64
}

func (c *getCounter) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	if key == c.key {
		c.gets.Add(1)
	}
	return c.Bucket.Get(ctx, key, r)
}

// TestWholeSegments counts the GETs of a first search. A small segment takes one GET, a larger one takes several.
func TestWholeSegments(t *testing.T) {
	for name, test := range map[string]struct {
		words int // of the page
		whole bool
	}{"small": {100, true}, "large": {40_000, false}} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, 1)
			var words strings.Builder
			random := rand.New(rand.NewPCG(1, 2))
			for range test.words {
				fmt.Fprintf(&words, "%016x%016x ", random.Uint64(), random.Uint64())
			}
			words.WriteString("last")
			s.Publish(querytest.Page{URL: "https://example.org/", MIME: "text/html", Data: "x", Title: "Manual", Body: words.String()})
			listed := s.Commit(0, func(*manifest.Manifest) error { return manifest.ErrUnchanged }).Segments[0]
			if small := listed.Bytes <= mostWhole; small != test.whole {
				t.Fatalf("the segment has %d bytes", listed.Bytes)
			}
			counter := &getCounter{Bucket: s.Bucket, key: listed.Key}
			if found := answerOf(t, s.engine(counter), search.Query{Text: "last", Size: 10}); found.Total != 1 {
				t.Errorf("found %d", found.Total)
			}
			if n := counter.gets.Load(); (n == 1) != test.whole {
				t.Errorf("%d GETs of a segment of %d bytes", n, listed.Bytes)
			}
		})
	}
}
