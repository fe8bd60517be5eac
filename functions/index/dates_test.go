package index

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

func TestSharedDates(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 5, n, 0, 0, 0, 0, time.UTC) }
	// pagesOf returns pages of a host with dates from the given source: the number same of pages with one date,
	// then the number others of pages that all have different dates
	pagesOf := func(host string, source document.DateSource, same, others int) (pages []*draft) {
		for n := range same + others {
			p := &draft{Page: segments.Page{Document: segment.Document{URL: fmt.Sprintf("http://%s/%02d", host, n), Date: day(6)}}, dateSource: source}
			if n >= same {
				p.Date = day(7 + n - same)
			}
			pages = append(pages, p)
		}
		return pages
	}
	for name, test := range map[string]struct {
		pages []*draft
		want  map[time.Time]int // number of pages that keep each date
	}{
		"deployed":                {pagesOf("a", document.FromHeader, 16, 0), map[time.Time]int{{}: 16}},
		"deployed, changed later": {pagesOf("a", document.FromHeader, 17, 2), map[time.Time]int{{}: 17, day(7): 1, day(8): 1}},
		"few pages":               {pagesOf("a", document.FromHeader, 15, 0), map[time.Time]int{day(6): 15}},
		"half of them":            {append(pagesOf("a", document.FromHeader, 16, 0), pagesOf("a", document.FromText, 16, 0)...), map[time.Time]int{day(6): 32}},
		"shown on pages":          {pagesOf("a", document.FromText, 20, 0), map[time.Time]int{day(6): 20}},
		"several hosts":           {append(pagesOf("a", document.FromHeader, 8, 0), pagesOf("b", document.FromHeader, 8, 0)...), map[time.Time]int{day(6): 16}},
	} {
		dropSharedDates(test.pages)
		got := map[time.Time]int{}
		for _, p := range test.pages {
			got[p.Date]++
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: pages by date (-want +got):\n%s", name, diff)
		}
	}
}
