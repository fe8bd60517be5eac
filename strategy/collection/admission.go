package collection

import (
	"fmt"
	"math"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// MaxHops is the number of redirects in a row that are followed.
const MaxHops = 10

// The reasons for which an address is not admitted.
const (
	OutOfScope  = "out of scope"
	Excluded    = "excluded"
	NotIncluded = "not included"
	TooDeep     = "too deep"
	TooMany     = "too many redirects"
	// and those of address.Suspicious
)

// Admission decides which addresses belong to a collection. It is safe for
// concurrent use; a decision takes a few look-ups, however many seeds there are.
type Admission struct {
	seeds     map[layout.Identity]bool
	seedSites map[string]bool // on which they lie
	claimer   bool            // Claims is true of some
	// The deepest that any seed allows, by what its scope compares.
	directories map[string]map[string]limit // host, directory
	hosts       map[string]limit
	sites       map[string]limit
	everywhere  limit

	include, exclude []pattern
	cleaner          address.Cleaner
}

// limit is how many levels a scope holds: a depth + 1, so that zero holds none.
type limit uint32

const unlimited limit = math.MaxUint32

// Rules parses the seeds and patterns. It fails on the first seed that is no
// web address, has no known scope or a negative depth other than Unlimited, and
// on the first pattern that is none.
func (c Collection) Rules() (Admission, error) {
	a := Admission{
		seeds:       make(map[layout.Identity]bool, len(c.Seeds)),
		seedSites:   map[string]bool{},
		directories: map[string]map[string]limit{},
		hosts:       map[string]limit{},
		sites:       map[string]limit{},
	}
	for _, seed := range c.Seeds {
		if err := a.add(seed); err != nil {
			return Admission{}, err
		}
	}
	var err error
	if a.include, err = parsePatterns(c.Include); err != nil {
		return Admission{}, fmt.Errorf("include: %w", err)
	}
	if a.exclude, err = parsePatterns(c.Exclude); err != nil {
		return Admission{}, fmt.Errorf("exclude: %w", err)
	}
	if c.DropParameters == nil {
		a.cleaner = address.DefaultCleaner()
	} else if a.cleaner, err = address.NewCleaner(c.DropParameters); err != nil {
		return Admission{}, fmt.Errorf("drop_parameters: %w", err)
	}
	return a, nil
}

func (a *Admission) add(seed Seed) error {
	at, err := ParseSeed(seed.URL)
	if err != nil {
		return err
	}
	if seed.Depth < Unlimited {
		return fmt.Errorf("seed %s: depth %d: want 0 or more, or %d for no limit", seed.URL, seed.Depth, Unlimited)
	}
	levels := unlimited
	if seed.Depth != Unlimited {
		levels = limit(min(seed.Depth, math.MaxUint16)) + 1
	}
	a.seeds[at.ID], a.seedSites[at.Site] = true, true
	a.claimer = a.claimer || seed.Scope != Any && levels == unlimited
	switch seed.Scope {
	case Prefix:
		host := plainHost(at)
		if a.directories[host] == nil {
			a.directories[host] = map[string]limit{}
		}
		widen(a.directories[host], directory(at.Path), levels)
	case Host:
		widen(a.hosts, plainHost(at), levels)
	case Site:
		widen(a.sites, at.Site, levels)
	case Any:
		a.everywhere = max(a.everywhere, levels)
	default:
		_, err := ParseScope(string(seed.Scope))
		return fmt.Errorf("seed %s: %w", seed.URL, err)
	}
	return nil
}

func widen(limits map[string]limit, key string, levels limit) {
	limits[key] = max(limits[key], levels)
}

// Clean returns the address that is crawled in place of the target of a link:
// without the parameters that the collection drops. Clean first, then Decide.
func (a Admission) Clean(target address.Address) address.Address { return a.cleaner.Clean(target) }

// Decide returns "" for an address that is admitted, else the reason for the
// record. The depth is the number of links from the nearest seed, hops that of
// redirects followed since the last link. An address is admitted if the scope
// of any seed holds it within that seed's depth, the patterns let it through
// and it does not look like a trap. The seeds themselves are admitted at depth
// 0, and whatever the patterns say.
func (a Admission) Decide(target address.Address, depth uint16, hops uint8) (reason string) {
	if hops > MaxHops {
		return TooMany
	}
	isSeed := a.seeds[target.ID]
	if depth == 0 && isSeed {
		return ""
	}
	switch levels := a.levels(target); {
	case levels == 0:
		return OutOfScope
	case limit(depth) >= levels:
		return TooDeep
	case isSeed:
		return ""
	}
	return a.filter(target)
}

// Claims reports whether a page that was found for another collection, after so
// many redirects, is one of this one too, without a link of its own that leads
// there: it lies in the scope of a seed of unlimited depth that does not stand
// for the whole web, the patterns let it through, and it is crawled under this
// very address (see Clean). Elsewhere a collection needs links of its own, to
// count them or to know where to go at all.
func (a Admission) Claims(page address.Address, hops uint8) bool {
	return hops <= MaxHops && a.within(page) == unlimited &&
		(a.seeds[page.ID] || a.filter(page) == "" && a.Clean(page).ID == page.ID)
}

// IsClaimer reports whether there are pages at all that it Claims.
func (a Admission) IsClaimer() bool { return a.claimer }

// IsSeed reports whether an address is one of the seeds.
func (a Admission) IsSeed(page address.Address) bool { return a.seeds[page.ID] }

// HasSeedOn reports whether a seed lies on the site.
func (a Admission) HasSeedOn(site string) bool { return a.seedSites[site] }

// filter returns the reason for which patterns, or its looks, keep an address
// out that lies in scope.
func (a Admission) filter(target address.Address) (reason string) {
	switch {
	case matchAny(a.exclude, target.URL):
		return Excluded
	case len(a.include) > 0 && !matchAny(a.include, target.URL):
		return NotIncluded
	}
	return address.Suspicious(target)
}

// levels returns the most that any seed in whose scope the target lies allows.
func (a Admission) levels(target address.Address) limit {
	return max(a.everywhere, a.within(target))
}

// within is levels without the seeds that stand for the whole web.
func (a Admission) within(target address.Address) limit {
	host := plainHost(target)
	levels := max(a.sites[target.Site], a.hosts[host])
	if directories := a.directories[host]; len(directories) > 0 {
		for d := directory(target.Path); d != ""; d = parent(d) {
			levels = max(levels, directories[d])
		}
	}
	return levels
}

// plainHost returns what scopes compare of a host.
func plainHost(a address.Address) string { return strings.TrimPrefix(a.Host, "www.") }

// directory returns a path up to its last slash, without the query.
func directory(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return path[:strings.LastIndexByte(path, '/')+1]
}

// parent returns the directory that holds d, or "" for that of the root.
func parent(d string) string { return d[:strings.LastIndexByte(d[:len(d)-1], '/')+1] }
