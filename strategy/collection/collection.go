package collection

import (
	"fmt"
	"slices"
	"time"
)

// Scope says which addresses belong to a collection because of one of its seeds, such as all
// addresses of the seed's host.
type Scope string

// The scopes of a seed, from the narrowest to the widest. All ignore the scheme, its default port,
// and "www." before the name of a host.
const (
	Prefix Scope = "prefix" // addresses of the seed's host below the seed's directory
	Host   Scope = "host"   // all addresses of the seed's host
	Site   Scope = "site"   // all addresses of hosts that have the seed's registrable domain
	Any    Scope = "any"    // all addresses of the web
)

const scopes = string(Prefix + ", " + Host + ", " + Site + " or " + Any)

// ParseScope returns the scope with the given name. If there is no such scope, the error lists the
// names of all scopes.
func ParseScope(name string) (Scope, error) {
	switch scope := Scope(name); scope {
	case Prefix, Host, Site, Any:
		return scope, nil
	}
	return "", fmt.Errorf("scope %q: choose %s", name, scopes)
}

// Unlimited stands for a depth or a number of pages without a limit.
const Unlimited = -1

// DefaultPatternPages is the default of Collection.PatternPages: the maximum number of stored pages
// whose addresses differ only in numbers and ids (see address.Pattern). It stops the endless pages of
// a calendar or a maze of links before they dominate the crawl.
const DefaultPatternPages = 10_000

// Seed is a URL at which a crawl begins, and how far the crawl goes from there.
type Seed struct {
	URL   string `json:"url"` // URL in the form in which a person writes it (see ParseSeed)
	Scope Scope  `json:"scope"`
	Depth int    `json:"depth"` // maximum number of links from the seed, or Unlimited
}

// Collection is one version of the settings of a crawl.
type Collection struct {
	Name    string   `json:"name"`
	Version uint64   `json:"version"`
	Seeds   []Seed   `json:"seeds"`
	Delay   Duration `json:"delay"` // pause from the end of a response to the next request on a host
	// maximum number of batches of one host that are fetched at the same time
	HostConnections int `json:"host_connections"`
	// number of stored pages at which the crawl stops for this collection; 0: no limit
	Pages int64  `json:"pages"`
	Agent string `json:"agent"` // User-Agent of the requests
	// Again is a time: URLs that failed before it are requested again, because a site that was down may
	// be up.
	Again time.Time `json:"again,omitzero"`
	// Renew is a time: pages that were last requested before it are requested again.
	Renew time.Time `json:"renew,omitzero"`

	// Include and Exclude are lists of patterns. An address in scope is crawled if it
	// matches one of Include and none of Exclude. An empty Include matches everything.
	Include []string `json:"include,omitzero"`
	Exclude []string `json:"exclude,omitzero"`
	// DropParameters are patterns of the URL parameters that are dropped from links (see
	// address.NewCleaner); nil means those of address.DefaultCleaner.
	DropParameters []string `json:"drop_parameters,omitzero"`
	Sitemaps       []string `json:"sitemaps,omitzero"` // URLs of sitemaps

	// maximum number of batches of all hosts that are fetched at the same time; 0: no limit
	Connections int   `json:"connections,omitzero"`
	HostPages   int64 `json:"host_pages,omitzero"` // maximum number of stored pages of a host; 0: no limit
	// PatternPages is the maximum number of stored pages whose addresses differ only in numbers and
	// ids (see address.Pattern), or Unlimited; 0 means DefaultPatternPages.
	PatternPages int64    `json:"pattern_pages,omitzero"`
	Schedule     Schedule `json:"schedule,omitzero"`
	// ISO 639 code of the only language whose pages searches show; "": pages in all languages
	Language string `json:"language,omitzero"`
	Topic    *Topic `json:"topic,omitzero"` // subject of the pages that are crawled; nil: any subject
	// Allow lists the addresses that may be requested although they are not public: CIDR
	// ranges, IP addresses and host names.
	Allow []string `json:"allow,omitzero"`
	// Assets says that the images, style sheets, fonts and scripts of pages are stored, too.
	Assets bool `json:"assets,omitzero"`
}

// With returns the collection with these seeds added. A seed replaces an earlier one with
// the same canonical URL.
func (c Collection) With(seeds []Seed) Collection {
	c.Seeds = slices.Clone(c.Seeds)
	at := make(map[string]int, len(c.Seeds)+len(seeds))
	for i, seed := range c.Seeds {
		at[canonical(seed.URL)] = i
	}
	for _, seed := range seeds {
		seed.URL = canonical(seed.URL)
		if i, known := at[seed.URL]; known {
			c.Seeds[i] = seed
			continue
		}
		at[seed.URL] = len(c.Seeds)
		c.Seeds = append(c.Seeds, seed)
	}
	return c
}

// canonical returns the canonical URL of a seed. It returns an invalid seed unchanged,
// so that Validate reports it.
func canonical(seed string) string {
	if a, err := ParseSeed(seed); err == nil {
		return a.URL
	}
	return seed
}
