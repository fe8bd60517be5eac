package engine

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestSuggest asks for suggestions in four states: before and after the pages have ranks, with damaged
// ranks, and with one of two segments missing.
func TestSuggest(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(
		querytest.Page{URL: "https://example.org/1", MIME: "text/html", Data: "1", Title: "Index one", Body: "text", Lang: "en"},
		querytest.Page{URL: "https://example.org/2", MIME: "text/html", Data: "2", Title: "Index two", Body: "text", Lang: "en"},
	)
	s.Publish(querytest.Page{URL: "https://example.org/3", MIME: "text/html", Data: "3", Title: "Indexes", Body: "text", Lang: "en"})
	var log bytes.Buffer
	e := s.logging(s.Bucket, &log)
	expect := func(state string, want ...string) {
		t.Helper()
		found, err := e.Suggest(t.Context(), search.Suggesting{Text: "inde", Size: 4})
		s.Check(err)
		var got []string
		for _, f := range found {
			got = append(got, f.Text+" "+strings.TrimPrefix(f.URL, "https://example.org/"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: suggestions %q, want %q", state, got, want)
		}
		s.Clock.Advance(e.Age)
	}
	expect("unranked", "Indexes 3", "Index one 1", "Index two 2")

	own, err := partition.Open(t.Context(), s.Bucket, 0, s.Clock.Now)
	s.Check(err)
	var listed []manifest.Segment
	s.Check(own.Commit(t.Context(), func(edit *partition.Edit) error {
		listed = edit.Manifest().Segments
		_, err := edit.SetRanks(t.Context(), map[string][]segment.Rank{listed[0].Key: {segment.RankOf(1), segment.RankOf(8)}})
		return err
	}))
	expect("ranked", "Index two 2", "Indexes 3", "Index one 1")

	ranked := s.Commit(0, func(*manifest.Manifest) error { return manifest.ErrUnchanged }).Segments[0].Ranks.Key
	s.Check(s.Bucket.Replace(t.Context(), ranked, []byte("no ranks")))
	e = s.logging(s.Bucket, &log)
	expect("ranks damaged", "Indexes 3", "Index one 1", "Index two 2")
	if !strings.Contains(log.String(), ranked) {
		t.Errorf("the log does not name the damaged ranks %s:\n%s", ranked, &log)
	}
	s.Check(s.Bucket.Delete(t.Context(), listed[1].Key))
	e = s.logging(s.Bucket, &log)
	expect("segment lost", "Index one 1", "Index two 2")
}
