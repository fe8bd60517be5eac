package pack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// doubt is how much later than a sitemap says a page may have changed: many
// tell the day alone.
const doubt = 24 * time.Hour

// again returns the pages that are to be asked for before their time, by crawl
// partition: sitemaps say that they have changed since the last look at them,
// which the books tell. A page of which the books know nothing yet was had a
// moment ago. It reads the outcomes of the pages' sites, in the partitions in
// which these are stored; a damaged book costs no more than that its pages wait
// for their time.
func (f *Function) again(ctx context.Context, s *settings.Settings, changed []change) (map[int][]frontier.Due, error) {
	byStorage := make(map[layout.Partition][]change)
	for _, c := range changed {
		for _, storage := range s.Holding(c.page) {
			byStorage[storage] = append(byStorage[storage], c)
		}
	}
	last := make(map[layout.Identity]book.Standing, len(changed))
	for storage, pages := range byStorage {
		wanted, sites := make(map[layout.Identity]bool, len(pages)), make(map[uint32]bool)
		for _, c := range pages {
			wanted[c.page.ID], sites[c.page.Place.Site()] = true, true
		}
		if err := f.lastLooks(ctx, storage, sites, wanted, last); err != nil {
			return nil, fmt.Errorf("cannot look up what sitemaps say has changed: %w", err)
		}
	}
	due := make(map[int][]frontier.Due)
	for _, c := range changed {
		o := last[c.page.ID].Final
		if o == nil || o.State != book.Stored && o.State != book.Unchanged || !c.at.Add(doubt).After(o.Time) {
			continue
		}
		still := s.Asking(*o, c.page)
		if len(still) == 0 {
			continue
		}
		crawl, err := s.Crawl.Decide(c.page)
		if err != nil {
			return nil, err
		}
		due[crawl] = append(due[crawl], frontier.Due{Version: o.Version, Entry: frontier.Entry{
			URL: o.URL, ID: c.page.ID, Host: c.page.Host, Depth: o.Depth, Hops: o.Hops, Exponent: o.Exponent,
			Weight: c.weight, Collection: still[0], Last: batch.LookOf(*o),
		}})
	}
	return due, nil
}

// lastLooks folds what the books of a storage partition say of pages that are
// wanted, of these sites, into what is known of them.
func (f *Function) lastLooks(ctx context.Context, p layout.Partition, sites map[uint32]bool, wanted map[layout.Identity]bool, last map[layout.Identity]book.Standing) error {
	m, err := manifest.Read(ctx, f.Bucket, p)
	if err != nil {
		return err
	}
	books, err := partition.OpenBooks(ctx, f.Bucket, m.Books)
	if err != nil {
		return err
	}
	found := make([][]book.Outcome, len(m.Books))
	err = books.Each(ctx, func(ctx context.Context, i int, r *book.Reader) (err error) {
		found[i], err = outcomesOf(ctx, r, sites, wanted)
		return err
	})
	if err != nil {
		return err
	}
	for _, damaged := range books.Damaged() {
		f.Log.WarnContext(ctx, "a book does not tell which pages have changed", "partition", p, "error", damaged)
	}
	for _, outcomes := range found {
		for i := range outcomes {
			id := outcomes[i].Identity()
			standing := last[id]
			standing.Add(&outcomes[i])
			last[id] = standing
		}
	}
	return nil
}

// outcomesOf reads from one book the outcomes of the URLs that are wanted; none
// of one that is damaged.
func outcomesOf(ctx context.Context, reader *book.Reader, sites map[uint32]bool, wanted map[layout.Identity]bool) (found []book.Outcome, err error) {
	for site := range sites {
		from := layout.Place(site) << 32
		for o, err := range reader.Outcomes(ctx, layout.Range{From: from, To: from + 1<<32}) {
			if err != nil {
				return nil, err
			}
			if wanted[o.Identity()] {
				found = append(found, o)
			}
		}
	}
	return found, nil
}

