package membership

import (
	"slices"
	"strings"
	"time"

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
	AlikeFull  = "pages alike"       // the limit of stored pages whose addresses differ only in numbers and ids is reached
	AssetsFull = "assets of pages"   // as many assets are stored as the limits of pages allow (see AssetsPerPage)
)

// Due returns when a URL with this last final outcome is requested again; the zero time if never. The
// table gives a time for each collection in the outcome that still exists. Due returns the earliest
// of these times.
//
//	last final outcome            if the collection has a schedule             if it has none
//	stored page, or sitemap       next scheduled time                          end of the lifetime
//	failed                        next scheduled time                          never
//	skipped without a request     next scheduled time                          never
//	alias (see IsAlias)           next scheduled time after the lifetime       end of the lifetime
//	any other                     never                                        never
//
// The lifetime is the time for which the answer is expected to stay valid. For an alias it is at
// least eight days.
//
// A collection may set the time Renew. Then stored pages, sitemaps and URLs skipped without a request
// are due at that time at the latest, if their last outcome is older. If it sets the time Again, the same
// holds for URLs that have failed. A redirect or an alias is also
// requested again when the URL to which it leads has failed. Package account sees to that, and Due
// does not.
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
	latest := m.Renew
	if last.State == book.Failed {
		latest = m.Again
	}
	if !alias && last.Time.Before(latest) && (due.IsZero() || latest.Before(due)) { // an alias is no stored page
		due = latest
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

// IsAlias reports whether the outcome's URL is an alias: the page at this URL names another
// address as its canonical one, and is stored under that address.
func IsAlias(o book.Outcome) bool { return o.State == book.Skipped && o.Reason == Canonical }

// LeadsTo returns the address to which the outcome's URL redirects, or which its page names
// as canonical; "" if there is none. The outcome's Detail holds this address, but at most
// its first 297 bytes. So a longer address is cut off in the result, too.
func LeadsTo(o book.Outcome) string {
	to, found := strings.CutPrefix(o.Detail, "to ")
	if !found || !IsAlias(o) && (o.State != book.Skipped || o.Reason != Redirect) {
		return ""
	}
	return to
}

// LedTo returns the addresses that may be crawled because the outcome's URL leads
// to another URL (see LeadsTo). The first is this target. Each collection of the
// outcome crawls the target without the parameters that it drops (see Clean). The
// resulting addresses follow. No address occurs twice. There are none if the URL leads nowhere.
func (s *Members) LedTo(o book.Outcome) (to []address.Address) {
	at, err := address.Parse(LeadsTo(o))
	if err != nil {
		return nil
	}
	to = []address.Address{at}
	for _, name := range o.Collections {
		if cleaned := s.Clean(name, at); !slices.Contains(to, cleaned) {
			to = append(to, cleaned)
		}
	}
	return to
}

// IsForAnother reports whether a URL that was skipped for some collections may still be requested for
// other collections. That is so if the reason concerns only the collections in the outcome. Other
// collections have other limits of stored pages, and perhaps another User-Agent, for which robots.txt
// has other rules. They may also refuse the address to which the URL redirects, or which its page
// names as canonical.
func IsForAnother(o book.Outcome) bool {
	return WasUnasked(o) || IsAlias(o) || o.State == book.Skipped && o.Reason == Redirect
}

// WasUnasked reports whether the outcome is of a URL that was skipped without a request, for
// a reason that may not hold any more: robots.txt, or a limit of stored pages.
func WasUnasked(o book.Outcome) bool {
	return o.State == book.Skipped && slices.Contains([]string{Robots, HostFull, AlikeFull, AssetsFull}, o.Reason)
}
