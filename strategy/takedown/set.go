package takedown

import (
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Set is what one version of the takedowns forgets. The zero Set forgets
// nothing. It is safe for concurrent use.
type Set struct {
	Version uint64 // 0: nothing was ever forgotten

	urls, sites map[layout.Identity]time.Time
}

func newSet(d Document, version uint64) Set {
	s := Set{Version: version, urls: make(map[layout.Identity]time.Time), sites: make(map[layout.Identity]time.Time)}
	for _, e := range d.Entries {
		if e.URL != nil {
			s.urls[*e.URL] = e.At
		} else {
			s.sites[*e.Site] = e.At
		}
	}
	return s
}

func (s Set) holds(e Entry) (found bool) {
	if e.URL != nil {
		_, found = s.urls[*e.URL]
	} else {
		_, found = s.sites[*e.Site]
	}
	return found
}

// Empty reports whether nothing is forgotten.
func (s Set) Empty() bool { return len(s.urls)+len(s.sites) == 0 }

// Forgets reports whether the address is forgotten.
func (s Set) Forgets(a address.Address) bool { return s.ForgetsPage(a.ID, a.Site) }

// ForgetsPage is Forgets for who knows identity and site of an address.
func (s Set) ForgetsPage(id layout.Identity, site string) bool {
	if s.ForgetsID(id) {
		return true
	}
	return len(s.sites) > 0 && !s.siteSince(site).IsZero()
}

// ForgetsID reports whether the one URL is forgotten by itself.
func (s Set) ForgetsID(id layout.Identity) bool {
	_, found := s.urls[id]
	return found
}

// ForgetsURL is Forgets for a canonical URL that was not parsed. One that is
// no URL is not forgotten.
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

// Since returns since when an address is forgotten; the zero time when it is
// not.
func (s Set) Since(a address.Address) time.Time {
	if at, found := s.urls[a.ID]; found {
		return at
	}
	return s.siteSince(a.Site)
}

func (s Set) siteSince(site string) time.Time { return s.sites[layout.IdentityOf(site)] }

// HasSites reports whether any whole site is forgotten.
func (s Set) HasSites() bool { return len(s.sites) > 0 }
