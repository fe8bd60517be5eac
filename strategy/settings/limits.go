package settings

import (
	"math"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Delay returns the pause between the end of a response and the next request
// on a host. Collections share hosts, so the longest holds.
func (s *Settings) Delay() time.Duration {
	var longest collection.Duration
	for _, c := range s.Collections {
		longest = max(longest, c.Delay)
	}
	return time.Duration(longest)
}

// DelayOf returns the pause that these collections ask for: the longest.
func (s *Settings) DelayOf(names ...string) time.Duration {
	var longest collection.Duration
	for _, c := range s.Collections {
		if slices.Contains(names, c.Name) {
			longest = max(longest, c.Delay)
		}
	}
	return time.Duration(longest)
}

// A sitemap may bring tens of thousands of URLs. No other of the host is read
// while so many wait there, or twice as many as the collection may have pages.
const (
	maxWaiting   = 10_000
	leastWaiting = 1_000
)

// MaxWaiting returns how many URLs may wait on a host of which a sitemap is
// read: the most that any collection has a use for.
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

// AgentOf returns the User-Agent of the collection, "" if it has none.
func (s *Settings) AgentOf(name string) string { return s.Collection(name).Agent }

// HostConnections returns how many batches may be out on a host: the fewest that
// any collection asks for.
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

// Connections returns how many batches may be out at once on all hosts: the fewest
// that any collection asks for, 0 if none says.
func (s *Settings) Connections() int {
	fewest := 0
	for _, c := range s.Collections {
		if c.Connections > 0 && (fewest == 0 || c.Connections < fewest) {
			fewest = c.Connections
		}
	}
	return fewest
}

// Allow returns the addresses that are not public and that any collection lets
// be fetched, sorted, each once.
func (s *Settings) Allow() []string {
	var all []string
	for _, c := range s.Collections {
		all = append(all, c.Allow...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
