// Package collection says what to crawl. A collection is a versioned,
// immutable document in the bucket, as JSON:
//
//	{
//	  "name": "docs",
//	  "version": 3,
//	  "seeds": [{"url": "https://example.org/doc/", "scope": "prefix", "depth": -1}],
//	  "delay_ms": 1000,        from the end of a response to the next request on a host
//	  "connections": 1,        batches at a time on a host
//	  "stop_at": 0,            stored pages at which leasing stops; 0: never
//	  "agent": "ExampleBot/1.0",
//	  "again": "2026-11-21T22:00:00Z"   URLs that failed before are asked for again
//	}
package collection

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Scope says which addresses a seed stands for.
type Scope string

// The scopes, from the narrowest to the widest. They ignore the scheme, its
// own port, and "www." before the name of a host.
const (
	Prefix Scope = "prefix" // the seed's host, below the seed's directory
	Host   Scope = "host"   // the seed's host
	Site   Scope = "site"   // all hosts of the seed's registrable domain
	Any    Scope = "any"    // the whole web
)

// ParseScope returns the scope of this name.
func ParseScope(name string) (Scope, error) {
	switch scope := Scope(name); scope {
	case Prefix, Host, Site, Any:
		return scope, nil
	}
	return "", fmt.Errorf("scope %q: choose %s, %s, %s or %s", name, Prefix, Host, Site, Any)
}

// Unlimited is the depth without a limit.
const Unlimited = -1

// Seed is where a crawl begins and how far it goes from there.
type Seed struct {
	URL   string `json:"url"` // as ParseSeed takes it
	Scope Scope  `json:"scope"`
	Depth int    `json:"depth"` // links from the seed, or Unlimited
}

// Collection is one version of what to crawl.
type Collection struct {
	Name        string `json:"name"`
	Version     uint64 `json:"version"`
	Seeds       []Seed `json:"seeds"`
	DelayMillis int64  `json:"delay_ms"`
	Connections int    `json:"connections"`
	StopAt      int64  `json:"stop_at"`
	Agent       string `json:"agent"`
	// Again has URLs that failed before this time asked for again: a site that
	// was down may be up.
	Again time.Time `json:"again,omitzero"`
}

// With returns the collection with more seeds. A seed of the same canonical
// URL as an earlier one takes its place.
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

// canonical returns the canonical form of a seed; one that has none stays as
// it is, for Validate to complain of.
func canonical(seed string) string {
	if a, err := ParseSeed(seed); err == nil {
		return a.URL
	}
	return seed
}

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// Validate says what is wrong with the collection.
func (c Collection) Validate() error {
	switch {
	case !namePattern.MatchString(c.Name):
		return fmt.Errorf("name %q: want up to 63 lower-case letters, digits and hyphens", c.Name)
	case c.DelayMillis < 0:
		return fmt.Errorf("delay of %d ms: want 0 or more", c.DelayMillis)
	case c.Connections < 1:
		return fmt.Errorf("%d connections on a host: want 1 or more", c.Connections)
	case c.StopAt < 0:
		return fmt.Errorf("stop at %d pages: want 0 for never, or more", c.StopAt)
	case strings.ContainsFunc(c.Agent, func(r rune) bool { return r < ' ' || r > '~' }):
		return fmt.Errorf("agent %q: want printable ASCII", c.Agent)
	case c.Agent == "":
		return errors.New("no agent: web sites want to know who asks")
	}
	_, err := c.Rules()
	return err
}
