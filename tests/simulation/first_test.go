package simulation

import (
	"fmt"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// TestFirstAnswer crawls two hosts into an empty bucket, with several delays between requests. With the
// program's own limits, pages are packed when they have 32 MiB or when the oldest is a minute old.
// Nevertheless the first pages must be searchable at most ten seconds after the first page was fetched.
func TestFirstAnswer(t *testing.T) {
	m := newMemories(t)
	for _, delay := range []time.Duration{0, time.Second, 20 * time.Second} {
		inWorld(t, m, plan{site: contents(delay), atOnce: 4}, func(w *world) {
			if !w.settle(longest) {
				t.Fatalf("not done within %v: %s", longest, w.undone())
			}
			var fetched, found time.Time // when the first page was fetched, and when a manifest first listed a segment
			for id := range layout.Partition(partitions) {
				last, err := manifest.Read(t.Context(), w.store, id)
				if err != nil {
					t.Fatal(err)
				}
				for _, listed := range last.Books {
					for _, o := range readBook(t, w.store, listed.Key).Outcomes {
						if o.State == book.Stored && (fetched.IsZero() || o.Time.Before(fetched)) {
							fetched = o.Time
						}
					}
				}
				for n := uint64(1); n <= last.Generation; n++ {
					then, err := manifest.At(t.Context(), w.store, id, n)
					if err != nil {
						t.Fatal(err)
					}
					if len(then.Segments) > 0 && (found.IsZero() || then.Time.Before(found)) {
						found = then.Time
					}
				}
			}
			took := found.Sub(fetched)
			t.Logf("delay %v: the first segment is there after %v", delay, took)
			if fetched.IsZero() || found.IsZero() || took > 10*time.Second {
				t.Errorf("delay %v: the first page was fetched at %v and found at %v", delay, fetched, found)
			}
		})
	}
}

// contents returns a site of two hosts, each with a page of contents that links to ten pages.
func contents(delay time.Duration) *site {
	s := &site{delay: delay, packageBytes: 32 << 20, pages: make(map[string]page)}
	for _, host := range []string{"one.example", "two.example"} {
		s.seeds = append(s.seeds, "http://"+host+"/")
		first := page{words: "table of contents"}
		for i := range 10 {
			path := fmt.Sprint("/", i)
			first.links = append(first.links, path)
			s.pages[host+path] = page{words: fmt.Sprint("chapter ", i)}
		}
		s.pages[host+"/"] = first
	}
	return s
}

func readBook(t *testing.T, bucket blob.Reader, key string) book.Book {
	t.Helper()
	content, err := bucket.Get(t.Context(), key, blob.Range{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := book.Decode(content)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
