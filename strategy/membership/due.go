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

// The reasons of skipped URLs that may be asked for again.
const (
	Redirect  = "redirect"          // it leads elsewhere
	Canonical = "canonical"         // it wants to be known by another address
	Sitemap   = "sitemap"           // it was read as one
	Robots    = "robots"            // robots.txt forbade it
	HostFull  = "pages of the host" // as many were stored as the collection wants
	AlikeFull = "pages alike"       // as many of one address.Pattern
)

// Due returns when a URL is asked for again whose last final outcome this is,
// and which its collections admit: at the first time at which any of them is
// due, the zero time for never. Until another outcome comes, its state stays
// what it is.
//
// What is kept is due at the times of the collection's schedule; without one,
// when its lifetime is over. What failed, or was skipped without being asked
// for, waits for the schedule. An alias lives for eight days and more before its
// schedule counts: the page that it stands for may be gone. All but what failed is
// due, too, once the collection is renewed. Whoever knows what became of the page
// to which a URL leads has it asked for at once when that has failed since (see
// package account).
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

// IsSitemap reports whether the outcome is that of a sitemap that was read.
func IsSitemap(o book.Outcome) bool { return o.State == book.Skipped && o.Reason == Sitemap }

// IsKept reports whether the outcome brought or confirmed what another look is
// compared with: a page that is stored, or a sitemap that was read.
func IsKept(o book.Outcome) bool {
	return o.State == book.Stored || o.State == book.Unchanged || IsSitemap(o)
}

// IsAlias reports whether the outcome is that of a page which is stored at the
// address by which it wants to be known.
func IsAlias(o book.Outcome) bool { return o.State == book.Skipped && o.Reason == Canonical }

// LeadsTo returns where the outcome says that its URL leads, by a redirect or
// because the page names another as the one to keep; "" if it does not. A very
// long address is cut short and leads nowhere.
func LeadsTo(o book.Outcome) string {
	to, found := strings.CutPrefix(o.Detail, "to ")
	if !found || !IsAlias(o) && (o.State != book.Skipped || o.Reason != Redirect) {
		return ""
	}
	return to
}

// LedTo returns the identities under which the address to which an outcome leads
// may be known: as it is, and as its collections crawl it.
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

// IsForAnother reports whether a skipped URL may bring more to a collection for
// which it was not asked for: it was skipped because of the settings of others, or
// led to an address of which only they know.
func IsForAnother(o book.Outcome) bool {
	return WasUnasked(o) || IsAlias(o) || o.State == book.Skipped && o.Reason == Redirect
}

// WasUnasked reports whether the outcome rests on something that may be
// otherwise by now, and that costs no request to find out.
func WasUnasked(o book.Outcome) bool {
	return o.State == book.Skipped && (o.Reason == Robots || o.Reason == HostFull || o.Reason == AlikeFull)
}
