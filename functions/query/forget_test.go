package query

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// foundBy returns the addresses of the pages that a search finds.
func foundBy(t *testing.T, e *engine.Engine, text string) map[string]bool {
	t.Helper()
	result, err := e.Search(t.Context(), engine.Query{Query: search.Query{Text: text, Size: 100}})
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
	s.Publish(querytest.Manual(4)...)
	s.Publish(querytest.Page{URL: "https://sub.example3.org/more", MIME: "text/html", Data: "x", Title: "Manual"})
	e := s.engine(s.Bucket)
	h := handlerOf(e)
	if got := totalOf(t, e, "manual"); got != 5 {
		t.Fatalf("%d are found at first", got)
	}
	forget := func(entry takedown.Entry) {
		t.Helper()
		_, err := takedown.Forget(t.Context(), s.Bucket, entry)
		s.Check(err)
		s.Clock.Advance(time.Minute) // the cached settings are renewed after that
	}
	forget(takedown.URL(s.Address("https://example0.org/manual"), querytest.Noon))
	want := map[string]bool{
		"https://example1.org/manual": true, "https://example2.org/manual": true,
		"https://example3.org/manual": true, "https://sub.example3.org/more": true,
	}
	if diff := cmp.Diff(want, foundBy(t, e, "manual")); diff != "" {
		t.Errorf("without a URL (-want +got):\n%s", diff)
	}
	forget(takedown.Site("example3.org", querytest.Noon))
	delete(want, "https://example3.org/manual")
	delete(want, "https://sub.example3.org/more")
	if diff := cmp.Diff(want, foundBy(t, e, "manual")); diff != "" {
		t.Errorf("without a site (-want +got):\n%s", diff)
	}
	for i, want := range []int{404, 200, 200, 404} {
		if w := querytest.Ask(h, "GET", fmt.Sprintf("/page?url=https://example%d.org/manual", i)); w.Code != want {
			t.Errorf("stored copy %d: %d, want %d", i, w.Code, want)
		}
	}
	if _, err := e.PageInBooks(t.Context(), s.Address("https://example3.org/manual"), time.Time{}); err == nil || !strings.Contains(err.Error(), engine.ErrNoPage.Error()) {
		t.Errorf("in the books: %v", err)
	}
}

func TestLostPage(t *testing.T) {
	s := newStore(t, 1)
	const url = "https://example.org/stored-only"
	s.Publish(querytest.Page{URL: url, MIME: "text/plain", Data: "old", Waits: true})
	s.Publish(querytest.Page{URL: url, MIME: "text/plain", Data: "new", Waits: true})
	lose := func(v layout.Version) {
		a := s.Address(url)
		key := s.Put(book.Book{Outcomes: []book.Outcome{{Version: v, URL: a.URL, Place: a.Place, State: book.Lost, Time: querytest.Noon}}}, 0)
		s.Commit(0, func(m *manifest.Manifest) error { m.Books = append(m.Books, manifest.Book{Key: key}); return nil })
	}
	lose(layout.Version{Epoch: 1, Token: 1}) // deletes a generation that is not the newest
	h := s.serve()
	if w := querytest.Ask(h, "GET", "/page?url="+url); w.Body.String() != "new" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	lose(layout.Version{Epoch: 2})
	s.Clock.Advance(time.Minute)
	if w := querytest.Ask(h, "GET", "/page?url="+url); w.Code != http.StatusNotFound {
		t.Errorf("the lost page: %d %s", w.Code, w.Body)
	}
}
