package schedule

import (
	"context"
	"maps"
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// tallies say how many pages are stored of what is limited, and how many more
// a batch may store.
type tallies struct{ stored, expected map[string]int64 }

// tally reads the tallies on which the URLs of a lease count, with one request
// at most.
func tally(ctx context.Context, front *frontier.Frontier, urls []candidate) (tallies, error) {
	t := tallies{stored: make(map[string]int64), expected: make(map[string]int64)}
	for _, u := range urls {
		for _, limit := range u.limits {
			t.stored[limit.Tally] = 0
		}
	}
	if len(t.stored) == 0 {
		return t, nil
	}
	names := slices.Sorted(maps.Keys(t.stored))
	counts, err := front.Tallies(ctx, names)
	if err != nil {
		return t, err
	}
	for i, name := range names {
		t.stored[name] = counts[i]
	}
	return t, nil
}

// judge returns the reason for which a URL is not asked for, as many as a limit
// allows being stored. If they might be once the batch has stored what it asks
// for, the URL waits until that is known. Batches that are out at the same time
// do not know of each other: as many more as they ask for may be stored.
func (t tallies) judge(limits []settings.Limit) (denied string, waits bool) {
	for _, limit := range limits {
		stored := t.stored[limit.Tally]
		if stored >= limit.Pages {
			return limit.Reason, false
		}
		waits = waits || stored+t.expected[limit.Tally] >= limit.Pages
	}
	return "", waits
}

// expect counts a URL that is asked for.
func (t tallies) expect(limits []settings.Limit) {
	for _, limit := range limits {
		t.expected[limit.Tally]++
	}
}
