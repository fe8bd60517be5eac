package pack

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// listed returns a link from a sitemap to a page, with the time at which the page has changed.
func (w *world) listed(page string, modified time.Time) book.Link {
	l := functionstest.Link(w.t, site+"sitemap.xml", page, 1)
	l.Kind, l.Weight, l.Modified = book.Listed, 100, modified
	return l
}

// learnt commits a book with the outcomes, and records them in the frontier.
func (w *world) learnt(outcomes ...book.Outcome) {
	w.t.Helper()
	var known []frontier.Known
	for _, o := range outcomes {
		known = append(known, frontier.Known{ID: o.Identity(), Place: o.Place, Version: o.Version, State: o.State})
	}
	if err := frontier.New(w.Redis, 0).Mark(w.t.Context(), known); err != nil {
		w.t.Fatal(err)
	}
	functionstest.Learn(w.t, w.store, 0, book.Book{Outcomes: outcomes})
}

// entries leases all waiting URLs of the site, and returns their entries in the frontier, by URL.
func (w *world) entries() map[string]frontier.Entry {
	w.t.Helper()
	w.clock.Advance(time.Millisecond)
	all := make(map[string]frontier.Entry)
	for lease, leased := w.lease(); leased; lease, leased = w.lease() {
		for _, e := range lease.Entries {
			all[e.URL] = e
		}
	}
	delete(all, "http://other."+host+"/")
	return all
}

func urls(entries map[string]frontier.Entry) map[string]bool {
	all := make(map[string]bool)
	for url := range entries {
		all[url] = true
	}
	return all
}

// TestChangedPages settles a sitemap that says when its pages have changed. Of the stored pages, only
// those that changed after their last request must be requested again before they are due. The
// frontier's entry for such a page must have the result of that last request, which is in a book.
func TestChangedPages(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb, nil)
		const day = 24 * time.Hour
		now := w.clock.Now()
		first := functionstest.Outcome(t, version(1), site+"changed", book.Unchanged)
		first.ETag = `"1"`
		last := functionstest.Outcome(t, version(2), site+"changed", book.Unchanged)
		last.Depth, last.Exponent, last.ETag, last.Digest = 3, 2, `"2"`, 7
		w.learnt(last)
		w.learnt(
			first,
			functionstest.Outcome(t, version(1), site+"changed-that-day", book.Unchanged),
			functionstest.Outcome(t, version(1), site+"not-changed", book.Unchanged),
			functionstest.Outcome(t, version(1), site+"not-said", book.Unchanged),
			functionstest.Outcome(t, version(1), site+"failed", book.Failed),
			functionstest.Outcome(t, version(1), site+"seen-since", book.Unchanged),
		)
		since := functionstest.Outcome(t, version(3), site+"seen-since", book.Stored)
		seen := []frontier.Known{{ID: since.Identity(), Place: since.Place, Version: since.Version, State: since.State}}
		if err := frontier.New(rdb, 0).Mark(t.Context(), seen); err != nil {
			t.Fatal(err)
		}
		l := w.ledger(4, functionstest.Outcome(t, version(4), site+"sitemap.xml", book.Skipped))
		l.Links = []book.Link{
			w.listed(site+"changed", now.Add(time.Hour)),
			w.listed(site+"changed-that-day", now.Add(time.Second-day).Truncate(time.Second)),
			w.listed(site+"not-changed", now.Add(-day)),
			w.listed(site+"not-said", time.Time{}),
			w.listed(site+"failed", now.Add(time.Hour)),
			w.listed(site+"seen-since", now.Add(time.Hour)),
			w.listed(site+"new", now.Add(time.Hour)),
			w.listed("http://elsewhere.example/", now.Add(time.Hour)),
		}
		w.spool(l)
		w.settle(4, 4)
		got := w.entries()
		want := map[string]bool{site + "changed": true, site + "changed-that-day": true, site + "new": true}
		if diff := cmp.Diff(want, urls(got)); diff != "" {
			t.Errorf("to be asked (-want +got):\n%s", diff)
		}
		changed, err := address.Parse(site + "changed")
		if err != nil {
			t.Fatal(err)
		}
		wantEntry := frontier.Entry{
			URL: changed.URL, ID: changed.ID, Host: host, Depth: 3, Exponent: 2, Attempts: got[changed.URL].Attempts, Weight: 100,
			Collection: functionstest.Collection,
			Last:       &batch.Look{Time: functionstest.Start, ETag: `"2"`, Digest: 7, Collections: []string{functionstest.Collection}},
		}
		if diff := cmp.Diff(wantEntry, got[changed.URL]); diff != "" {
			t.Errorf("entry (-want +got):\n%s", diff)
		}
	})
}

// TestChangedPagesOfADamagedBook settles a sitemap that says that a page has changed. Pack looks
// for the page's last request in all books of the partition. One of the books is damaged and one is
// missing, but the request is recorded in the third. The page must be requested again.
func TestChangedPagesOfADamagedBook(t *testing.T) {
	w := embedded(t)
	w.learnt(functionstest.Outcome(t, version(1), site+"known", book.Unchanged))
	functionstest.Put(t, w.store, layout.Books+"0000/damaged.book", []byte("damaged"))
	functionstest.Commit(t, w.store, 0, func(m *manifest.Manifest) {
		m.Books = append(m.Books, manifest.Book{Key: layout.Books + "0000/damaged.book"}, manifest.Book{Key: layout.Books + "0000/absent.book"})
	})
	l := w.ledger(4)
	l.Links = []book.Link{w.listed(site+"known", w.clock.Now()), w.listed(site+"new", w.clock.Now())}
	w.spool(l)
	w.settle(4)
	want := map[string]bool{site + "known": true, site + "new": true}
	if diff := cmp.Diff(want, urls(w.entries())); diff != "" {
		t.Errorf("to be asked (-want +got):\n%s", diff)
	}
}
