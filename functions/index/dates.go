package index

import (
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
)

// dropSharedDates removes the dates that pages have from the header Last-Modified, where they say when a
// host was deployed, and not when the page was written: where more than half of a host's pages in the
// package share the day, and these are at least minPages. Other dates of the host's pages stay. The
// parameter pages has the pages of one package, sorted by site and URL.
//
//	20 pages of a host, all of May 6                            no dates
//	20 pages of a host, 15 of May 6, 5 of later days            5 dates
//	20 pages of a host, 10 of May 6, 10 of other days           20 dates
//	20 pages that show "Last updated on May 6"                  20 dates
func dropSharedDates(pages []*draft) {
	for host := range byStart(pages, 1) {
		days := make(map[time.Time]int)
		for _, p := range host {
			if p.dateSource == document.FromHeader {
				days[p.Date]++
			}
		}
		for _, p := range host {
			if n := days[p.Date]; p.dateSource == document.FromHeader && n >= minPages && 2*n > len(host) {
				p.Date = time.Time{}
			}
		}
	}
}
