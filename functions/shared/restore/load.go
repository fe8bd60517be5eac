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
	// URLs to remove from the frontier, or from its queues only; empty in a rebuild, which begins with an empty
	// frontier
	removed map[layout.Identity]frontier.Removal
}

// load writes the URLs of an account into the frontiers (the queues in Redis) of their crawl partitions,
// but leaves out partitions that are not in the parameter fronts. The frontiers are written
// concurrently. If Redis then holds too many finished URLs, their states are moved to runs (see Retire).
func (f *Frontiers) load(ctx context.Context, some *account.Account, fronts map[int]*frontier.Frontier, d *divider) error {
	group, ctx := errgroup.WithContext(ctx)
	queues := make(map[int]chan share, len(fronts))
	for crawl, front := range fronts {
		queue := make(chan share, 2)
		queues[crawl] = queue
		group.Go(func() error {
			for part := range queue {
				if err := f.write(ctx, front, part); err != nil {
					return err
				}
			}
			return f.retire(ctx, crawl, front)
		})
	}
	group.Go(func() error { return d.divide(ctx, some, queues) })
	return group.Wait()
}

// write writes a share into a frontier.
func (f *Frontiers) write(ctx context.Context, front *frontier.Frontier, part share) error {
	err := front.Mark(ctx, part.known)
	if err == nil {
		_, err = front.Renew(ctx, f.Now(), part.due)
	}
	if err == nil {
		_, err = front.Admit(ctx, f.Now(), part.pending)
	}
	if err == nil && len(part.removed) > 0 {
		err = front.Forget(ctx, part.removed)
	}
	return err
}

// divider divides URLs among the frontiers (queues in Redis) that are rebuilt, or that follow new
// settings (see Frontiers.follow). It collects the URLs
// of each crawl partition in groups of at most shareSize. Each group is then written into the
// partition's frontier in one call.
type divider struct {
	*dueTimes
	rationed rationed
	inPlace  bool           // the frontiers follow new settings: they are not empty
	shares   map[int]*share // for each crawl partition, the group of URLs that is being filled
}

func newDivider(a *dueTimes) *divider {
	return &divider{dueTimes: a, rationed: rationed{settings: a.settings, waiting: make(map[string]bool), missed: make(map[int]bool)}}
}

// divide sorts the URLs of an account by crawl partition, and sends them in groups (see share). The
// parameter queues has the channel for each partition. divide closes the channels at the end, or
// when ctx ends.
func (d *divider) divide(ctx context.Context, some *account.Account, queues map[int]chan share) error {
	d.shares = make(map[int]*share, len(queues))
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
	for u, err := range some.All() {
		if err != nil {
			return err
		}
		if crawl, full := d.add(u); full {
			if err := hand(crawl); err != nil {
				return err
			}
		}
	}
	for crawl := range queues {
		if err := hand(crawl); err != nil {
			return err
		}
	}
	return nil
}

// add adds a URL to a share, which is the group of URLs to be written next into a frontier. It
// returns the URL's crawl partition, whose share it is, and whether the share is full now. It skips
// a URL that has no crawl partition, or whose frontier is not written. It also skips two kinds of URLs
// that no frontier has. But if d.inPlace is true, the frontier may have them from before, and they are
// removed from it:
//
//	pending URLs that are held back (account.URL.Apart)
//	URLs that are neither pending nor have a final outcome
//
// If d.inPlace is true, a pending URL may be in the frontier on behalf of another collection already.
// So its entry has a Tally, as if a link to it had been found (see frontier.Frontier.Admit).
func (d *divider) add(u account.URL) (crawl int, full bool) {
	d.rationed.see(u)
	crawl, err := d.settings.Crawl.Decide(u.Address)
	own := d.shares[crawl]
	if err != nil || own == nil {
		return crawl, false
	}
	if u.Final.State == 0 && u.State != account.Pending || u.State == account.Pending && u.Apart != "" {
		return crawl, d.remove(own, u.Address.ID)
	}
	if u.State == account.Pending {
		e := entry(u)
		if d.inPlace && len(d.settings.Collections) > 1 && !e.Sitemap {
			e.Tally, e.Claimed = d.settings.CollectionTally(e.Collection), d.settings.Claims(e.Collection, u.Address, e.Depth, e.Hops)
		}
		if d.inPlace && u.Final.State != 0 { // the frontier holds it as final, and would not admit it: a rebuild does
			d.rationed.missed[crawl] = true
		}
		own.pending = append(own.pending, e)
	} else {
		own.known = append(own.known, known(d.settings, u))
		if u.Apart != "" {
			d.remove(own, u.Address.ID)
		}
		if due, found := renewalOf(d.dueTimes, u); found && !d.rationed.hold(crawl, u, due) {
			own.due = append(own.due, due)
		}
	}
	return crawl, len(own.known)+len(own.pending) >= shareSize
}

// remove adds a URL to those that are removed from the queues of a frontier. In a rebuild it does
// nothing.
func (d *divider) remove(own *share, id layout.Identity) (full bool) {
	if !d.inPlace {
		return false
	}
	if own.removed == nil {
		own.removed = make(map[layout.Identity]frontier.Removal)
	}
	own.removed[id] = frontier.Unqueue
	return len(own.removed) >= shareSize
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
//	the URL is due (isDue), or a         The request has the validators of the last answer, if they
//	collection wants to try URLs again   are stored.
//	that have failed
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
	failed := u.State == account.Failed && a.settings.AskAgain(u.Collection, u.Final)
	if !u.Admitted || !failed && !a.isDue(u.Final) {
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
	k := frontier.Known{ID: u.Address.ID, Place: u.Address.Place, State: u.Final.State, Version: u.Final.Version}
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
	if _, err = f.rebuild(ctx, s, s.Crawl.Partitions(), false); err != nil && !errors.Is(err, ErrRebuilding) {
		return fmt.Errorf("cannot rebuild after Redis, which gave %s last, turned out older than batch %s in the spool: %w", last, newest, err)
	}
	return nil
}
