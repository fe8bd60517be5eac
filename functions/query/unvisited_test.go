package query

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestUnvisited checks that URLs which are known only by links are found, are marked as not
// visited, have no stored copy, and disappear with a takedown. If the overlay that lists them
// cannot be used, the log must say so, and all pages must be found.
func TestUnvisited(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(2)...)
	far := s.Address("https://far.example/report.pdf")
	content, err := segments.Build([]*segments.Page{{
		Document: segment.Document{ID: far.ID, URL: far.URL, Site: far.Site, Lang: "en", Title: "annual report", Headings: []string{"annual report"}},
	}})
	s.Check(err)
	p, err := partition.Open(t.Context(), s.Bucket, 0, s.Clock.Now)
	s.Check(err)
	s.Check(p.Commit(t.Context(), func(e *partition.Edit) error {
		_, err := e.SetUnvisited(t.Context(), content, 1, 0)
		return err
	}))
	var log bytes.Buffer
	e := s.logging(s.Bucket, &log)
	h := handlerOf(e)
	var answer engine.Answer
	s.Check(json.Unmarshal(querytest.AskJSON(h, "/search?q=report").Body.Bytes(), &answer))
	if len(answer.Results) != 1 || !answer.Results[0].Unvisited || answer.Results[0].URL != far.URL || !answer.Results[0].Fetched.IsZero() || answer.Incomplete {
		t.Errorf("answer %+v", answer)
	}
	page := querytest.Ask(h, "GET", "/search?q=report", "Accept: text/html").Body.String()
	if !strings.Contains(page, "not visited") || strings.Contains(page, "stored copy") || !strings.Contains(page, `<a href="/search?q=link%3Ahttps%3A%2F%2Ffar.example%2Freport.pdf">not visited`) {
		t.Errorf("page of results:\n%s", page)
	}
	if w := querytest.Ask(h, "GET", "/page?url="+far.URL); w.Code != 404 {
		t.Errorf("stored copy: %d", w.Code)
	}
	if n := totalOf(t, e, "manual"); n != 2 {
		t.Errorf("%d pages found", n)
	}

	_, err = takedown.Forget(t.Context(), s.Bucket, takedown.URL(far, querytest.Noon))
	s.Check(err)
	s.Clock.Advance(e.Age * 100)
	if n := totalOf(t, e, "report"); n != 0 {
		t.Errorf("%d URLs found that are forgotten", n)
	}

	key := p.Manifest().Unvisited.Key
	s.Check(s.Bucket.Delete(t.Context(), key))
	lost := s.logging(s.Bucket, &log)
	result, err := lost.Search(t.Context(), engine.Query{Query: search.Query{Text: "manual", Size: 10}})
	s.Check(err)
	if result.Total != 2 || result.Incomplete || strings.Count(log.String(), "key="+key) != 1 {
		t.Errorf("%d pages found, incomplete: %v, log:\n%s", result.Total, result.Incomplete, &log)
	}
}
