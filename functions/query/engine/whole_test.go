package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// getCounter is a bucket that records the ranges of GETs.
type getCounter struct {
	blob.Bucket
	mu   sync.Mutex
	gets map[string][]blob.Range // by key
}

func countingGets(bucket blob.Bucket) *getCounter {
	return &getCounter{Bucket: bucket, gets: make(map[string][]blob.Range)}
}

func (c *getCounter) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	c.mu.Lock()
	c.gets[key] = append(c.gets[key], r)
	c.mu.Unlock()
	return c.Bucket.Get(ctx, key, r)
}

// wordy returns a page with a title, and with so many words that no other page has, and the word last.
func wordy(title string, number int) querytest.Page {
	var words strings.Builder
	random := rand.New(rand.NewPCG(1, uint64(title[0])))
	for range number {
		fmt.Fprintf(&words, "%016x%016x ", random.Uint64(), random.Uint64())
	}
	return querytest.Page{URL: "https://example.org/" + title, MIME: "text/html", Data: "x", Title: title, Body: words.String() + "last"}
}

func (s *store) listed() []manifest.Segment {
	return s.Commit(0, func(*manifest.Manifest) error { return manifest.ErrUnchanged }).Segments
}

// TestWholeSegments counts the GETs of a first search. A small segment takes one GET, a larger one takes several.
func TestWholeSegments(t *testing.T) {
	for name, test := range map[string]struct {
		words int // of the page
		whole bool
	}{"small": {100, true}, "large": {80_000, false}} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, 1)
			s.Publish(wordy("Manual", test.words))
			listed := s.listed()[0]
			if small := listed.Bytes <= mostWhole; small != test.whole {
				t.Fatalf("the segment has %d bytes", listed.Bytes)
			}
			counter := countingGets(s.Bucket)
			if found := answerOf(t, s.engine(counter), search.Query{Text: "last", Size: 10}); found.Total != 1 {
				t.Errorf("found %d", found.Total)
			}
			if n := len(counter.gets[listed.Key]); (n == 1) != test.whole {
				t.Errorf("%d GETs of a segment of %d bytes", n, listed.Bytes)
			}
		})
	}
}

// TestLinksByRanges searches unvisited URLs whose overlay is larger than mostLinks, and smaller than mostWhole. It takes
// two GETs, for the tail and the terms.
func TestLinksByRanges(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(wordy("Manual", 1))
	text := wordy("Report", 20_000).Body
	content, err := segments.Build([]*segments.Page{{Document: segment.Document{ID: layout.Identity{1}, URL: "https://far.example/", Lang: "en", Headings: []string{text}}}})
	s.Check(err)
	if len(content) <= mostLinks || len(content) > mostWhole {
		t.Fatalf("the overlay has %d bytes", len(content))
	}
	p, err := partition.Open(t.Context(), s.Bucket, 0, s.Clock.Now)
	s.Check(err)
	s.Check(p.Commit(t.Context(), func(e *partition.Edit) error {
		_, err := e.SetUnvisited(t.Context(), content, 1, 0)
		return err
	}))
	counter := countingGets(s.Bucket)
	answerOf(t, s.engine(counter), search.Query{Text: "fox", Size: 10})
	if n := len(counter.gets[p.Manifest().Unvisited.Key]); n != 2 {
		t.Errorf("%d GETs, want 2", n)
	}
}

// TestWholeSegmentsFit searches small segments that together are larger than what may be read whole. Half of them are read
// whole, once, and the others by ranges. When segments have left the manifest, there is room for others.
func TestWholeSegmentsFit(t *testing.T) {
	s := newStore(t, 1)
	names := []string{"a", "b", "c", "d", "e", "f"}
	for _, name := range names {
		s.Publish(wordy(name, 1_000))
	}
	sizes, sum := make(map[string]int64), int64(0)
	for _, one := range s.listed() {
		sizes[one.Key] = one.Bytes
		sum += one.Bytes
	}
	counter := countingGets(s.Bucket)
	e := s.engine(counter)
	if e.wholes.most != e.Memory/8 {
		t.Errorf("%d bytes of %d are for segments that are read whole", e.wholes.most, e.Memory)
	}
	e.wholes.most = sum/2 + sum/20 // the segments differ a little in size
	readWhole := func() (keys []string) {
		for key, size := range sizes {
			if slices.Contains(counter.gets[key], blob.Range{Length: size}) {
				keys = append(keys, key)
			}
		}
		return keys
	}
	for range 2 {
		if found := answerOf(t, e, search.Query{Text: "last", Size: 10}); found.Total != len(names) {
			t.Errorf("found %d", found.Total)
		}
	}
	first := readWhole()
	if len(first) != len(names)/2 {
		t.Errorf("%d of %d segments were read whole", len(first), len(names))
	}
	for _, key := range first {
		if n := len(counter.gets[key]); n != 1 {
			t.Errorf("%d GETs of a segment that was read whole", n)
		}
	}
	s.Commit(0, func(m *manifest.Manifest) error {
		m.Segments = slices.DeleteFunc(m.Segments, func(one manifest.Segment) bool { return slices.Contains(first, one.Key) })
		return nil
	})
	s.Clock.Advance(time.Minute)
	answerOf(t, e, search.Query{Text: "last", Size: 10})
	if e.wholes.sum != 0 || len(e.wholes.sizes) != 0 {
		t.Errorf("%d bytes of %d segments have no room for others", e.wholes.sum, len(e.wholes.sizes))
	}
}

// TestWholeIsNotKept checks that a range of a segment that is read whole does not keep the whole in memory: it is a copy.
func TestWholeIsNotKept(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(wordy("Manual", 10))
	e, listed := s.engine(s.Bucket), s.listed()[0]
	whole, err := e.ranges.Read(t.Context(), listed.Key, []blob.Range{{Length: listed.Bytes}})
	s.Check(err)
	parts, err := e.sourceOf(listed.Key, listed.Bytes, mostWhole).Read(t.Context(), listed.Key, []blob.Range{{Offset: 1, Length: 4}})
	s.Check(err)
	if string(parts[0]) != string(whole[0][1:5]) || &parts[0][0] == &whole[0][1] {
		t.Errorf("%q, want a copy of %q", parts[0], whole[0][1:5])
	}
}
