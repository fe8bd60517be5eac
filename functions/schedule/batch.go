package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// candidate is a URL that the frontier has leased, and that may become a target of the batch.
type candidate struct {
	frontier.Entry
	page  address.Address
	agent string // user agent of the URL's collection
	// limits on the number of pages of the URL's collection; none for stored pages and sitemaps
	limits []membership.Limit
}

// batch makes a batch of a lease. A lease has URLs of one host, which the frontier hands out for a
// time. A batch is the message that makes fetch request these URLs. The caller adds the crawl
// partition and the deadline. All pages of a batch are stored in the storage partition of its first
// URL.
//
//	URL of the lease   if
//	denied             a known robots.txt denies it, or a limit of its collection is reached
//	left out           the batch has no time or no bytes left for it, or the URLs before it, or those
//	                   of batches that are being fetched, will reach a limit of its collection if they are stored
//	requested          otherwise
//
// A denied URL goes with the batch, too, with the reason. When the outcomes of the batch are
// settled (entered in the frontier), a URL that was left out waits again, before others of its
// priority. The parameter decided is Counts.Decided of the frontier, and under is the number of URLs that
// other batches of the host have under way; 0 if these do not count toward the limits.
func (f *Function) batch(ctx context.Context, front *frontier.Frontier, s *settings.Settings, lease frontier.Lease, decided, under int64) (batch.Batch, error) {
	b := batch.Batch{Version: lease.Version, Host: lease.Host, NotBefore: lease.NotBefore, Failures: lease.Failures}
	urls, forgotten, err := f.candidates(s, lease)
	if err == nil && len(forgotten) > 0 {
		err = errors.Join(front.Miss(ctx), front.Forget(ctx, forgotten)) // Miss, as the takedown may be undone
	}
	if err != nil || len(urls) == 0 {
		return b, err
	}
	storage, err := s.Store(urls[0].page)
	if err != nil {
		return b, fmt.Errorf("no storage partition for %s: %w", urls[0].URL, err)
	}
	b.Storage = storage
	robots, err := f.robots(ctx, urls)
	if err != nil {
		return b, err
	}
	counted, err := tally(ctx, front, urls, under)
	if err != nil {
		return b, err
	}
	delay := robots.delay
	for _, u := range urls {
		delay = max(delay, s.DelayOf(u.Collection))
	}
	b.DelayMillis = delay.Milliseconds()
	room, bytes := f.fit(delay, decided), 0
	if slices.ContainsFunc(urls, func(u candidate) bool { return u.Last == nil && s.Collection(u.Collection).Topic != nil }) {
		room = min(room, fit(topicTime, delay))
	}
	var asked []candidate
	for _, u := range urls {
		denied := ""
		if full, found := counted.Full(u.limits); robots.denies(u) {
			denied = membership.Robots
		} else if found {
			denied = full.Reason
		} else if len(asked) == room || !counted.Take(u.limits) {
			continue // the URLs before it may reach the limit; that is known once they are stored
		}
		if bytes += size(u); bytes > batch.MaxBytes && len(b.Targets) > 0 {
			break
		}
		b.Targets = append(b.Targets, u.target(denied))
		if denied == "" {
			asked = append(asked, u)
		}
	}
	b.Robots = robots.missing(asked)
	return b, nil
}

// tally returns how many stored pages count towards each limit of the URLs. It reads the numbers by
// one request to Redis. The parameter under is a number of URLs that are being fetched, and that may all
// count towards each limit. Other pages that are being fetched are not counted. So batches that several
// connections of a host are leased at the same time may together exceed a limit by some pages.
func tally(ctx context.Context, front *frontier.Frontier, urls []candidate, under int64) (membership.Counts, error) {
	t := membership.NewCounts()
	for _, u := range urls {
		for _, limit := range u.limits {
			t.Stored[limit.Tally], t.Taken[limit.Tally] = 0, under
		}
	}
	if len(t.Stored) == 0 {
		return t, nil
	}
	names := slices.Sorted(maps.Keys(t.Stored))
	counts, err := front.Tallies(ctx, names)
	if err != nil {
		return t, err
	}
	for i, name := range names {
		t.Stored[name] = counts[i]
	}
	return t, nil
}

// candidates parses the URLs of a lease. It leaves out those that a takedown covers, and returns them as
// forgotten. They were admitted before the takedown, and were in no book yet when the frontier followed it.
func (f *Function) candidates(s *settings.Settings, lease frontier.Lease) (urls []candidate, forgotten map[layout.Identity]frontier.Removal, err error) {
	forgotten = make(map[layout.Identity]frontier.Removal)
	for _, entry := range lease.Entries {
		page, err := address.Parse(entry.URL)
		if err != nil {
			return nil, nil, fmt.Errorf("url %q in the frontier: %w", entry.URL, err)
		}
		if s.Takedowns.Hidden().Forgets(page) {
			forgotten[page.ID] = frontier.Remove
			continue
		}
		u := candidate{Entry: entry, page: page, agent: cmp.Or(s.AgentOf(entry.Collection), f.Agent)}
		if entry.Last == nil && !entry.Sitemap {
			u.limits = s.Limits(entry.Collection, page)
			if entry.Asset {
				u.limits = s.AssetLimits(entry.Collection, page)
			}
		}
		urls = append(urls, u)
	}
	return urls, forgotten, nil
}

// target returns the URL as a target of the batch. The parameter denied is the reason why it must
// not be requested; "" if it may be.
func (u candidate) target(denied string) batch.Target {
	return batch.Target{
		URL:         u.URL,
		Depth:       u.Depth,
		Hops:        u.Hops,
		Weight:      u.Weight,
		Attempts:    u.Attempts,
		Exponent:    u.Exponent,
		Denied:      denied,
		Collections: []string{u.Collection},
		Sitemap:     u.Sitemap,
		Last:        u.Last,
	}
}

// size returns an upper bound of the bytes that the URL takes in the message of a batch. The
// message is JSON, which may need two bytes for each byte of the URL, and six for each byte of the
// ETag and Last-Modified.
func size(u candidate) int {
	const rest = 400 // names of fields, numbers, a collection
	n := rest + 2*len(u.URL)
	if u.Last != nil {
		n += 6 * (len(u.Last.ETag) + len(u.Last.Modified))
		for _, name := range u.Last.Collections {
			n += len(name) + len(`"",`)
		}
	}
	return n
}
