package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// stopping is a context that ends after its method Err was called a number of times.
type stopping struct {
	context.Context
	looks int
	mu    sync.Mutex
}

func (s *stopping) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looks--; s.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestSearchStops(t *testing.T) {
	ix := indexOf(t, randomDocuments(rand.New(rand.NewPCG(1, 1)), 300))
	for looks := range 3 {
		ctx := &stopping{Context: context.Background(), looks: looks}
		if _, err := ix.Search(ctx, Query{Text: `baba neba "baba neba"`, Size: 3}); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d looks: %v", looks, err)
		}
	}
}

// source serves segments from memory; its hooks can delay or fail reads.
type source struct {
	segments map[string][]byte
	before   func(ctx context.Context, key string) error
	reads    int
	mu       sync.Mutex
}

func (s *source) Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error) {
	s.mu.Lock()
	s.reads++
	s.mu.Unlock()
	if s.before != nil {
		if err := s.before(ctx, key); err != nil {
			return nil, err
		}
	}
	return segment.Bytes(s.segments[key]).Read(ctx, key, ranges)
}

// serve returns an index of two segments, and the source from which the index reads them.
func serve(t *testing.T) (*source, *Index) {
	t.Helper()
	src := &source{segments: map[string][]byte{}}
	var parts []Part
	for i, docs := range [][]segment.Document{{page("a", "ka lo"), page("b", "ka mi ka")}, {page("c", "ka lo lo"), page("d", "mi")}} {
		b := segment.NewBuilder(nil)
		for i := range docs {
			if err := b.Add(&docs[i], tokens(&docs[i])); err != nil {
				t.Fatal(err)
			}
		}
		content, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		tail, err := segment.TailOf(content)
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprint("segments/", i)
		src.segments[key] = content
		s, err := segment.Open(t.Context(), src, segment.Ref{Key: key, Bytes: int64(len(content)), Tail: tail})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, Part{Segment: s})
	}
	ix, err := New(parts, NewMemory(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return src, ix
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, ix := serve(t)
		src.before = func(ctx context.Context, key string) error {
			if key == "segments/1" {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		got := find(t, ix, Query{Text: "ka", Size: 10, Deadline: time.Now().Add(2 * time.Second)})
		if !got.Partial || got.Exact || len(got.Hits) != 2 {
			t.Errorf("partial: %v, exact: %v, %d hits; want the 2 of the segment that answers", got.Partial, got.Exact, len(got.Hits))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if got, err := ix.Search(ctx, Query{Text: "ka", Size: 10}); err != nil || !got.Partial || len(got.Hits) != 2 {
			t.Errorf("with a context's deadline: %v, %d hits, %v", got.Partial, len(got.Hits), err)
		}
		src.before = nil
		if got := find(t, ix, Query{Text: "ka", Size: 10, Deadline: time.Now().Add(-time.Second)}); !got.Partial {
			t.Error("nothing was missing after the deadline")
		}
		gone, hangUp := context.WithCancel(t.Context())
		hangUp()
		if _, err := ix.Search(gone, Query{Text: "ka", Size: 10, Deadline: time.Now().Add(-time.Second)}); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that hung up got %v", err)
		}
	})
}

func TestDamagedSegmentIsNamed(t *testing.T) {
	src, ix := serve(t)
	content := src.segments["segments/1"]
	for at := 8; at < 60; at++ {
		content[at] ^= 0x55
	}
	_, err := ix.Search(t.Context(), Query{Text: `"ka lo"`, Size: 10})
	if !errors.Is(err, segment.ErrDamaged) || !strings.Contains(err.Error(), "segments/1") {
		t.Errorf("error is %v", err)
	}
}

// TestReads checks how often a search reads: once for the words, with positions where they are
// needed, and once for the documents of the hits. Cached documents need no read. Words of the dictionaries are read
// anew, since the cache of ranges below has them.
func TestReads(t *testing.T) {
	src, ix := serve(t)
	for _, test := range []struct {
		text string
		want int
	}{
		{"ka", 2 + 2}, // of two segments
		{"ka", 2},     // the documents are remembered
		{"ka lo", 2},  // its positions come with it
		{`"ka lo"`, 2},
		{"kz", 2},      // it might lie between others
		{"kzz", 2 + 2}, // similar words are looked for in the dictionaries
		{"kzz", 2 + 2}, // the pages of the dictionaries are left to the cache of ranges
	} {
		src.reads = 0
		if find(t, ix, Query{Text: test.text, Size: 10}); src.reads != test.want {
			t.Errorf("%s takes %d reads, want %d", test.text, src.reads, test.want)
		}
	}
}
