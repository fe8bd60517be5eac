// Package rules holds strategies: they assign every URL to a crawl partition, which
// requests it, and to a storage partition, which keeps its page (thesis 2006,
// chapter 3).
//
// A strategy is a versioned, immutable document in the bucket, as JSON:
//
//	{
//	  "kind": "crawl",                     or "storage"
//	  "version": 2,
//	  "from": "2026-11-21T22:00:00Z",      time from which on the version is valid
//	  "expires": "…", "due": "…",          when it ends, and when the next is due; omitted: never
//	  "standard": "whatwg-1",              address.Standard for which the ranges were made
//	  "rules": [
//	    {"refuse": true, "pattern": "*://*/cgi-bin/*"},
//	    {"site": "example.org", "partition": 3},
//	    {"range": {"from": 0, "to": 9223372036854775808}, "partition": 0},
//	    {"range": {"from": 9223372036854775808, "to": 0}, "partition": 1}
//	  ]
//	}
//
// The first rule that matches a URL decides. A range matches URLs by a 64-bit hash of
// them (layout.Place). The ranges of the rules must not overlap, and must cover the
// whole hash space unless a rule has the pattern "*". The newest
// version whose time "from" has come is in force, even if it has expired. A new storage
// strategy applies to new pages; stored pages stay in their partitions, and are searched there.
//
// So partitions split and join while all goes on: the next version has another partition for some
// of the ranges (see Document.Split and Document.Join), and nothing else is to be agreed upon.
//
//	what                                             after the version holds
//	batches that were leased before                  are stored in the partition that they name
//	changed pages of URLs with another partition     are stored there; the sweep masks the older versions
//	                                                 in the partition before
//	unchanged pages of URLs with another partition   stay in the partition before
//	queues of URLs, if storage partitions changed    stay as they are
//	queues of URLs, if crawl partitions changed      are built anew for the partitions that gain or lose URLs;
//	                                                 until then no partition leases URLs
package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// Kind is the kind of a strategy, which assigns URLs either to crawl partitions or to storage
// partitions.
type Kind string

// The kinds of strategies.
const (
	Crawl   Kind = "crawl"
	Storage Kind = "storage"
)

// MaxPartitions is the maximum number of partitions: their names in keys have four digits.
const MaxPartitions = 10000

var (
	// ErrRefused: the first rule that matches refuses the URL.
	ErrRefused = errors.New("strategy says not to crawl")
	// ErrNoRule: no rule of the strategy matches the URL.
	ErrNoRule = errors.New("no rule of the strategy matches")
)

// Rule assigns the URLs that it matches to a partition, or refuses them. It has exactly
// one of Pattern, Site and Range.
type Rule struct {
	// true: the URLs that the rule matches are not crawled; never true with Range
	Refuse bool `json:"refuse,omitempty"`
	// the rule matches canonical URLs that match this pattern as a whole; '*' stands for any sequence
	// of characters
	Pattern string `json:"pattern,omitempty"`
	// the rule matches URLs of the site with this name (see address.Address)
	Site      string        `json:"site,omitempty"`
	Range     *layout.Range `json:"range,omitempty"` // the rule matches URLs whose places (hashes) are in this range
	Partition int           `json:"partition"`       // partition of the URLs; 0 if Refuse is true
}

// Document is one version of a strategy.
type Document struct {
	Kind    Kind      `json:"kind"`
	Version uint64    `json:"version"`
	From    time.Time `json:"from"`             // time from which on the version is valid
	Expires time.Time `json:"expires,omitzero"` // time at which the version expires; zero: never
	Due     time.Time `json:"due,omitzero"`     // time at which the next version is due; zero: none is planned
	// version of the rules for canonical URLs (see address.Standard) for which the rules with a Range
	// were made
	Standard string `json:"standard"`
	Rules    []Rule `json:"rules"`
}

// Even returns version 1 of a strategy that divides the hash space into ranges of equal width, one
// for each partition. All pages of a site are in the same range. The version is valid from the given
// time on.
func Even(kind Kind, partitions int, now time.Time) Document {
	d := Document{Kind: kind, Version: 1, From: now.UTC().Truncate(time.Millisecond), Standard: address.Standard}
	bound := func(i int) layout.Place {
		return layout.Place(uint64(i)<<32/uint64(partitions)) << 32 // 0 for i = partitions: the end of the space
	}
	for i := range partitions {
		d.Rules = append(d.Rules, Rule{Range: &layout.Range{From: bound(i), To: bound(i + 1)}, Partition: i})
	}
	return d
}

// Decide returns the partition to which the rules assign an address. It fails with
// ErrRefused or ErrNoRule.
func (d Document) Decide(a address.Address) (partition int, err error) {
	for _, r := range d.Rules {
		switch {
		case !r.matches(a):
		case r.Refuse:
			return 0, fmt.Errorf("%s: %w", a.URL, ErrRefused)
		default:
			return r.Partition, nil
		}
	}
	return 0, fmt.Errorf("%s: %w (%s, version %d)", a.URL, ErrNoRule, d.Kind, d.Version)
}

// OfSite returns the partitions that may hold pages of the site of an address: more
// than one if the rules divide the site.
func (d Document) OfSite(a address.Address) []int {
	site := a.Place.SiteRange()
	var partitions []int
	for _, r := range d.Rules {
		some, all := r.ofSite(a.Site, site)
		if some && !r.Refuse && !slices.Contains(partitions, r.Partition) {
			partitions = append(partitions, r.Partition)
		}
		if all {
			break
		}
	}
	return partitions
}

// ofSite compares the rule with a site, which is given by its name and by the range of its pages'
// places (hashes). The first result is true if the rule may match some pages of the site. The second
// is true if the rule certainly matches all pages of the site.
func (r Rule) ofSite(name string, site layout.Range) (some, all bool) {
	switch {
	case r.Range != nil:
		return r.Range.Overlaps(site), r.Range.Contains(site.From) && r.Range.Contains(site.To-1)
	case r.Site != "":
		return r.Site == name, r.Site == name
	}
	return true, strings.Trim(r.Pattern, "*") == ""
}

// Partitions returns the partitions of the rules, sorted by number, without repetitions.
func (d Document) Partitions() []int {
	var partitions []int
	for _, r := range d.Rules {
		if !r.Refuse {
			partitions = append(partitions, r.Partition)
		}
	}
	slices.Sort(partitions)
	return slices.Compact(partitions)
}

func (r Rule) matches(a address.Address) bool {
	switch {
	case r.Range != nil:
		return r.Range.Contains(a.Place)
	case r.Site != "":
		return r.Site == a.Site
	default:
		return glob(r.Pattern, a.URL)
	}
}

// glob reports whether a pattern, in which '*' stands for any sequence of characters, matches the
// whole text. It takes linear time: each part between two '*' is searched for once, after the place
// where the part before it was found.
func glob(pattern, text string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	text, ok := strings.CutPrefix(text, first)
	if !star {
		return ok && text == ""
	}
	for ok {
		part, behind, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, part)
		}
		_, text, ok = strings.Cut(text, part)
		rest = behind
	}
	return false
}
