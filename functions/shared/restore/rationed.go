package restore

import (
	"context"
	"maps"
	"slices"

	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// maxRationed is the maximum number of requests that rationed holds back, so that they need little
// memory. A later rebuild decides on further ones (see frontier.Counts.Missed).
const maxRationed = 10_000

// rationed holds certain requests back until all stored pages are counted. Example: a page is stored for the
// collection A. The collection B, which is newer, wants the page too, so it must be requested again. But B has a
// limit of 100 pages. The frontiers count the pages of each collection (Frontier.Tallies). Only when every range
// is loaded are these counts complete, and show whether B has room for the page. Until then, rationed holds the
// request back.
//
// After that, release makes the requests that are within the limits. But it makes none for a collection that has
// pending URLs: these are fetched first.
type rationed struct {
	settings *settings.Settings
	waiting  map[string]bool // collections that have both a limit and pending URLs
	unseen   bool            // an earlier process has loaded some ranges: any collection may have pending URLs
	due      []ration        // requests that are held back, each for a page that is stored already
	// crawl partitions with a page that a collection may lack, and on which a later rebuild decides
	missed map[int]bool
}

// ration is a request for a stored page that waits until all stored pages are counted (see
// rationed). It has the crawl partition of the page, the request, and the limits of the collection
// for which the request is made. The page would count towards these limits.
type ration struct {
	crawl  int
	due    frontier.Due
	bounds []membership.Limit
}

// see notes the collection of a pending URL, if the collection has a limit.
func (r *rationed) see(u account.URL) {
	if u.State == account.Pending && r.settings.IsLimited(u.Collection) {
		r.waiting[u.Collection] = true
	}
}

// hold decides whether a request for a stored page must wait until all stored pages are counted,
// and returns true if so. It must wait if it is made because a collection lacks the page
// (u.Wanted), and this collection (u.Collection) has a limit of pages. hold then adds the request
// to r.due or, if there are too many, notes that a later rebuild decides on it.
func (r *rationed) hold(crawl int, u account.URL, due frontier.Due) bool {
	if !u.Wanted || !r.settings.IsLimited(u.Collection) {
		return false
	}
	if len(r.due) < maxRationed {
		r.due = append(r.due, ration{crawl, due, r.settings.Bounds(u.Collection, u.Address, u.Final.Asset)})
	} else {
		r.missed[crawl] = true
	}
	return true
}

// release decides on the requests that hold has held back, one after another. Each is a request for a
// stored page that a collection lacks. The first row that applies holds:
//
//	with this page, the collection would exceed a limit   the page is not requested
//	the collection has pending URLs                       a later rebuild decides
//	else                                                  the page is requested
//
// release returns the requests for each crawl partition.
func (r *rationed) release(ctx context.Context, all []*frontier.Frontier) (map[int][]frontier.Due, error) {
	counts, err := r.stored(ctx, all)
	if err != nil {
		return nil, err
	}
	made := make(map[int][]frontier.Due)
	for _, d := range r.due {
		switch {
		case !counts.Take(d.bounds):
		case r.unseen || r.waiting[d.due.Collection]:
			r.missed[d.crawl] = true
		default:
			made[d.crawl] = append(made[d.crawl], d.due)
		}
	}
	return made, nil
}

// stored returns the numbers of stored URLs that count toward the limits of the requests in r.due, as
// the frontiers of all crawl partitions have counted them.
func (r *rationed) stored(ctx context.Context, all []*frontier.Frontier) (membership.Counts, error) {
	counts := membership.NewCounts()
	for _, d := range r.due {
		for _, bound := range d.bounds {
			counts.Stored[bound.Tally] = 0
		}
	}
	names := slices.Sorted(maps.Keys(counts.Stored))
	if len(names) == 0 {
		return counts, nil
	}
	for _, front := range all {
		numbers, err := front.Tallies(ctx, names)
		if err != nil {
			return counts, err
		}
		for i, n := range numbers {
			counts.Stored[names[i]] += n
		}
	}
	return counts, nil
}
