package query

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestCost searches an index with one partition, which has texts of links and unvisited URLs, too. It checks
// that the search makes few requests to the store if nothing is cached, and takes few steps, which are rounds
// of requests that must wait for each other. When the search is repeated, it must take no step.
func TestCost(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(9)...)
	s.addLinks()
	e := s.engine(meter.Bucket(s.Bucket))
	for _, test := range []struct {
		text          string
		steps, atMost int64 // number of dependent steps; greatest number of requests
	}{
		{"chapter", 2, 6},   // settings and manifest; then the whole of each small object
		{"chapter", 0, 0},   // everything is cached
		{"manual of", 0, 0}, // other words of the same objects
	} {
		q := engine.Query{Query: search.Query{Text: test.text, Size: 10}, Cost: true}
		found, err := e.Search(t.Context(), q)
		if err != nil || found.Total != 9 {
			t.Fatalf("%s: %d found, %v", test.text, found.Total, err)
		}
		c := found.Cost
		if c.DependentSteps > test.steps || c.Requests > test.atMost || (c.USD > 0) != (c.Requests > 0) && c.Requests > 0 {
			t.Errorf("%s: %+v, want at most %d steps and %d requests", test.text, *c, test.steps, test.atMost)
		}
	}
	w := querytest.AskJSON(handlerOf(e), "/search?q=chapter&explain=cost&explain=score&facet=site")
	var got engine.Answer
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Cost == nil || got.Results[0].Explanation == nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	if len(got.Facets["site"]) != 9 || got.Results[0].Explanation.Value != got.Results[0].Score {
		t.Errorf("facets %v, explanation %+v of score %v", got.Facets, got.Results[0].Explanation, got.Results[0].Score)
	}
}

// addLinks adds texts of links to the pages of the first segment of partition 0, and a URL without a page.
func (s *store) addLinks() {
	p, err := partition.Open(s.T.Context(), s.Bucket, 0, s.Clock.Now)
	s.Check(err)
	first := p.Manifest().Segments[0]
	anchors := make([]*segments.Page, first.Documents)
	for i := range anchors {
		anchors[i] = &segments.Page{Document: segment.Document{ID: layout.Identity{byte(i)}, Lang: "en", Headings: []string{"next"}}}
	}
	linked, err := segments.Build(anchors)
	s.Check(err)
	far := s.Address("https://far.example/report.pdf")
	urls, err := segments.Build([]*segments.Page{{Document: segment.Document{ID: far.ID, URL: far.URL, Site: far.Site, Lang: "en", Headings: []string{"report"}}}})
	s.Check(err)
	s.Check(p.Commit(s.T.Context(), func(e *partition.Edit) error {
		_, errAnchors := e.SetAnchors(s.T.Context(), map[string][]byte{first.Key: linked})
		_, errURLs := e.SetUnvisited(s.T.Context(), urls, 1, 0)
		return errors.Join(errAnchors, errURLs)
	}))
}

// TestAsOf searches past states of the index. A search as of a past moment must find exactly the pages
// that were in the index then. If that state has been deleted (its generations, the versions of
// manifests), the answer must say for how long past states are kept.
func TestAsOf(t *testing.T) {
	s := newStore(t, 2)
	moments := []time.Time{s.Clock.Now()}
	for n := 1; n <= 3; n++ {
		s.Clock.Advance(time.Hour)
		s.Publish(querytest.Manual(n)...)
		s.Clock.Advance(time.Hour)
		moments = append(moments, s.Clock.Now())
	}
	h := s.serve()
	for n, moment := range moments {
		w := querytest.AskJSON(h, "/search?q=manual&asof="+moment.Format(time.RFC3339))
		var got engine.Answer
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Total != n {
			t.Errorf("as of %v: %d found, want %d: %v", moment, got.Total, n, err)
		}
	}
	s.Clock.Advance(manifest.Keep)
	for p := range layout.Partition(2) { // deletes the old generations, as the sweep does
		m := s.Commit(p, func(m *manifest.Manifest) error { m.Oldest = m.Generation + 1; return nil })
		for generation := range m.Generation {
			s.Check(s.Bucket.Delete(t.Context(), layout.ManifestKey(p, generation)))
		}
	}
	w := querytest.AskJSON(h, "/search?q=manual&asof="+moments[1].Format(time.RFC3339))
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "last 7 days") {
		t.Errorf("longer ago than is kept: %d %s", w.Code, w.Body)
	}
}

// TestDamageFoundBySearching checks that a segment that can be opened, but not searched, is left
// out of the search, and that the client is told.
func TestDamageFoundBySearching(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(2)...)
	s.Publish(querytest.Page{URL: "https://example.org/other", MIME: "text/html", Data: "x", Title: "Manual", Body: "other"})
	m, err := manifest.Read(t.Context(), s.Bucket, 0)
	s.Check(err)
	listed := m.Segments[0]
	content, err := s.Bucket.Get(t.Context(), listed.Key, blob.Range{})
	s.Check(err)
	damaged := append([]byte(nil), content...)
	for i := 8; i < len(damaged)-int(listed.Tail); i++ {
		damaged[i] ^= 0xFF
	}
	s.Check(s.Bucket.Replace(t.Context(), listed.Key, damaged))
	h := s.serve()
	for range 2 {
		w := querytest.AskJSON(h, "/search?q=manual")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"total":1,`) || !strings.Contains(w.Body.String(), `"incomplete":true`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	// Repair and index put the segment again under the same key: the damaged bytes in the cache
	// are not used.
	s.Check(s.Bucket.Replace(t.Context(), listed.Key, content))
	s.Clock.Advance(time.Minute)
	if w := querytest.AskJSON(h, "/search?q=manual"); !strings.Contains(w.Body.String(), `"total":3,`) || strings.Contains(w.Body.String(), "incomplete") {
		t.Errorf("mended: %s", w.Body)
	}
}
