package takedown

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

// Set is the set of URLs and sites that one version of the takedowns forgets. The zero Set
// forgets nothing. It is safe for concurrent use.
type Set struct {
	// Version is the version of the takedowns in which the set has changed last: Document.Changed if
	// entries are pending, otherwise the number of the version in force. It is 0 if nothing was ever
	// forgotten for good. A later version never has a lower one. In the result of Hidden it is always the number
	// of the version in force.
	Version uint64
	// Faults.Damaged holds the damaged versions that are newer than Version. Those of their entries that
	// could be read are in the set, too. It also holds Version itself if only its copy could be read.
	Faults numbered.Faults

	pending    *Set      // result of Hidden; nil if no entry is pending
	reversible bool      // some entries of this set can be taken back
	until      time.Time // the earliest time of Pending.Until; zero if none is pending

	urls, sites map[layout.Identity]Entry // entry of each forgotten URL or site, by its identity
}

// newSet returns the set of the final entries of a document, that is, of those that cannot be taken back.
// The method Hidden of the result adds the pending ones. The parameter version is the number of the
// document among the versions of the takedowns.
func newSet(d Document, version uint64) Set {
	s := setOf(version, d.Entries)
	if len(d.Pending) == 0 {
		return s
	}
	s.Version = d.Changed
	pending := setOf(version, d.Entries)
	pending.reversible = true
	for _, p := range d.Pending {
		for _, e := range p.Entries {
			pending.add(e)
		}
		if s.until.IsZero() || p.Until.Before(s.until) {
			s.until = p.Until
		}
	}
	s.pending = &pending
	return s
}

func setOf(version uint64, entries []Entry) Set {
	s := Set{Version: version, urls: make(map[layout.Identity]Entry), sites: make(map[layout.Identity]Entry)}
	for _, e := range entries {
		s.add(e)
	}
	return s
}

// Hidden returns the set of all URLs and sites that are neither shown in searches nor requested: the
// final entries of s and the pending ones, which can be taken back. Its Version is the number of the
// version in force. Hidden and IsDue of the result know of no further pending entries.
func (s Set) Hidden() Set {
	if s.pending == nil {
		return s
	}
	hidden := *s.pending
	hidden.Faults = s.Faults
	return hidden
}

// IsDue reports whether the time of some pending entry is over, so that it cannot be taken back any more
// and Seal makes it final.
func (s Set) IsDue(now time.Time) bool { return !s.until.IsZero() && !now.Before(s.until) }

// MayBeIn reports whether a partition may still hold pages of the set. That is so if the set comes from
// Hidden and has pending entries, because their pages are not erased yet. It is also so if the partition
// has erased only the pages of an earlier version of the takedowns. The parameter erased is this version,
// the partition's Manifest.Forgotten.
func (s Set) MayBeIn(erased uint64) bool { return !s.Empty() && (s.reversible || erased < s.Version) }

// has reports whether the set has an entry of the same URL or site.
func (s Set) has(e Entry) (found bool) {
	if e.URL != nil {
		_, found = s.urls[*e.URL]
		return found
	}
	_, found = s.sites[*e.Site]
	return found
}

// add adds an entry to the set. It returns false if the set has the entry's URL or site
// already.
func (s Set) add(e Entry) bool {
	of, id := s.sites, e.Site
	if e.URL != nil {
		of, id = s.urls, e.URL
	}
	_, found := of[*id]
	if !found {
		of[*id] = e
	}
	return !found
}

// Beyond returns the identities of the URLs and sites that are in this set and not in the other one.
func (s Set) Beyond(other Set) (urls, sites []layout.Identity) {
	beyond := func(is, was map[layout.Identity]Entry) (more []layout.Identity) {
		for id := range is {
			if _, found := was[id]; !found {
				more = append(more, id)
			}
		}
		slices.SortFunc(more, layout.Identity.Compare)
		return more
	}
	return beyond(s.urls, other.urls), beyond(s.sites, other.sites)
}

// Empty reports whether the set forgets no address.
func (s Set) Empty() bool { return len(s.urls)+len(s.sites) == 0 }

// Forgets reports whether the set forgets the address: its URL, or its whole site.
func (s Set) Forgets(a address.Address) bool { return s.ForgetsPage(a.ID, a.Site) }

// ForgetsPage reports whether the address with this identity and site is forgotten (see
// Forgets).
func (s Set) ForgetsPage(id layout.Identity, site string) bool {
	return s.ForgetsID(id) || s.ForgetsSite(site)
}

// ForgetsSite reports whether a whole site is forgotten.
func (s Set) ForgetsSite(site string) bool {
	if len(s.sites) == 0 {
		return false // saves the hash of the site
	}
	_, found := s.sites[layout.IdentityOf(site)]
	return found
}

// ForgetsID reports whether the URL with this identity is forgotten. It cannot tell whether
// the site of the URL is forgotten.
func (s Set) ForgetsID(id layout.Identity) bool {
	_, found := s.urls[id]
	return found
}

// IDs yields the identities of all forgotten URLs, except those that are forgotten only because their whole site
// is.
func (s Set) IDs() iter.Seq[layout.Identity] { return maps.Keys(s.urls) }

// PlaceOf returns the place of a forgotten URL. The bool is false if the set does not know it: an earlier program has
// published the entry, or there is none.
func (s Set) PlaceOf(id layout.Identity) (layout.Place, bool) {
	if e := s.urls[id]; e.Place != nil {
		return *e.Place, true
	}
	return 0, false
}

// ForgetsURL reports whether a canonical URL or its site is forgotten. For an invalid URL
// it cannot tell the site, and looks only for the URL itself.
func (s Set) ForgetsURL(url string) bool {
	if s.ForgetsID(layout.IdentityOf(url)) {
		return true
	}
	if len(s.sites) == 0 {
		return false
	}
	a, err := address.Parse(url)
	return err == nil && s.Forgets(a)
}

// Within returns ranges of places, in ascending order and disjoint, in which all forgotten URLs are. It is the
// whole space if the place of one is not known (see PlaceOf).
func (s Set) Within() (ranges []layout.Range) {
	for id := range s.urls {
		at, known := s.PlaceOf(id)
		if !known {
			return []layout.Range{{}}
		}
		ranges = append(ranges, layout.Range{From: at, To: at + 1})
	}
	for site := range s.sites {
		ranges = append(ranges, layout.RangeOfSite(site))
	}
	slices.SortFunc(ranges, func(a, b layout.Range) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To-1, a.To-1)) })
	within := ranges[:0]
	for _, r := range ranges {
		if n := len(within); n == 0 || !within[n-1].Overlaps(r) { // of two that overlap, the second is in the first
			within = append(within, r)
		}
	}
	return within
}

// Since returns the time of the takedown that forgets an address; the zero time if it is
// not forgotten.
func (s Set) Since(a address.Address) time.Time {
	if e, found := s.urls[a.ID]; found {
		return e.At
	}
	return s.sites[layout.IdentityOf(a.Site)].At
}

// HasSites reports whether any whole site is forgotten.
func (s Set) HasSites() bool { return len(s.sites) > 0 }
