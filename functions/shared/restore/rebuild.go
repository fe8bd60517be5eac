// Package restore rebuilds the frontiers (the queues of URLs in Redis) from the bucket. It reads
// the books, which record what became of each URL, and the spool, where the results of batches wait
// to be packed. It also queues the URLs that are due again.
//
// A built frontier holds a fingerprint of the settings for which it was built. The sweep rebuilds a
// frontier for these reasons:
//
//	reason                                                how it is noticed
//	Redis has lost the frontier                           it has no fingerprint (Frontier.Built)
//	collections, strategies or takedowns have changed     its fingerprint is not that of the settings
//	                                                      (Frontier.Built)
//	a function has invalidated the frontier, for          it has no fingerprint (Frontier.Built)
//	example because of a damaged or closed batch
//	the frontier was not told of a commit with new        it does not hold the name of the last commit,
//	outcomes                                              Manifest.Learnt (Frontier.Knows)
//	no URL is left to request, and a collection lacks     Counts.Missed is set
//	pages that are stored for another collection
//
// The command rebuild calls Rebuild, which needs none of these reasons.
//
// While generations (versions of a manifest) or books are lost or damaged, nothing is rebuilt, and
// the error is a partition.Fault. A frontier rebuilt from the rest would not have the URLs in the lost
// books. These URLs would look new as soon as links to them are found, and their pages would be
// fetched again.
//
// A process that rebuilds holds a lease, so only one rebuilds at a time. Each rebuild begins a new
// epoch. The number of the epoch is a part of each batch's number, so batches from before the
// rebuild are recognised.
//
// To rebuild a frontier, all books are read. Frontiers that need no rebuild only get the URLs that
// have become due. For this the books of one storage partition at a time are read, and only when
// one of their URLs may be due.
//
// A rebuild never makes a request to a host earlier than it is allowed: see paceKeeper.
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

// Frontiers rebuilds the frontiers (the queues of URLs in Redis) of all crawl partitions. Its
// methods may run twice or concurrently, and be killed at any point.
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
	Epoch   uint64 // number of the epoch that began with the rebuild
	URLs    int    // number of URLs written into the rebuilt frontiers
	Pending int    // number of these URLs that are pending
	Took    time.Duration
}

// Rebuild rebuilds all frontiers (the queues of URLs in Redis) from the bucket, and thereby begins a
// new epoch. It fails with ErrRebuilding while another process rebuilds.
func (f *Frontiers) Rebuild(ctx context.Context) (Rebuilt, error) {
	s, err := settings.Read(ctx, f.Bucket, f.Now())
	if err != nil {
		return Rebuilt{}, err
	}
	return f.rebuild(ctx, s, s.Crawl.Partitions())
}

// Refresh rebuilds the frontiers that must be rebuilt, by the reasons in the table of the package
// comment: for instance, because Redis has lost them. It returns nil if another process is
// rebuilding.
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

// stale returns the crawl partitions whose frontiers (queues in Redis) must be rebuilt. These
// frontiers are missing, were built under other settings, were invalidated, or were not told of a
// commit of a storage partition.
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

// missed returns the crawl partitions whose frontiers must be rebuilt because a collection lacks
// pages that were stored for other collections (frontier.Counts.Missed). As a rebuild is expensive,
// missed returns no partitions as long as a URL of any frontier waits or is leased.
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

// restore loads the URLs in books and spool into the frontiers of the stale crawl partitions. It
// begins a new epoch. A batch's number consists of the epoch and a token, so no batch of the new
// frontiers has the number of an earlier batch.
//
// restore claims the number of the epoch only after it has read the books. If two processes restore
// at the same time, the one that read the books last thus has the higher epoch.
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

// reset empties the frontiers of the stale crawl partitions. It returns these frontiers, and a
// paceKeeper for them. Redis records when the last request to each host was sent. If these records
// are lost, reset first makes the frontiers wait, so that no host is asked again too soon (see
// paceKeeper.shut).
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

// refill restores the inboxes. These are lists in Redis, from which the function pack takes its
// work. refill adds the batches whose results wait in the spool. It must be called before the
// frontiers open: if the inboxes were empty then, and no URL waited, the crawl would seem to have
// ended, although the waiting results may contain new links.
//
// Only a rebuild of all frontiers calls refill. After a rebuild of some frontiers, the sweep sends
// the events of these batches again.
func (f *Frontiers) refill(ctx context.Context, spooled []account.Spooled) error {
	for _, s := range spooled {
		waiting := frontier.Waiting{Batch: s.Batch, Bytes: s.Bytes, Pages: s.Pages, Since: f.Now(), Settled: true}
		if err := frontier.NewInbox(f.Redis, s.Partition).Add(ctx, waiting); err != nil {
			return err
		}
	}
	return nil
}