// lastOf returns the last final outcomes of pages that the frontier calls
// stored and that links lead to, which are these targets. The spool comes first: what is packed in between is in the books.
func (f *Function) lastOf(ctx context.Context, s *settings.Settings, front *frontier.Frontier, entries []frontier.Entry, targets map[string]address.Address) (map[layout.Identity]*book.Outcome, error) {
	ids := make([]layout.Identity, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	decided, err := front.Decided(ctx, ids)
	if err != nil {
		return nil, err
	}
	byStorage := make(map[layout.Partition]map[layout.Identity]address.Address)
	for _, e := range entries {
		if _, found := decided[e.ID]; !found {
			continue
		}
		at := targets[e.URL]
		for _, p := range s.Holding(at) {
			if byStorage[p] == nil {
				byStorage[p] = make(map[layout.Identity]address.Address)
			}
			byStorage[p][at.ID] = at
		}
	}
	last := make(map[layout.Identity]*book.Outcome, len(decided))
	for p, pages := range byStorage {
		if err := f.spooledLooks(ctx, p, pages, decided, last); err != nil {
			return nil, err
		}
	}
	packed := make(map[layout.Identity]book.Standing)
	for p, pages := range byStorage {
		wanted, sites := make(map[layout.Identity]bool), make(map[uint32]bool)
		for id, at := range pages {
			if last[id] == nil {
				wanted[id], sites[at.Place.Site()] = true, true
			}
		}
		if len(wanted) == 0 {
			continue
		}
		if err := f.lastLooks(ctx, p, sites, wanted, packed); err != nil {
			return nil, err
		}
	}
	for id, standing := range packed {
		last[id] = standing.Final
	}
	return last, nil
}

// spooledLooks adds the outcomes of pages from the batches that decided, as far
// as their spool objects are still there.
func (f *Function) spooledLooks(ctx context.Context, p layout.Partition, pages map[layout.Identity]address.Address, decided map[layout.Identity]layout.Version, last map[layout.Identity]*book.Outcome) error {
	read := make(map[layout.Version]bool)
	for id := range pages {
		by := decided[id]
		if read[by] {
			continue
		}
		read[by] = true
		ledger, err := spool.ReadLedger(ctx, f.Bucket, layout.SpoolKey(p, by))
		switch {
		case errors.Is(err, blob.ErrAbsent), errors.Is(err, spool.ErrDamaged):
			continue
		case err != nil:
			return err
		}
		for i := range ledger.Outcomes {
			o := &ledger.Outcomes[i]
			if id := o.Identity(); decided[id] == by {
				last[id] = o
			}
		}
	}
	return nil
}

const (
	// robotsAge is how long a robots.txt is used (RFC 9309, section 2.4).
	robotsAge = 24 * time.Hour
	// robotsRest is how long a host is left alone whose robots.txt could not
	// be had. Nothing else of it may be asked for before.
	robotsRest = 5 * time.Second
)

// keepRobots caches the robots.txt files that came along. One that could not
// be had (RFC 9309, section 2.3.1.4) is not kept, because it would refuse for
// good what is refused for now; the host rests until the time returned.
func (f *Function) keepRobots(ctx context.Context, ledger spool.Ledger) (rest time.Time, err error) {
	cache := frontier.NewRobotsCache(f.Redis)
	for _, r := range ledger.Robots {
		if !robots.Reachable(r.Status) {
			rest = r.Fetched.Add(robotsRest) // they are asked one after another
			continue
		}
		if err := cache.Put(ctx, r.Origin, r.Status, r.Body, r.Fetched.Add(robotsAge)); err != nil {
			return time.Time{}, err
		}
	}
	return rest, nil
}

// delay returns the pause that follows a batch: the longest that the
// collections of its URLs ask for, or the robots.txt files of their origins. Who
// waits at all waits as long as answers take.
func (f *Function) delay(ctx context.Context, s *settings.Settings, pages []membership.Page, slow time.Duration) (time.Duration, error) {
	// agents are those in whose names an origin was asked.
	agents := make(map[string]map[string]bool)
	var delay time.Duration
	for _, p := range pages {
		origin := p.Address.Origin
		if agents[origin] == nil {
			agents[origin] = make(map[string]bool)
		}
		agents[origin][f.agent(s, p.Collections)] = true
		delay = max(delay, s.DelayOf(p.Collections...))
	}
	cached, err := frontier.NewRobotsCache(f.Redis).Get(ctx, f.Now(), slices.Collect(maps.Keys(agents))...)
	if err != nil {
		return 0, err
	}
	for origin, answer := range cached {
		for agent := range agents[origin] {
			delay = max(delay, robots.Parse(answer.Status, answer.Body, agent).Delay())
		}
	}
	if delay > 0 {
		delay = max(delay, slow)
	}
	return delay, nil
}

// agent is the User-Agent with which a URL was asked for on behalf of the first
// of these collections.
func (f *Function) agent(s *settings.Settings, collections []string) string {
	if len(collections) == 0 {
		return f.Agent
	}
	return cmp.Or(s.AgentOf(collections[0]), f.Agent)
}
