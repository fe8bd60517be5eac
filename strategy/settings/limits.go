package settings

import (
	"math"
	"slices"
	"time"
)

// Delay returns the pause between the end of a response and the next request
// on a host. Collections share hosts, so the longest holds.
func (s *Settings) Delay() time.Duration {
	var longest int64
	for _, c := range s.Collections {
		longest = max(longest, c.DelayMillis)
	}
	return time.Duration(longest) * time.Millisecond
}

// DelayOf returns the pause that these collections ask for: the longest.
func (s *Settings) DelayOf(names ...string) time.Duration {
	var longest int64
	for _, c := range s.Collections {
		if slices.Contains(names, c.Name) {
			longest = max(longest, c.DelayMillis)
		}
	}
	return time.Duration(longest) * time.Millisecond
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
		if c.StopAt > 0 {
			wanted = min(wanted, 2*c.StopAt)
		}
		most = max(most, wanted)
	}
	return most
}

// AgentOf returns the User-Agent of the collection, "" if it has none.
func (s *Settings) AgentOf(name string) string { return s.Collection(name).Agent }

// Connections returns how many batches may be out on a host: the fewest that
// any collection asks for.
func (s *Settings) Connections() int {
	if len(s.Collections) == 0 {
		return 1
	}
	fewest := math.MaxInt
	for _, c := range s.Collections {
		fewest = min(fewest, c.Connections)
	}
	return fewest
}

// Fetches returns how many batches may be out at once on all hosts: the fewest
// that any collection asks for, 0 if none says.
func (s *Settings) Fetches() int {
	fewest := 0
	for _, c := range s.Collections {
		if c.Fetches > 0 && (fewest == 0 || c.Fetches < fewest) {
			fewest = c.Fetches
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
