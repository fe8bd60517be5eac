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

// Reasons of skipped URLs that may be requested again.
const (
	Redirect  = "redirect"          // the server redirects to another URL
	Canonical = "canonical"         // the page names another canonical address
	Sitemap   = "sitemap"           // it was read as a sitemap
	Robots    = "robots"            // robots.txt forbids the URL
	HostFull  = "pages of the host" // the limit of stored pages of the host is reached
	AlikeFull = "pages alike"       // the limit of stored pages of one address.Pattern is reached
)

// Due returns when a URL with this last final outcome is requested again: the
// earliest time of all its collections that admit it, the zero time for never. The
// state of the URL stays until there is another outcome.
//
//	last outcome                         due
//	stored page, sitemap                 at the next time of the collection's schedule;
//	                                     without a schedule at the end of its lifetime
//	failed, skipped without a request    at the next time of the schedule
//	alias                                the same, but not before eight days
//
// All but failed URLs are due, too, when the collection is renewed. A URL that leads
// to a page which has failed since is requested at once (see package account).
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

// minAliasExponent is the least expiry class of an alias.
const minAliasExponent = 3

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

// IsKept reports whether the outcome stored or confirmed a page, or read a sitemap:
// then the next request sends validators.
func IsKept(o book.Outcome) bool {
	return o.State == book.Stored || o.State == book.Unchanged || IsSitemap(o)
}

// IsAlias reports whether the page of the outcome is stored under its canonical
// address instead.
func IsAlias(o book.Outcome) bool { return o.State == book.Skipped && o.Reason == Canonical }

// LeadsTo returns the target of the outcome's redirect, or the canonical address of
// its page, "" if it has neither. A very long address was cut short, and counts as
// neither.
func LeadsTo(o book.Outcome) string {
	to, found := strings.CutPrefix(o.Detail, "to ")
	if !found || !IsAlias(o) && (o.State != book.Skipped || o.Reason != Redirect) {
		return ""
	}
	return to
}

// LedTo returns the identities of the address to which an outcome leads: of the
// address as it is, and as its collections crawl it.
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

// IsForAnother reports whether a skipped URL may be a page of a collection for which
// it was not asked: it was skipped because of the settings of other collections, or
// led to an address that only they know.
func IsForAnother(o book.Outcome) bool {
	return WasUnasked(o) || IsAlias(o) || o.State == book.Skipped && o.Reason == Redirect
}

// WasUnasked reports whether the URL was skipped without a request, for a reason that
// may have changed since.
func WasUnasked(o book.Outcome) bool {
	return o.State == book.Skipped && (o.Reason == Robots || o.Reason == HostFull || o.Reason == AlikeFull)
}
