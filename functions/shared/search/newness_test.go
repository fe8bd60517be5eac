package search

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestNewness checks that newer pages come first if the query asks for new ones, and only then.
func TestNewness(t *testing.T) {
	day := func(year, month int) time.Time { return time.Date(year, time.Month(month), 5, 17, 0, 0, 0, time.UTC) }
	var docs []segment.Document
	for name, date := range map[string]time.Time{"undated": {}, "old": day(2019, 3), "older": day(2012, 1), "new": day(2026, 2), "newer": day(2026, 4)} {
		d := page("http://"+name, "Notes of the release of the kernel. Notizen zur Version. 内核发布说明")
		d.Date = date
		docs = append(docs, d)
	}
	docs = append(docs, page("http://other", "Something else is here: kernels."))
	for _, test := range []struct {
		text, lang string
		asks       bool
	}{
		{"latest kernel release notes", "en", true},
		{"kernel release NEWS", "en", true},
		{"kernel release notes", "en", false},
		{"neueste notizen version", "de", true},
		{"neueste kernel release notes", "en", false}, // no page is German
		{"最新内核发布", "zh", true},
		{"内核发布", "zh", false},
	} {
		of := slices.Clone(docs)
		for i := range of {
			of[i].Lang = test.lang
		}
		hits := find(t, indexOf(t, of[:3], of[3:]), Query{Text: test.text, Size: 10, Explain: true}).Hits
		var order []string
		asked := false
		for _, hit := range hits {
			order = append(order, strings.TrimPrefix(hit.URL, "http://"))
			sum := 0.0
			for _, part := range hit.Explanation.Parts {
				sum += part.Value
				asked = asked || strings.HasPrefix(part.What, "newness: the page is of 20")
			}
			if math.Abs(sum-hit.Score) > 1e-9 {
				t.Errorf("%q: the parts of the score %v of %s are %v", test.text, hit.Score, hit.URL, sum)
			}
		}
		if asked != test.asks {
			t.Errorf("%q: newness counts: %v", test.text, asked)
		}
		if want := []string{"newer", "new", "old", "older", "undated"}; test.asks && !slices.Equal(order[:5], want) {
			t.Errorf("%q: %q, want %q", test.text, order, want)
		}
		if !test.asks && hits[0].Score != hits[4].Score {
			t.Errorf("%q: scores from %v to %v", test.text, hits[0].Score, hits[4].Score)
		}
	}
}

// TestDateOfHit checks that a hit has the date of its page: the one that is stored with the document, or
// else the one in the column of dates, if this is in memory.
func TestDateOfHit(t *testing.T) {
	known, undated := page("http://dated", "kernel"), page("http://undated", "kernel")
	known.Date = time.Date(2026, 4, 5, 17, 0, 0, 0, time.UTC)
	ix := indexOf(t, []segment.Document{known, undated})
	ix.memory = NewMemory(1 << 20)
	dates := func() string {
		var all []string
		for _, hit := range find(t, ix, Query{Text: "kernel", Size: 10}).Hits {
			all = append(all, strings.TrimPrefix(hit.URL, "http://")+" "+hit.Date.Format(time.DateOnly))
		}
		slices.Sort(all)
		return strings.Join(all, ", ")
	}
	if got, want := dates(), "dated 2026-04-05, undated 0001-01-01"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	ix.memory.putOwnDates(ix.parts[0].Segment.Ref().Key, ownDates{0, 20_000})
	if got, want := dates(), "dated 2026-04-05, undated 2024-10-03"; got != want {
		t.Errorf("with the column in memory: %s, want %s", got, want)
	}
}
