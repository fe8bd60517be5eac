package query

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

func (s *store) address(url string) address.Address {
	s.t.Helper()
	a, err := address.Parse(url)
	s.check(err)
	return a
}

// foundBy returns the addresses of the pages that a search finds.
func foundBy(t *testing.T, e *Engine, text string) map[string]bool {
	t.Helper()
	result, err := e.Search(t.Context(), Query{Query: search.Query{Text: text, Size: 100}})
	if err != nil {
		t.Fatal(err)
	}
	urls := make(map[string]bool)
	for _, hit := range result.Hits {
		urls[hit.URL] = true
	}
	return urls
}

// TestForgottenIsMasked checks that neither searches nor requests for stored copies show pages that
// a takedown covers, though segments, books and packages still hold them.
func TestForgottenIsMasked(t *testing.T) {
	s := newStore(t, 3)
	s.publish(manual(4)...)
	s.publish(testPage{url: "https://sub.example3.org/more", mime: "text/html", data: "x", title: "Manual"})
	e := s.engine(s.bucket)
	h := Handler(e)
	if got := totalOf(t, e, "manual"); got != 5 {
		t.Fatalf("%d are found at first", got)
	}
	forget := func(entry takedown.Entry) {
		t.Helper()
		_, err := takedown.Forget(t.Context(), s.bucket, entry)
		s.check(err)
		s.clock.advance(time.Minute) // the cached settings are renewed after that
	}
	forget(takedown.URL(s.address("https://example0.org/manual"), noon))
	want := map[string]bool{
		"https://example1.org/manual": true, "https://example2.org/manual": true,
		"https://example3.org/manual": true, "https://sub.example3.org/more": true,
	}
	if diff := cmp.Diff(want, foundBy(t, e, "manual")); diff != "" {
		t.Errorf("without a URL (-want +got):\n%s", diff)
	}
	forget(takedown.Site("example3.org", noon))
	delete(want, "https://example3.org/manual")
	delete(want, "https://sub.example3.org/more")
	if diff := cmp.Diff(want, foundBy(t, e, "manual")); diff != "" {
		t.Errorf("without a site (-want +got):\n%s", diff)
	}
	for i, want := range []int{404, 200, 200, 404} {
		if w := ask(h, "GET", fmt.Sprintf("/page?url=https://example%d.org/manual", i)); w.Code != want {
			t.Errorf("stored copy %d: %d, want %d", i, w.Code, want)
		}
	}
	if _, err := e.PageInBooks(t.Context(), s.address("https://example3.org/manual"), time.Time{}); err == nil || !strings.Contains(err.Error(), ErrNoPage.Error()) {
		t.Errorf("in the books: %v", err)
	}
	// When a partition has erased the forgotten pages, no columns need be read there.
	for p := range layout.Partition(3) {
		s.commit(p, func(m *manifest.Manifest) error { m.Forgotten = 2; return nil })
	}
	s.clock.advance(e.Age)
	totalOf(t, e, "manual")
	for key, l := range e.snapshots.last.Load().segments {
		if l.takedowns != 0 {
			t.Errorf("the columns of %s were read", key)
		}
	}
}

func TestLostPage(t *testing.T) {
	s := newStore(t, 1)
	const url = "https://example.org/stored-only"
	s.publish(testPage{url: url, mime: "text/plain", data: "old", waits: true})
	s.publish(testPage{url: url, mime: "text/plain", data: "new", waits: true})
	lose := func(v layout.Version) {
		a := s.address(url)
		key := s.put(book.Book{Outcomes: []book.Outcome{{Version: v, URL: a.URL, Place: a.Place, State: book.Lost, Time: noon}}}, 0)
		s.commit(0, func(m *manifest.Manifest) error { m.Books = append(m.Books, manifest.Book{Key: key}); return nil })
	}
	lose(layout.Version{Epoch: 1, Token: 1}) // deletes a generation that is not the newest
	h := s.serve()
	if w := ask(h, "GET", "/page?url="+url); w.Body.String() != "new" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	lose(layout.Version{Epoch: 2})
	s.clock.advance(time.Minute)
	if w := ask(h, "GET", "/page?url="+url); w.Code != http.StatusNotFound {
		t.Errorf("the lost page: %d %s", w.Code, w.Body)
	}
}
