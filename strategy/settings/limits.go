package settings

import (
	"math"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Delay returns the pause from the end of a response to the next request on a host: the
// longest Delay of any collection, because all collections share the hosts.
func (s *Settings) Delay() time.Duration {
	var longest collection.Duration
	for _, c := range s.Collections {
		longest = max(longest, c.Delay)
	}
	return time.Duration(longest)
}

// DelayOf returns the longest Delay of the collections with these names.
func (s *Settings) DelayOf(names ...string) time.Duration {
	var longest collection.Duration
	for _, c := range s.Collections {
		if slices.Contains(names, c.Name) {
			longest = max(longest, c.Delay)
		}
	}
	return time.Duration(longest)
}

// Each collection allows a certain number of URLs of one host to wait in the frontier. If the
// collection has a limit of pages, this is twice the limit, but at least leastWaiting and at most
// maxWaiting. Otherwise it is maxWaiting. While more URLs wait than any collection allows, the host's
// sitemaps are not read, because each may list tens of thousands of URLs (see MaxWaiting).
const (
	maxWaiting   = 10_000
	leastWaiting = 1_000
)

// MaxWaiting returns how many URLs of a host may wait in the frontier before the host's sitemaps are
// no longer read. It is the highest number that any collection allows (see maxWaiting).
func (s *Settings) MaxWaiting() int64 {
	most := int64(leastWaiting)
	for _, c := range s.Collections {
		wanted := int64(maxWaiting)
		if c.Pages > 0 {
			wanted = min(wanted, 2*c.Pages)
		}
		most = max(most, wanted)
	}
	return most
}

// AgentOf returns the User-Agent of the collection with the name, "" if it has none.
func (s *Settings) AgentOf(name string) string { return s.Collection(name).Agent }

// HostConnections returns how many batches of one host may be fetched at the same time:
// the lowest HostConnections of any collection; 1 if there is no collection.
func (s *Settings) HostConnections() int {
	if len(s.Collections) == 0 {
		return 1
	}
	fewest := math.MaxInt
	for _, c := range s.Collections {
		fewest = min(fewest, c.HostConnections)
	}
	return fewest
}

// Connections returns how many batches of all hosts together may be fetched at the same
// time: the lowest Connections of any collection; 0 (no limit) if no collection sets it.
func (s *Settings) Connections() int {
	fewest := 0
	for _, c := range s.Collections {
		if c.Connections > 0 && (fewest == 0 || c.Connections < fewest) {
			fewest = c.Connections
		}
	}
	return fewest
}

// Allow returns the union of the lists Allow of all collections: addresses that may be
// requested although they are not public. It is sorted and without repetitions.
func (s *Settings) Allow() []string {
	var all []string
	for _, c := range s.Collections {
		all = append(all, c.Allow...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
