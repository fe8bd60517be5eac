package restore

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/run"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// leads finds redirects and aliases that must be requested again. Each of them leads to another URL. If a request
// of that URL has failed after the last request of the redirect or alias, this may lead elsewhere by now, or be a
// page itself. The frontiers (queues of URLs in Redis) know which URLs have failed.
type leads struct {
	*Frontiers
	settings *settings.Settings
	last     []book.Outcome // final outcomes (records of the last requests) of redirects and aliases
	to       [][]run.URL    // to[i] has the destinations of the i-th URL in the field last
}

// see adds a URL to l if it is a redirect or an alias. The parameter is its last final outcome. If the result full
// is true, l has no more room, and found must be called next.
func (l *leads) see(last book.Outcome) (full bool) {
	if membership.LeadsTo(last) != "" {
		var to []run.URL
		for _, at := range l.settings.LedTo(last) {
			to = append(to, run.URL{Site: at.Place.Site(), ID: at.ID})
		}
		l.last, l.to = append(l.last, last), append(l.to, to)
	}
	return len(l.last) >= shareSize
}

// found returns the final outcomes of those redirects and aliases that must be requested again, among all that see
// has added. It empties l.
func (l *leads) found(ctx context.Context) (again []book.Outcome, err error) {
	urls := slices.Concat(l.to...)
	failed := make(map[layout.Identity]layout.Version)
	for _, crawl := range l.settings.Crawl.Partitions() {
		some, err := frontier.New(l.Redis, crawl).WithRuns(l.Bucket).WithRunCache(&l.runs).Failed(ctx, urls)
		if err != nil {
			return nil, err
		}
		for id, by := range some {
			if by.Compare(failed[id]) > 0 {
				failed[id] = by
			}
		}
	}
	for i, last := range l.last {
		if slices.ContainsFunc(l.to[i], func(u run.URL) bool { return failed[u.ID].Compare(last.Version) > 0 }) {
			again = append(again, last)
		}
	}
	l.last, l.to = l.last[:0], l.to[:0]
	return again, nil
}
