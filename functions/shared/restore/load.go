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

// shareSize is the number of URLs that are written into a frontier in one call.
const shareSize = 2000

// share is a group of URLs of one crawl partition that are written into its frontier (its queues in
// Redis) in one call.
type share struct {
	known   []frontier.Known // URLs with a final state
	due     []frontier.Due   // URLs with a final state that are to be fetched again
	pending []frontier.Entry // pending URLs, which have no final state yet: they wait to be fetched
	missed  bool             // whether a collection wants pages that are stored only for other collections (see frontier.Counts.Missed)
}

// load goes once through all URLs that the books (the records in the bucket) name. It writes each
// URL into the frontier (the queues in Redis) of its crawl partition, but leaves out partitions
// that are not in the parameter fronts. It returns how many URLs it wrote, and how many of these
// are pending. The frontiers are written concurrently.
func (f *Frontiers) load(ctx context.Context, books *account.Bucket, fronts map[int]*frontier.Frontier, a *dueTimes) (urls, pending int, err error) {
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

// divider divides URLs among the frontiers (queues in Redis) that are rebuilt. It collects the URLs
// of each crawl partition in groups of at most shareSize. Each group is then written into the
// partition's frontier in one call.
type divider struct {
	*dueTimes
	rationed rationed
	shares   map[int]*share // for each crawl partition, the group of URLs that is being filled
	urls     int            // number of URLs put into groups so far
	pending  int            // number of pending URLs put into groups so far
}

// divide sorts the URLs of the books by crawl partition, and sends them in groups (see share). The
// parameter queues has the channel for each partition. divide closes the channels at the end, or
// when ctx ends. It returns how many URLs it sent, and how many of these are pending.
func divide(ctx context.Context, books *account.Bucket, queues map[int]chan share, a *dueTimes) (urls, pending int, err error) {
	d := &divider{dueTimes: a, shares: make(map[int]*share, len(queues))}
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

// add adds a URL to a share, which is the group of URLs to be written next into a frontier. It
// returns the URL's crawl partition, whose share it is, and whether the share is full now. It skips
// a URL if the frontier of its crawl partition is not rebuilt. It also skips these URLs, because no
// frontier has them:
//
//	URLs without a crawl partition
//	pending URLs that are held back (account.URL.Apart)
//	URLs that are neither pending nor have a final outcome
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
		if due, found := renewalOf(d.dueTimes, u); found && !d.rationed.hold(crawl, u, due) {
			own.due = append(own.due, due)
		}
	default:
		return crawl, false
	}
	d.urls++
	return crawl, len(own.known)+len(own.pending) >= shareSize
}

// entry returns the entry by which a frontier queues a URL, on behalf of the collection
// u.Collection. If the URL is pending although an earlier request has skipped it (book.Skipped), the
// entry also has the time of that request and the collections for which it was made.
func entry(u account.URL) frontier.Entry {
	e := frontier.Entry{
		URL: u.Address.URL, ID: u.Address.ID, Host: u.Address.Host,
		Depth: u.Depth, Hops: u.Hops, Weight: u.Weight, Sitemap: u.Sitemap, Asset: u.Asset,
		Attempts: u.Attempts, Exponent: u.Final.Exponent, Collection: u.Collection,
	}
	if u.State == account.Pending && u.Final.State == book.Skipped {
		e.Last = &batch.Look{Time: u.Final.Time, Collections: u.Final.Collections}
	}
	return e
}

// renewalOf returns the entry by which a frontier requests a URL again that has a final outcome.
// The result found is false if there is no reason to request it. There are two reasons:
//
//	a collection needs the page again    For example, the page was only requested for other
//	(u.Wanted)                           collections so far. The request has no validators (ETag,
//	                                     Last-Modified), so that the server sends the whole page
//	                                     with its links.
//	the URL is due (isDue)               The request has the validators of the last answer, if they
//	                                     are stored.
func renewalOf(a *dueTimes, u account.URL) (due frontier.Due, found bool) {
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

// known returns the record that a frontier (the queues in Redis) holds of a URL with a final
// outcome. It is the same record that pack writes after a fetch. For a stored page, the record also
// names the tallies in which the page is counted. A tally is a number of stored pages for which a
// collection has a limit.
func known(s *settings.Settings, u account.URL) frontier.Known {
	k := frontier.Known{ID: u.Address.ID, State: u.Final.State, Version: u.Final.Version, Depth: u.Final.Depth}
	if u.State == account.Stored {
		k.Tallies = s.Tallies(u.Final, u.Address)
	}
	return k
}

// Older rebuilds all frontiers if Redis is older than the bucket. This is so if a batch in the spool
// (fetched, but not packed) is newer than the last batch that Redis gave out. Redis was then
// restored from an old copy, or lost the counter from which batches get their numbers (tokens). It
// would give out the same numbers again. The parameter spooled has the batches in the spool.
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
			return nil // Refresh rebuilds this frontier
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

// rationed holds back certain requests until all stored pages are counted. Example: a page is stored
// for the collection A. The collection B, which is newer and has a limit of 100 pages, wants the page
// too, so that it must be requested again. Whether B has room for it is known only when all pages of
// B are counted. Until then, rationed holds the request back.
//
// After the count, release makes the requests that are within the limits. But it makes none for a
// collection that has pending URLs: these are fetched first.
type rationed struct {
	settings *settings.Settings
	counts   membership.Counts // numbers of stored pages of collections with a limit
	waiting  map[string]bool   // collections that have both a limit and pending URLs
	due      []ration          // requests that are held back, each for a page that is stored already
}

// ration is a request for a stored page that waits until all stored pages are counted (see
// rationed). It has the crawl partition of the page, the request, and the limits of the collection
// for which the request is made. The page would count towards these limits.
type ration struct {
	crawl  int
	due    frontier.Due
	bounds []membership.Limit
}

// count counts a stored URL towards the limits of its collections. For a pending URL, it notes that
// the collection has pending URLs. It ignores collections without a limit.
func (r *rationed) count(u account.URL) {
	if u.State == account.Pending && r.settings.IsLimited(u.Collection) {
		r.waiting[u.Collection] = true
	}
	if u.State != account.Stored {
		return
	}
	for _, name := range u.Final.Collections {
		if r.settings.IsLimited(name) {
			for _, bound := range r.settings.Bounds(name, u.Address, u.Final.Asset) {
				r.counts.Stored[bound.Tally]++
			}
		}
	}
}

// hold decides whether a request for a stored page must wait until all stored pages are counted,
// and returns true if so. It must wait if it is made because a collection lacks the page
// (u.Wanted), and this collection (u.Collection) has a limit of pages. hold then adds the request
// to r.due.
func (r *rationed) hold(crawl int, u account.URL, due frontier.Due) bool {
	if !u.Wanted || !r.settings.IsLimited(u.Collection) {
		return false
	}
	r.due = append(r.due, ration{crawl, due, r.settings.Bounds(u.Collection, u.Address, u.Final.Asset)})
	return true
}

// release decides on the requests that hold has held back, one after another. Each is a request for a
// stored page that a collection lacks. The first row that applies holds:
//
//	with this page, the collection would exceed a limit   the page is not requested
//	the collection has pending URLs                       release calls miss: a later rebuild decides
//	else                                                  release calls hand: the page is requested
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
