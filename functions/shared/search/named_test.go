package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestNamed checks that the page that a query names (Query.Named) comes first, and that the hits after
// it are those that the query finds without Named, on all pages of hits.
func TestNamed(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 1))
	docs := randomDocuments(random, 60)
	gone := docs[7].ID
	ix := indexWithout(t, map[layout.Identity]bool{gone: true}, divide(random, docs, 3)...)
	absent := layout.IdentityOf("http://absent.example/")
	for n := range 60 {
		q := randomQuery(random)
		if parsedLong(ix.plan(&q, false)) {
			continue // similar matches support each other, the named page none
		}
		q.Fold, q.Size = n%2 == 0, 1+q.Size%10
		all := find(t, ix, Query{Text: q.Text, Site: q.Site, Fold: q.Fold, Size: 100})
		named := docs[random.IntN(len(docs))]
		q.Named = []layout.Identity{absent, gone, named.ID}
		got := find(t, ix, q)
		if !got.Named { // a filter excludes it
			if ix.plan(&q, false).filter.empty() && named.ID != gone {
				t.Fatalf("%q does not find the page that it names", q.Text)
			}
			continue
		}
		var want []string
		total := 1
		if !q.Fold { // in a group of alike pages, another may stand for the named one
			want = append(want, named.URL)
			total += all.Total
			for _, hit := range all.Hits {
				if hit.ID == named.ID {
					total--
				} else {
					want = append(want, hit.URL)
				}
			}
			want = want[min(q.From, len(want)):min(q.From+q.Size, len(want))]
			if found := each(got.Hits, func(h Hit) string { return h.URL }); !slices.Equal(found, want) || got.Total != total {
				t.Errorf("%q from %d: %d hits %q, want %d %q", q.Text, q.From, got.Total, found, total, want)
			}
		} else if q.From == 0 && got.Hits[0].ID != named.ID {
			t.Errorf("%q: the first hit is %s, want %s", q.Text, got.Hits[0].URL, named.URL)
		}
	}
}

// TestNamedOfTwoVersions checks that, of a page in two partitions, the later version is shown.
func TestNamedOfTwoVersions(t *testing.T) {
	older, newer := page("http://a.example/x", "old words"), page("http://a.example/x", "new words")
	newer.Version.Token = 2
	ix := indexOf(t, []segment.Document{newer}, []segment.Document{older, page("http://a.example/y", "more words")})
	got := find(t, ix, Query{Text: "absent", Size: 10, Named: []layout.Identity{newer.ID}, Explain: true})
	if len(got.Hits) != 1 || got.Hits[0].Version != newer.Version || got.Total != 1 || got.Hits[0].Explanation == nil {
		t.Errorf("%d: %+v", got.Total, got.Hits)
	}
	if got := find(t, ix, Query{Text: "words", Size: 10, Named: []layout.Identity{newer.ID}, Facets: []string{Site}}); len(got.Hits) != 2 || got.Total != 2 || got.Facets[0].Values[0].Documents != 2 {
		t.Errorf("%d hits, %d found, facets %v", len(got.Hits), got.Total, got.Facets)
	}
}

// TestStepsOfNamed checks that finding the page that a query names takes no additional round of
// reads.
func TestStepsOfNamed(t *testing.T) {
	var docs []segment.Document
	for i := range 30 {
		docs = append(docs, page(fmt.Sprint("http://a.example/", i), fmt.Sprint("the red fox jumps ", i)))
	}
	segments := store(t, docs[:10], docs[10:])
	for _, fold := range []bool{false, true} {
		q := Query{Text: "jumps 7", Size: 5, Fold: fold}
		without, _ := segments.steps(t, q)
		q.Named = []layout.Identity{docs[20].ID}
		if with, found := segments.steps(t, q); with > without || found != 30 {
			t.Errorf("%d steps and %d found, want %d and 30", with, found, without)
		}
	}
}

// TestNamedInAMissingPart checks that a page is not found by its address if its segment is not read
// before the deadline. This holds even if the segment's identities (hashes of URLs) are cached: they
// do not tell whether the page is deleted or passes the filters.
func TestNamedInAMissingPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, ix := serve(t)
		named := page("c", "")
		q := Query{Text: "ka", Size: 10, Named: []layout.Identity{named.ID}}
		if got := find(t, ix, q); !got.Named {
			t.Fatalf("the page is not found: %+v", got)
		}
		src.before = func(ctx context.Context, key string) error {
			if key == "segments/1" {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		q.Deadline, q.Facets, q.Lang = time.Now().Add(50*time.Millisecond), []string{Site}, []string{"de"}
		if got := find(t, ix, q); got.Named || !got.Partial {
			t.Errorf("named: %v, partial: %v", got.Named, got.Partial)
		}
	})
}

// TestPinned checks that pinned pages come first, in their order and marked, and that the hits after them
// are those that the query finds without pins, on all pages of hits. Pages that the index lacks, that are
// dead, or that a filter excludes are left out.
func TestPinned(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 1))
	docs := randomDocuments(random, 60)
	gone := docs[7].ID
	ix := indexWithout(t, map[layout.Identity]bool{gone: true}, divide(random, docs, 3)...)
	for range 60 {
		q := randomQuery(random)
		if parsedLong(ix.plan(&q, false)) {
			continue // similar matches support each other, pinned pages none
		}
		q.Fold, q.Size = false, 1+q.Size%10
		all := find(t, ix, Query{Text: q.Text, Site: q.Site, Size: 100})
		pins := []string{docs[3].URL, docs[50].URL, docs[20].URL}
		q.Pinned = []layout.Identity{layout.IdentityOf("http://absent.example/"), docs[3].ID, gone, docs[50].ID, docs[20].ID, docs[3].ID}
		got := find(t, ix, q)
		if got.Pinned < len(pins) {
			if ix.plan(&q, false).filter.empty() {
				t.Fatalf("%q has %d pinned pages", q.Text, got.Pinned)
			}
			continue
		}
		want := slices.Clone(pins)
		for _, hit := range all.Hits {
			if !slices.Contains(pins, hit.URL) {
				want = append(want, hit.URL)
			}
		}
		total := len(want)
		want = want[min(q.From, len(want)):min(q.From+q.Size, len(want))]
		if found := each(got.Hits, func(h Hit) string { return h.URL }); !slices.Equal(found, want) || got.Exact && got.Total != total {
			t.Errorf("%q from %d: %d hits %q, want %d %q", q.Text, q.From, got.Total, found, total, want)
		}
		for i, hit := range got.Hits {
			if is := q.From+i < len(pins); hit.Pinned != is {
				t.Errorf("%q: hit %d is pinned: %v, want %v", q.Text, q.From+i, hit.Pinned, is)
			}
		}
	}
	if got := find(t, ix, Query{Text: "wordsthatnopagehas", Size: 10, Pinned: []layout.Identity{docs[3].ID}, Facets: []string{Lang}}); got.Total != 1 || len(got.Hits) != 1 || !got.Hits[0].Pinned || got.Meant != nil {
		t.Errorf("without matches: %+v", got)
	}
}
