package settings

import (
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// The reasons of skipped URLs that are asked for again.
const (
	Sitemap   = "sitemap"           // it was read as one
	Robots    = "robots"            // robots.txt forbade it
	HostFull  = "pages of the host" // as many were stored as the collection wants
	AlikeFull = "pages alike"       // as many of one address.Pattern
)

// Due returns when a URL is asked for again that the collection admits, and
// whose last final outcome this is; the zero time for never. Until another
// outcome comes, its state stays what it is.
//
// What is kept is due at the times of the collection's schedule; without one,
// when its lifetime is over. What failed, or was skipped without being asked
// for, waits for the schedule. All but what failed is due, too, once the
// collection is renewed.
func (s *Settings) Due(collection string, last book.Outcome) time.Time {
	m, found := s.members[collection]
	kept, unasked := IsKept(last), wasUnasked(last)
	if !found || !kept && !unasked && last.State != book.Failed {
		return time.Time{}
	}
	var due time.Time
	if m.Schedule != "" {
		due = m.timetable.Next(last.Time)
	} else if kept {
		due = last.Time.Add(webobject.Lifetime(last.Exponent))
	}
	if (kept || unasked) && last.Time.Before(m.Renew) && (due.IsZero() || m.Renew.Before(due)) {
		due = m.Renew
	}
	return due
}

// IsKept reports whether the outcome brought or confirmed what another look is
// compared with: a page that is stored, or a sitemap that was read.
func IsKept(o book.Outcome) bool {
	return o.State == book.Stored || o.State == book.Unchanged || o.State == book.Skipped && o.Reason == Sitemap
}

// wasUnasked reports whether the outcome rests on something that may be
// otherwise by now, and that costs no request to find out.
func wasUnasked(o book.Outcome) bool {
	return o.State == book.Skipped && (o.Reason == Robots || o.Reason == HostFull || o.Reason == AlikeFull)
}
