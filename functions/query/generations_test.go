package query

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// TestDamagedGenerations harms the manifest of a partition. It damages the newest generation
// (version), or damages or deletes the hint, which is a copy of that generation. In one case it
// also puts a foreign object beside the generations. It checks that searches and requests for
// stored copies are answered by the generations that are left, and not by an error.
func TestDamagedGenerations(t *testing.T) {
	for name, c := range map[string]struct {
		harm  func(s *store, newest, hint string)
		total string // part of the answer that has the number of pages found
	}{
		"newest of no bytes": {func(s *store, newest, _ string) { s.Check(s.Bucket.Replace(t.Context(), newest, nil)) }, `"total":2,`},
		"newest flipped":     {func(s *store, newest, _ string) { s.Check(s.Bucket.Replace(t.Context(), newest, s.flipped(newest))) }, `"total":2,`},
		"hint of no bytes":   {func(s *store, _, hint string) { s.Check(s.Bucket.Replace(t.Context(), hint, nil)) }, `"total":2,`},
		"hint flipped":       {func(s *store, _, hint string) { s.Check(s.Bucket.Replace(t.Context(), hint, s.flipped(hint))) }, `"total":2,`},
		"hint gone":          {func(s *store, _, hint string) { s.Check(s.Bucket.Delete(t.Context(), hint)) }, `"total":2,`},
		"newest, hint damaged": {func(s *store, newest, hint string) {
			s.Check(s.Bucket.Replace(t.Context(), newest, s.flipped(newest)))
			s.Check(s.Bucket.Replace(t.Context(), hint, nil))
		}, `"total":1,`},
		"foreign, hint gone": {func(s *store, newest, hint string) {
			s.Check(s.Bucket.Delete(t.Context(), hint))
			s.Check(s.Bucket.Create(t.Context(), newest[:strings.LastIndexByte(newest, '/')+1]+"zz-notes.txt", []byte("not ours")))
		}, `"total":2,`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, 1)
			s.Publish(querytest.Page{URL: "https://example.org/old", MIME: "text/plain", Data: "old", Title: "Manual"})
			s.Publish(querytest.Page{URL: "https://example.org/new", MIME: "text/plain", Data: "new", Title: "Manual"})
			m, err := manifest.Read(t.Context(), s.Bucket, 0)
			s.Check(err)
			c.harm(s, layout.ManifestKey(0, m.Generation), layout.HintKey(0))
			h := s.handler(s.Bucket, io.Discard)
			if w := querytest.AskJSON(h, "/search?q=manual"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), c.total) {
				t.Errorf("search: %d %s; want %s", w.Code, w.Body, c.total)
			}
			told := strings.Contains(querytest.AskJSON(h, "/search?q=manual").Body.String(), "generations of partition 0000 are lost")
			if told != (name == "newest, hint damaged") { // in all other cases nothing is lost
				t.Errorf("that pages are missing is told: %v", told)
			}
			if w := querytest.Ask(h, "GET", "/page?url=https://example.org/old"); w.Code != http.StatusOK {
				t.Errorf("stored copy: %d %s", w.Code, w.Body)
			}
			if w := querytest.Ask(h, "GET", "/page?url=https://example.org/unknown"); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "is damaged") != told {
				t.Errorf("unknown: %d %s", w.Code, w.Body)
			}
		})
	}
}

// TestGenerationsMadeAnew deletes the newest generations of a manifest, and lets repair make a new
// one. It checks that an engine that is queried every minute finds the new generation within an
// hour, whether its number is below or above that of the last lost one.
func TestGenerationsMadeAnew(t *testing.T) {
	for _, anew := range []uint64{2, 9} {
		s := newStore(t, 1)
		s.Publish(querytest.Page{URL: "https://example.org/old", MIME: "text/plain", Data: "old", Title: "Manual"})
		h := s.serve()
		s.Publish(querytest.Page{URL: "https://example.org/lost", MIME: "text/plain", Data: "lost", Title: "Manual"})
		lost, err := manifest.Read(t.Context(), s.Bucket, 0)
		s.Check(err)
		if lost.Generation < 3 {
			t.Fatalf("generation %d", lost.Generation)
		}
		if w := querytest.AskJSON(h, "/search?q=manual"); !strings.Contains(w.Body.String(), `"total":2,`) {
			t.Fatalf("search: %s", w.Body)
		}
		for n := uint64(2); n <= lost.Generation; n++ {
			s.Check(s.Bucket.Delete(t.Context(), layout.ManifestKey(0, n)))
		}
		s.Check(s.Bucket.Delete(t.Context(), layout.HintKey(0)))
		left, err := manifest.Read(t.Context(), s.Bucket, 0)
		s.Check(err)
		next := lost.Clone()
		next.Generation, next.Oldest, next.Parent = anew, anew, left.Hash()
		s.Check(manifest.Refound(t.Context(), s.Bucket, next))
		s.Publish(querytest.Page{URL: "https://example.org/new", MIME: "text/plain", Data: "new", Title: "Manual"})
		const often = time.Minute
		for range time.Hour / often {
			s.Clock.Advance(often)
			querytest.AskJSON(h, "/search?q=manual")
		}
		if w := querytest.AskJSON(h, "/search?q=manual"); !strings.Contains(w.Body.String(), `"total":3,`) {
			t.Errorf("made anew as generation %d: %s", anew, w.Body)
		}
	}
}

// TestStrategyDropsPartition publishes a storage strategy that no longer names a partition. It
// checks that the pages of this partition are still found. A page that is then fetched again into
// another partition must be found once, in its last version.
func TestStrategyDropsPartition(t *testing.T) {
	for _, moved := range []layout.Partition{1, 5} { // a partition before the old ones, and one after them
		s := newStore(t, 7)
		old := querytest.Page{URL: "http://site.example/old", Title: "Rotor", Body: "rotor blades of old", MIME: "text/html", Data: "old"}
		again := querytest.Page{URL: "http://site.example/again", Title: "Rotor first", Body: "rotor blades", MIME: "text/html", Data: "first"}
		s.Token++
		s.PublishIn(3, []querytest.Page{old, again})
		next := rules.Even(rules.Storage, 1, querytest.Noon)
		next.Version, next.Rules[0].Partition = 2, int(moved)
		s.Check(rules.Publish(t.Context(), s.Bucket, next))
		s.Rules = next
		again.Title, again.Data = "Rotor second", "second"
		s.Publish(again)
		e := s.engine(s.Bucket)
		found, err := e.Search(t.Context(), engine.Query{Query: search.Query{Text: "rotor", Size: 10}})
		s.Check(err)
		titles := make(map[string]string)
		for _, h := range found.Hits {
			titles[h.URL] = h.Title
		}
		if len(found.Hits) != 2 || found.Total != 2 || titles[old.URL] != "Rotor" || titles[again.URL] != "Rotor second" {
			t.Errorf("moved to %s: %d hits of %d: %q", moved, len(found.Hits), found.Total, titles)
		}
		for url, want := range map[string]string{old.URL: "old", again.URL: "second"} {
			a, err := address.Parse(url)
			s.Check(err)
			page, err := e.Page(t.Context(), a, time.Time{})
			if err != nil || string(page.Data) != want {
				t.Errorf("moved to %s: page %s is %q, %v, want %q", moved, url, page.Data, err, want)
			}
		}
	}
}
