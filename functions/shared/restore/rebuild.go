// Package restore makes the frontiers in Redis what the bucket says that they
// are: the fold of (books, unconsumed spool), and what is due again. The sweep
// does so whenever it finds a reason, the command rebuild at once.
//
//	a frontier is built anew when                         found by
//	Redis came up without it, or lost its key             Built: no fingerprint
//	collections, strategies, takedowns are others         Built: another fingerprint
//	somebody distrusts it: a batch is damaged or closed   Built: no fingerprint
//	a commit was made that it was not told of             Knows: not in what it learnt
//	nothing is left to ask for, and a collection missed   Counts.Missed
//	what another had
//	somebody says so                                      Rebuild
//
// While generations or books are lost or damaged nothing is rebuilt, with a
// partition.Fault: what they tell would look as if it had never been asked for,
// and every such page would be asked of its site again.
//
// One rebuilds at a time, by a lease, into a new epoch. A frontier that is
// built anew is read from all books; one that is not is only told what has
// become due since, from the outcomes in the books of one storage partition,
// and only when the time has come at which something may be due.
//
// No host is asked sooner because of it: pacer says what is known of whom.
package restore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/epoch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Frontiers are those of all crawl partitions. What it does may be done twice,
// by several at once, and be killed at any call.
type Frontiers struct {
	Bucket blob.Bucket
	Redis  redis.UniversalClient
	Now    func() time.Time
	Worker string // who holds the lease of a rebuild
	Log    *slog.Logger
}

// leaseTime is how long the frontier waits for another rebuild when one has
// died.
const leaseTime = 30 * time.Second

// ErrRebuilding says that another is rebuilding the frontier already.
var ErrRebuilding = errors.New("the frontier is being rebuilt by another")

// Rebuilt tells of a rebuild.
type Rebuilt struct {
	Epoch   uint64 // which it opened
	URLs    int    // that the frontier knows
	Pending int    // that wait
	Took    time.Duration
}

// Rebuild restores the whole frontier from the bucket, whether or not it has
// to be, in a new epoch. It fails with ErrRebuilding.
func (f *Frontiers) Rebuild(ctx context.Context) (Rebuilt, error) {
	s, err := settings.Read(ctx, f.Bucket, f.Now())
	if err != nil {
		return Rebuilt{}, err
	}
	return f.rebuild(ctx, s, s.Crawl.Partitions())
}

// Refresh restores the frontiers that have to be, as the package says. Another's
// rebuild is as good.
func (f *Frontiers) Refresh(ctx context.Context, s *settings.Settings) error {
	stale, err := f.stale(ctx, s)
	if err == nil && len(stale) == 0 {
		stale, err = f.missed(ctx, s)
	}
	if err != nil || len(stale) == 0 {
		return err
	}
	if _, err = f.rebuild(ctx, s, stale); errors.Is(err, ErrRebuilding) {
		return nil
	}
	return err
}

// stale returns the crawl partitions whose frontiers are missing, were built
// under other settings, have lost something, or are behind the books of any
// storage partition.
func (f *Frontiers) stale(ctx context.Context, s *settings.Settings) ([]int, error) {
	learnt := make(map[layout.Partition]string)
	for _, p := range s.Partitions() {
		m, err := partition.Read(ctx, f.Bucket, p)
		if err != nil {
			return nil, err
		}
		learnt[p] = m.Learnt
	}
	var stale []int
	for _, crawl := range s.Crawl.Partitions() {
		front := frontier.New(f.Redis, crawl)
		err := front.Built(ctx, s.Fingerprint())
		if err == nil {
			err = front.Knows(ctx, learnt)
		}
		switch {
		case errors.Is(err, frontier.ErrTokens): // they are given over all
			f.Log.InfoContext(ctx, "all frontiers are stale", "crawl", crawl, "reason", err)
			return s.Crawl.Partitions(), nil
		case errors.Is(err, frontier.ErrNotBuilt):
			f.Log.InfoContext(ctx, "frontier is stale", "crawl", crawl, "reason", err)
			stale = append(stale, crawl)
		case err != nil:
			return nil, err
		}
	}
	return stale, nil
}

