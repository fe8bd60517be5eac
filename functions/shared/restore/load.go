package restore

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// shareSize is how many URLs a frontier takes at once; some may wait while it
// does.
const shareSize = 2000

// share is a part of the URLs of one crawl partition's frontier.
type share struct {
	known   []frontier.Known
	due     []frontier.Due // of the known ones
	pending []frontier.Entry
	missed  bool // something is (see frontier.Counts)
}

// load judges every URL once and hands it to the frontier of its crawl
// partition, if that is one of these. The frontiers take what they are handed
// beside each other and beside the judging.
func (f *Frontiers) load(ctx context.Context, books *account.Bucket, fronts map[int]*frontier.Frontier, a *agenda) (urls, pending int, err error) {
	group, ctx := errgroup.WithContext(ctx)
	queues := make(map[int]chan share, len(fronts))
	for crawl, front := range fronts {
		queue := make(chan share, 2)
		queues[crawl] = queue
		group.Go(func() error {
			for part := range queue {
				if err := front.Mark(ctx, part.known); err != nil {
					return err
				}
				if _, err := front.Renew(ctx, f.Now(), part.due); err != nil {
					return err
				}
				if _, err := front.Admit(ctx, f.Now(), part.pending); err != nil {
					return err
				}
				if !part.missed {
					continue
				}
				if err := front.Miss(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() (err error) {
		urls, pending, err = divide(ctx, books, queues, a)
		return err
	})
	err = group.Wait()
	return urls, pending, err
}

// divider divides URLs among the shares of their crawl partitions.
type divider struct {
	*agenda
	rationed rationed
	shares   map[int]*share // what is to be handed to the queue
	urls     int
	pending  int
}

// divide fills the queues, and closes them when it returns. It ends with ctx.
func divide(ctx context.Context, books *account.Bucket, queues map[int]chan share, a *agenda) (urls, pending int, err error) {
	d := &divider{agenda: a, shares: make(map[int]*share, len(queues))}
	d.rationed = rationed{settings: a.settings, counts: membership.NewCounts(), waiting: make(map[string]bool)}
	for crawl, queue := range queues {
		d.shares[crawl] = new(share)
		defer close(queue)
	}
	hand := func(crawl int) error {
		select {
		case queues[crawl] <- *d.shares[crawl]:
			*d.shares[crawl] = share{}
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for u, err := range books.All() {
		if err != nil {
			return d.urls, d.pending, err
		}
		if crawl, full := d.add(u); full {
			if err := hand(crawl); err != nil {
				return d.urls, d.pending, err
			}
		}
	}
	d.rationed.release(
		func(crawl int, due frontier.Due) { d.shares[crawl].due = append(d.shares[crawl].due, due) },
		func(crawl int) { d.shares[crawl].missed = true },
	)
	for crawl := range queues {
		if err := hand(crawl); err != nil {
			return d.urls, d.pending, err
		}
	}
	return d.urls, d.pending, nil
}

// add adds a URL to the share of its crawl partition, and reports whether that
// is full. What the strategy has refused since, and what is no business of these
// frontiers, belongs to none.
func (d *divider) add(u account.URL) (crawl int, full bool) {
	d.rationed.count(u)
	crawl, err := d.settings.Crawl.Decide(u.Address)
	own := d.shares[crawl]
	if err != nil || own == nil {
		return crawl, false
	}
	switch {
	case u.State == account.Pending && u.Apart != "":
		return crawl, false
	case u.State == account.Pending:
		d.pending++
		own.pending = append(own.pending, entry(u))
	case u.Final.State != 0:
		own.known = append(own.known, known(d.settings, u))
		if due, found := renewalOf(d.agenda, u); found && !d.rationed.hold(crawl, u, due) {
			own.due = append(own.due, due)
		}
	default:
		return crawl, false
	}
	d.urls++
	return crawl, len(own.known)+len(own.pending) >= shareSize
}

// entry is that of a URL that waits on behalf of its Collection. One that was
// skipped for others remembers for whom.
func entry(u account.URL) frontier.Entry {
	e := frontier.Entry{
		URL: u.Address.URL, ID: u.Address.ID, Host: u.Address.Host,
		Depth: u.Depth, Hops: u.Hops, Weight: u.Weight, Sitemap: u.Sitemap,
		Attempts: u.Attempts, Exponent: u.Final.Exponent, Collection: u.Collection,
	}
	if u.State == account.Pending && u.Final.State == book.Skipped {
		e.Last = &batch.Look{Time: u.Final.Time, Collections: u.Final.Collections}
	}
	return e
}

// renewalOf returns the renewal of a URL that is to be asked for again: because that
// brings more to a collection, or because it is due. In the first case nothing
// that the server may compare with goes along, for its links are wanted.
func renewalOf(a *agenda, u account.URL) (due frontier.Due, found bool) {
	another := u.Collection
	if u.Apart != "" {
		another = ""
	}
	if u.Wanted && u.Apart == "" {
		due = frontier.Due{Entry: entry(u), Version: u.Final.Version}
		due.Attempts, due.Last = 0, batch.LookOf(u.Final)
		due.Last.ETag, due.Last.Modified, due.Last.Body = "", "", 0
		return due, true
	}
	if !u.Admitted || !a.isDue(u.Final) {
		return due, false
	}
	collection := a.dueFor(u.Final, u.Address, another)
	return renewal(u.Address, u.Final, collection), collection != ""
}

// known is what pack settles: a page counts on the tallies of the collections for
// which it is stored.
func known(s *settings.Settings, u account.URL) frontier.Known {
	k := frontier.Known{ID: u.Address.ID, State: u.Final.State, Version: u.Final.Version, Depth: u.Final.Depth}
	if u.State == account.Stored {
		k.Tallies = s.Tallies(u.Final.Collections, u.Address)
	}
	return k
}

// Older has all frontiers rebuilt, now, if Redis has never given the version of
// one of these batches, which are in the spool: it has become an older copy of
// itself, or lost which tokens it gave, and would give them again. What was
// committed since, Refresh knows by what frontiers have learnt.
func (f *Frontiers) Older(ctx context.Context, s *settings.Settings, spooled []layout.Version) error {
	var newest layout.Version
	for _, batch := range spooled {
		if batch.Compare(newest) > 0 {
			newest = batch
		}
	}
	if newest == (layout.Version{}) {
		return nil
	}
	var last layout.Version
	for _, crawl := range s.Crawl.Partitions() {
		epoch, err := frontier.New(f.Redis, crawl).Epoch(ctx)
		if errors.Is(err, frontier.ErrNotBuilt) {
			return nil // Refresh knows
		}
		if err != nil {
			return err
		}
		last.Epoch = max(last.Epoch, epoch)
	}
	given, err := frontier.Given(ctx, f.Redis)
	if last.Token = given; err != nil || newest.Compare(last) <= 0 {
		return err
	}
	f.Log.WarnContext(ctx, "Redis is older than the bucket", "last", last, "spooled", newest)
	if _, err = f.rebuild(ctx, s, s.Crawl.Partitions()); err != nil && !errors.Is(err, ErrRebuilding) {
		return fmt.Errorf("cannot rebuild after Redis, which gave %s last, turned out older than batch %s in the spool: %w", last, newest, err)
	}
	return nil
}

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
