package index

import (
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
)

// dropSharedDates removes dates that come from the response header Last-Modified and probably tell when a host was
// deployed, not when its pages were written. It removes the date of a day from the pages of a host if more than
// half of the host's pages have this day from this header, and these are at least minPages. Dates
// from other sources stay. The parameter pages has the pages of a segment and its witnesses (see
// maker.finish), sorted by site and URL.
//
//	20 pages of a host, all of May 6                            no dates stay
//	20 pages of a host, 15 of May 6, 5 of later days            5 dates stay
//	20 pages of a host, 10 of May 6, 10 of other days           20 dates stay
//	20 pages that show "Last updated on May 6"                  20 dates stay
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