// missed returns the crawl partitions in which collections may miss pages that
// others have: once nothing is left to ask for in any, for a rebuild is dear.
func (f *Frontiers) missed(ctx context.Context, s *settings.Settings) ([]int, error) {
	var missed []int
	for _, crawl := range s.Crawl.Partitions() {
		counts, err := frontier.New(f.Redis, crawl).Counts(ctx)
		if err != nil || counts.Waiting+counts.Leased > 0 {
			return nil, err
		}
		if counts.Missed {
			missed = append(missed, crawl)
		}
	}
	return missed, nil
}

func (f *Frontiers) rebuild(ctx context.Context, s *settings.Settings, stale []int) (done Rebuilt, err error) {
	worked, err := lease.New(f.Redis, f.Worker).Do(ctx, "rebuild", f.Now, leaseTime, func() (err error) {
		done, err = f.restore(ctx, s, stale)
		return err
	})
	if err == nil && !worked {
		err = ErrRebuilding
	}
	if err != nil {
		return Rebuilt{}, fmt.Errorf("cannot rebuild the frontier: %w", err)
	}
	f.Log.InfoContext(ctx, "rebuilt frontier", "epoch", done.Epoch, "crawl", stale, "urls", done.URLs, "pending", done.Pending, "took", done.Took)
	return done, nil
}

// restore loads the fold of books and spool into the frontiers of the stale
// crawl partitions, in a new epoch, so that tokens never start again. The
// epoch is claimed late: whoever was slower opens the higher one.
func (f *Frontiers) restore(ctx context.Context, s *settings.Settings, stale []int) (done Rebuilt, err error) {
	began := f.Now()
	fronts, pacer, err := f.reset(ctx, s, stale)
	if err != nil {
		return done, err
	}
	books, err := account.Read(ctx, f.Bucket, s)
	if err != nil {
		return done, err
	}
	if len(stale) == len(s.Crawl.Partitions()) {
		if err := f.refill(ctx, books.Spooled); err != nil {
			return done, err
		}
	}
	if done.Epoch, err = epoch.Claim(ctx, f.Bucket, f.Worker, books.Manifests...); err != nil {
		return done, err
	}
	if err := f.pace(ctx, pacer, books, fronts); err != nil {
		return done, err
	}
	a := newAgenda(s, began)
	if done.URLs, done.Pending, err = f.load(ctx, books, fronts, a); err != nil {
		return done, err
	}
	if err := open(ctx, fronts, s, done.Epoch, books.Manifests); err != nil {
		return done, err
	}
	done.Took = f.Now().Sub(began)
	if len(stale) < len(s.Crawl.Partitions()) {
		return done, nil // other URLs may be due sooner
	}
	for _, storage := range s.Partitions() {
		if err := (clock{f.Redis, storage}).set(ctx, a); err != nil {
			return done, fmt.Errorf("cannot tell when pages are due: %w", err)
		}
	}
	return done, nil
}

// reset empties the frontiers of the stale crawl partitions, once it is known
// whom they must leave alone.
func (f *Frontiers) reset(ctx context.Context, s *settings.Settings, stale []int) (map[int]*frontier.Frontier, *paceKeeper, error) {
	fronts := make(map[int]*frontier.Frontier)
	for _, crawl := range stale {
		fronts[crawl] = frontier.New(f.Redis, crawl)
	}
	pacer, err := f.pacer(ctx, s)
	if err == nil {
		err = pacer.shut(ctx, fronts)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, front := range fronts {
		if err := front.Reset(ctx); err != nil {
			return nil, nil, err
		}
	}
	return fronts, pacer, nil
}

func open(ctx context.Context, fronts map[int]*frontier.Frontier, s *settings.Settings, epoch uint64, generations []manifest.Manifest) error {
	learnt := make(map[layout.Partition]string)
	for _, m := range generations {
		learnt[m.Partition] = m.Learnt
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, front := range fronts {
		group.Go(func() error { return front.Open(ctx, epoch, s.Fingerprint(), learnt) })
	}
	return group.Wait()
}

// refill enters what waits to be packed into the inboxes, before the frontier
// is open: else a crawl that has nothing left to ask looks as if all were done.
// When only some frontiers were stale, the others have yet to learn what the
// spool says, and the events that are raised again tell them.
func (f *Frontiers) refill(ctx context.Context, spooled []account.Spooled) error {
	for _, s := range spooled {
		waiting := frontier.Waiting{Batch: s.Batch, Bytes: s.Bytes, Pages: s.Pages, Since: f.Now(), Settled: true}
		if err := frontier.NewInbox(f.Redis, s.Partition).Add(ctx, waiting); err != nil {
			return err
		}
	}
	return nil
}
