package restore

import (
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// rationed is what collections with a limit of pages want of those that others
// have: it is held back until all pages are counted, and longer where other URLs
// wait for the same room.
type rationed struct {
	settings *settings.Settings
	counts   membership.Counts // of pages that such collections have
	waiting  map[string]bool   // such collections for which URLs wait
	due      []ration
}

type ration struct {
	crawl  int
	due    frontier.Due
	bounds []membership.Limit
}

// count counts a page that is stored, and notes for whom one waits.
func (r *rationed) count(u account.URL) {
	if u.State == account.Pending && r.settings.IsLimited(u.Collection) {
		r.waiting[u.Collection] = true
	}
	if u.State != account.Stored {
		return
	}
	for _, name := range u.Final.Collections {
		if r.settings.IsLimited(name) {
			for _, bound := range r.settings.Bounds(name, u.Address) {
				r.counts.Stored[bound.Tally]++
			}
		}
	}
}

// hold holds a renewal back, and reports whether it has to.
func (r *rationed) hold(crawl int, u account.URL, due frontier.Due) bool {
	if !u.Wanted || !r.settings.IsLimited(u.Collection) {
		return false
	}
	r.due = append(r.due, ration{crawl, due, r.settings.Bounds(u.Collection, u.Address)})
	return true
}

// release hands out what there is room for, or tells where that is missed.
func (r *rationed) release(hand func(crawl int, due frontier.Due), miss func(crawl int)) {
	for _, d := range r.due {
		switch {
		case !r.counts.Take(d.bounds):
		case r.waiting[d.due.Collection]:
			miss(d.crawl)
		default:
			hand(d.crawl, d.due)
		}
	}
}
