package membership

import (
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Reasons for which a URL was skipped. Such a URL may be requested again.
const (
	Redirect   = "redirect"          // the server redirects to another URL
	Canonical  = "canonical"         // the page names another canonical address
	Sitemap    = "sitemap"           // the URL was read as a sitemap
	Robots     = "robots"            // robots.txt forbids the URL
	HostFull   = "pages of the host" // the limit of stored pages of the host is reached
	AlikeFull  = "pages alike"       // the limit of stored pages of one address.Pattern is reached
	AssetsFull = "assets of pages"   // as many assets are stored as the limits of pages allow (see AssetsPerPage)
)

// Due returns when a URL with this last final outcome is requested again; the zero time if never.
// It is the earliest of the times for each collection in the outcome that still exists.
//
//	last outcome                         due
//	stored page, sitemap                 at the next time of the collection's schedule;
//	                                     without a schedule at the end of its lifetime
//	failed, skipped without a request    at the next time of the schedule, else never
//	alias                                at the end of its lifetime, which is at least eight
//	                                     days; with a schedule at the next time after that
//	any other                            never
//
// If the collection's field Renew is set, stored pages, sitemaps and URLs skipped without a request
// are due at that time at the latest, unless the outcome is newer. A URL that leads to another URL
// is also requested again when the other has failed; Due does not consider this (see package
// account).
func (s *Members) Due(last book.Outcome) time.Time {
	var first time.Time
	for _, name := range last.Collections {
		if m, found := s.byName[name]; found {
			if due := m.due(last); !due.IsZero() && (first.IsZero() || due.Before(first)) {
				first = due
			}
		}
	}
	return first
}

// minAliasExponent is the lowest Exponent of an alias: a lifetime of 2³ = 8 days.
const minAliasExponent = 3

// due returns when this collection requests a URL with this last final outcome again, by
// the table of Members.Due; the zero time if never.
func (m member) due(last book.Outcome) (due time.Time) {
	kept, unasked, alias := IsKept(last), WasUnasked(last), IsAlias(last)
	if !kept && !unasked && !alias && last.State != book.Failed {
		return time.Time{}
	}
	from, life := last.Time, webobject.Lifetime(last.Exponent)
	if alias {
		life = webobject.Lifetime(max(last.Exponent, minAliasExponent))
		from = from.Add(life)
	}
	if m.Schedule != "" {
		due = m.timetable.Next(from)
	} else if kept || alias {
		due = last.Time.Add(life)
	}
	if last.State != book.Failed && !alias && last.Time.Before(m.Renew) && (due.IsZero() || m.Renew.Before(due)) { // an alias is no stored page
		due = m.Renew
	}
	return due
}

// IsSitemap reports whether the outcome is of a sitemap that was read.
func IsSitemap(o book.Outcome) bool { return o.State == book.Skipped && o.Reason == Sitemap }

// IsKept reports whether the outcome is of a page that was stored or found unchanged, or
// of a sitemap that was read. The next request for such a URL is conditional: it sends
// the ETag or the time of modification.
func IsKept(o book.Outcome) bool {
	return o.State == book.Stored || o.State == book.Unchanged || IsSitemap(o)
}

// IsAlias reports whether the outcome's URL is an alias: its page names another address
// as the canonical one, under which it is stored.
func IsAlias(o book.Outcome) bool { return o.State == book.Skipped && o.Reason == Canonical }

// LeadsTo returns the target of the outcome's redirect, or the canonical address that its
// page names; "" if there is neither. The address comes from Detail, which cuts it off
// after 297 bytes.
func LeadsTo(o book.Outcome) string {
	to, found := strings.CutPrefix(o.Detail, "to ")
	if !found || !IsAlias(o) && (o.State != book.Skipped || o.Reason != Redirect) {
		return ""
	}
	return to
}

// LedTo returns the identities that may belong to the target of the outcome (see LeadsTo): that of
// the target itself and, for each collection of the outcome, that of the target without the
// parameters that the collection drops. It returns none if there is no target.
func (s *Members) LedTo(o book.Outcome) (ids []layout.Identity) {
	at, err := address.Parse(LeadsTo(o))
	if err != nil {
		return nil
	}
	ids = []layout.Identity{at.ID}
	for _, name := range o.Collections {
		if cleaned := s.Clean(name, at); !slices.Contains(ids, cleaned.ID) {
			ids = append(ids, cleaned.ID)
		}
	}
	return ids
}

// IsForAnother reports whether a URL with this outcome may still be a page of collections for
// which it was not requested. That is so if it was skipped for a reason that concerns only
// the collections for which it was requested: their limits, robots.txt for their agent, or a
// redirect or canonical address that they admitted.
func IsForAnother(o book.Outcome) bool {
	return WasUnasked(o) || IsAlias(o) || o.State == book.Skipped && o.Reason == Redirect
}

// WasUnasked reports whether the outcome is of a URL that was skipped without a request, for
// a reason that may not hold any more: robots.txt, or a limit of stored pages.
func WasUnasked(o book.Outcome) bool {
	return o.State == book.Skipped && slices.Contains([]string{Robots, HostFull, AlikeFull, AssetsFull}, o.Reason)
}
