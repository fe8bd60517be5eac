// Package restore rebuilds the frontiers in Redis from the bucket: from the books and the
// unconsumed spool. It also queues the URLs that are due again. The sweep rebuilds a frontier when
// it finds a reason, the command rebuild always.
//
//	a frontier is rebuilt when                            found by
//	Redis has lost it                                     Built: no fingerprint
//	collections, strategies or takedowns have changed     Built: another fingerprint
//	a function invalidated it: damaged or closed batch    Built: no fingerprint
//	it missed a commit                                    Knows: the manifest's Learnt is unknown
//	no URL is left to ask for, and a collection missed    Counts.Missed
//	pages that another collection has
//	an operator asks for it                               Rebuild
//
// While generations or books are lost or damaged, nothing is rebuilt, and the
// error is a partition.Fault: the URLs in them would look new, and all their pages
// would be fetched again.
//
// Only one process rebuilds at a time, by a lease, into a new epoch. A rebuilt
// frontier is read from all books. The other frontiers are only given the URLs
// that have become due, from the outcomes in the books of one storage partition
// at a time, and only when a URL may be due.
//
// A rebuild makes no request to a host earlier: see paceKeeper.
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

// Frontiers rebuilds the frontiers of all crawl partitions. Its methods may run twice or
// concurrently, and be killed at any point.
type Frontiers struct {
	Bucket blob.Bucket
	Redis  redis.UniversalClient
	Now    func() time.Time
	Worker string // name of the process that holds the lease of a rebuild
	Log    *slog.Logger
}

// leaseTime is the duration of the lease on rebuilding the frontiers. If a process is killed during
// a rebuild, another process can rebuild after that time.
const leaseTime = 30 * time.Second

// ErrRebuilding means that another process is rebuilding the frontier.
var ErrRebuilding = errors.New("the frontier is being rebuilt by another")

// Rebuilt counts the URLs that a rebuild wrote into the frontiers.
type Rebuilt struct {
	Epoch   uint64 // epoch of the rebuilt frontiers
	URLs    int    // number of URLs written into the rebuilt frontiers
	Pending int    // number of these URLs that are pending
	Took    time.Duration
}

// Rebuild rebuilds all frontiers from the bucket, in a new epoch. It fails with
// ErrRebuilding while another process rebuilds.
func (f *Frontiers) Rebuild(ctx context.Context) (Rebuilt, error) {
	s, err := settings.Read(ctx, f.Bucket, f.Now())
	if err != nil {
		return Rebuilt{}, err
	}
	return f.rebuild(ctx, s, s.Crawl.Partitions())
}

// Refresh rebuilds the frontiers that must be rebuilt (see the table of the package). It returns
// nil when another process is rebuilding.
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

// stale returns the crawl partitions whose frontiers are missing, were built under
// other settings, were invalidated, or have missed a commit of a storage
// partition.
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
		case errors.Is(err, frontier.ErrTokens): // all frontiers share the counter of tokens
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

// missed returns the crawl partitions in which a collection lacks pages that were stored for
// other collections (frontier.Counts.Missed). A rebuild is expensive, so while any URL waits
// or is leased, missed returns none.
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

// restore loads all URLs of books and spool into the frontiers of the stale crawl partitions. It
// does so in a new epoch, so that no token is given out twice. It claims the epoch only after it
// has read the books: if two processes restore at the same time, the slower one opens its frontiers
// in the higher epoch.
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
	a := newDueTimes(s, began)
	if done.URLs, done.Pending, err = f.load(ctx, books, fronts, a); err != nil {
		return done, err
	}
	if err := open(ctx, fronts, s, done.Epoch, books.Manifests); err != nil {
		return done, err
	}
	done.Took = f.Now().Sub(began)
	if len(stale) < len(s.Crawl.Partitions()) {
		return done, nil // URLs of the other frontiers may be due sooner
	}
	for _, storage := range s.Partitions() {
		if err := (clock{f.Redis, storage}).set(ctx, a); err != nil {
			return done, fmt.Errorf("cannot tell when pages are due: %w", err)
		}
	}
	return done, nil
}

// reset empties the frontiers of the stale crawl partitions and returns them. If Redis has lost the
// times of the last requests to hosts, reset first sets a time before which these frontiers send no
// request to a host that Redis does not know. It also returns the paceKeeper that has found out
// what was lost.
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

// refill puts the batches in the spool, which pack has still to pack, into the inboxes of pack. It
// must be called before the frontiers open: otherwise a crawl in which no URL waits would seem to
// have ended. Only a rebuild of all frontiers calls refill; after a rebuild of some frontiers, the
// sweep sends the events of these batches again.
func (f *Frontiers) refill(ctx context.Context, spooled []account.Spooled) error {
	for _, s := range spooled {
		waiting := frontier.Waiting{Batch: s.Batch, Bytes: s.Bytes, Pages: s.Pages, Since: f.Now(), Settled: true}
		if err := frontier.NewInbox(f.Redis, s.Partition).Add(ctx, waiting); err != nil {
			return err
		}
	}
	return nil
}
