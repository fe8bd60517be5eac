package collection

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// MaxHops is the number of redirects in a row that are followed.
const MaxHops = 10

// The reasons for which Decide refuses an address. It also returns those of
// address.Suspicious.
const (
	OutOfScope  = "out of scope"
	Excluded    = "excluded"
	NotIncluded = "not included"
	TooDeep     = "too deep"
	TooMany     = "too many redirects"
)

// Admission decides which addresses belong to a collection. It is safe for concurrent
// use. A decision takes a few look-ups in maps, however many seeds there are.
type Admission struct {
	seeds     map[layout.Identity]bool
	seedSites map[string]bool   // sites of the seeds
	starts    map[string]string // by the host without "www.": the deepest directory that contains all the host's seeds
	claimer   bool              // a seed has unlimited depth and a scope other than Any; if none has, Claims returns false

	// The limits (see limit) of all seeds, by their scope:

	// greatest limit of the seeds of scope Prefix; the first key is the host of a seed (see plainHost),
	// the second the directory of its path, such as /docs/
	directories map[string]map[string]limit
	hosts       map[string]limit // greatest limit of the seeds of scope Host, by host (see plainHost)
	sites       map[string]limit // greatest limit of the seeds of scope Site, by site
	everywhere  limit            // greatest limit of the seeds of scope Any; each address is in this scope

	include, exclude []pattern
	cleaner          address.Cleaner
}

// limit is the number of depths (links from a seed) at which addresses are admitted: 1 admits seeds
// only, 3 admits depths 0, 1 and 2. For an address that is in no scope it is 0.
type limit uint32

const unlimited limit = math.MaxUint32

// Rules returns the Admission of the collection. It fails on the first seed that is not
// a web address, or has an unknown scope or a negative depth other than Unlimited, and
// on the first invalid pattern.
func (c Collection) Rules() (Admission, error) {
	a := Admission{
		seeds:       make(map[layout.Identity]bool, len(c.Seeds)),
		seedSites:   map[string]bool{},
		starts:      map[string]string{},
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

// add adds a seed: its scope becomes part of the Admission, with the seed's depth as limit. It fails
// if the seed's address, scope or depth is invalid.
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
	a.start(at)
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

// start widens the start directory of the seed's host (see StartDirectory) so that this directory
// contains the seed. A host without a start directory gets the directory of the seed.
func (a *Admission) start(seed address.Address) {
	host := plainHost(seed)
	d, known := a.starts[host]
	if !known {
		d = directory(seed.Path)
	}
	for !strings.HasPrefix(directory(seed.Path), d) {
		d = parent(d)
	}
	a.starts[host] = d
}

// widen raises the limit under a key to the given number of depths. It does not lower a limit.
func widen(limits map[string]limit, key string, levels limit) {
	limits[key] = max(limits[key], levels)
}

// Clean returns the address that is crawled in place of the target of a link: the target
// without the parameters that the collection drops. Call Clean before Decide.
func (a Admission) Clean(target address.Address) address.Address { return a.cleaner.Clean(target) }

// Decide returns "" for an admitted address, else the reason of the refusal. depth is
// the number of links from the nearest seed; hops is the number of redirects since
// the last link. An address is admitted if all these conditions hold:
//
//   - hops is at most MaxHops.
//   - The address is in the scope of a seed whose limit of depth allows this depth; or the
//     address is itself a seed, and the depth is 0.
//   - The address passes the patterns, and does not look like a trap; or it is itself a seed.
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

// DecideAsset returns "" if the collection admits an address as an asset of its pages (an image, a
// style sheet), else the reason of the refusal. The asset may be on any host, and the patterns of
// Include do not apply to it. hops is the number of redirects and style sheets between the page
// and the asset.
func (a Admission) DecideAsset(target address.Address, hops uint8) (reason string) {
	switch {
	case hops > MaxHops:
		return TooMany
	case matchAny(a.exclude, target.URL):
		return Excluded
	}
	return address.Suspicious(target)
}

// Claims reports whether a page that another collection has found belongs to this
// collection, too, even if none of its own pages links there. hops is the number of
// redirects to the page. All these conditions must hold:
//
//   - hops is at most MaxHops.
//   - The page is in the scope of a seed that has unlimited depth, and a scope other than
//     Any.
//   - The page is itself a seed, or nothing speaks against its address: it passes the
//     patterns, does not look like a trap, and has no parameters that the collection drops.
func (a Admission) Claims(page address.Address, hops uint8) bool {
	return hops <= MaxHops && a.within(page) == unlimited &&
		(a.seeds[page.ID] || a.filter(page) == "" && a.Clean(page).ID == page.ID)
}

// IsClaimer reports whether the collection can claim pages: Claims may return true.
func (a Admission) IsClaimer() bool { return a.claimer }

// IsSeed reports whether an address is one of the seeds.
func (a Admission) IsSeed(page address.Address) bool { return a.seeds[page.ID] }

// HasSeedOn reports whether one of the seeds is a URL of the site.
func (a Admission) HasSeedOn(site string) bool { return a.seedSites[site] }

// StartDirectory returns the directory at which the collection starts on the host of a page: the
// deepest one that holds all seeds on the host, such as /docs/ for the seeds /docs/a/ and /docs/b/.
// It returns "" if the host has no seed.
func (a Admission) StartDirectory(page address.Address) string { return a.starts[plainHost(page)] }

// filter returns the reason to refuse an address that is in scope: it does not pass the
// patterns, or looks like a trap. It returns "" if there is no such reason.
func (a Admission) filter(target address.Address) (reason string) {
	switch {
	case matchAny(a.exclude, target.URL):
		return Excluded
	case len(a.include) > 0 && !matchAny(a.include, target.URL):
		return NotIncluded
	}
	return address.Suspicious(target)
}

// levels returns the greatest limit of the seeds whose scopes contain the target: the number of
// depths at which it is admitted, 0 if it is in no scope.
func (a Admission) levels(target address.Address) limit {
	return max(a.everywhere, a.within(target))
}

// within returns the greatest limit (number of admitted depths) of the seeds whose scopes contain the
// target. Seeds of scope Any are left out; the method levels includes them. If no other seed's scope
// contains the target, the result is 0.
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

// SitesOf returns the sites that contain all addresses in the scopes of a seed, except for the scope Any, which is
// the whole web. Usually this is one site, that of the seed. There may be a second one, because a scope treats a
// host and the same host with www. before it as one. Example: if co.example is a public suffix, www.co.example is
// a site of its own.
func SitesOf(seed address.Address) []string {
	sites := []string{seed.Site}
	for _, host := range []string{plainHost(seed), "www." + plainHost(seed)} {
		if at, err := address.Parse("http://" + host + "/"); err == nil && !slices.Contains(sites, at.Site) {
			sites = append(sites, at.Site)
		}
	}
	return sites
}

// plainHost returns the host without a leading "www.". For scopes, www.example.org and example.org are
// the same host.
func plainHost(a address.Address) string { return strings.TrimPrefix(a.Host, "www.") }

// directory returns a path up to its last slash, without the query: /a/ for /a/b?c=/d.
func directory(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return path[:strings.LastIndexByte(path, '/')+1]
}

// parent returns the directory that contains directory d, "" if d is "/".
func parent(d string) string { return d[:strings.LastIndexByte(d[:len(d)-1], '/')+1] }
