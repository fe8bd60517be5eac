// Package restore rebuilds the frontiers (the queues of URLs in Redis) from the bucket. It reads
// the books, which record what became of each URL, and the spool, where the results of batches wait
// to be packed. It also queues the URLs that are due again.
//
// A built frontier holds a fingerprint of the settings for which it was built. The sweep rebuilds a
// frontier for these reasons:
//
//	reason                                                how it is noticed
//	Redis has lost the frontier                           it has no fingerprint (Frontier.Built)
//	settings have changed, so that any URL may have to    its fingerprint is not that of the settings
//	be judged again (settings.Difference), or URLs are    (Frontier.Built)
//	moved to or from its partition
//	a function has invalidated the frontier, for          it has no fingerprint (Frontier.Built)
//	example because of a damaged or closed batch
//	the frontier was not told of a commit with new        it does not hold the name of the last commit,
//	outcomes                                              Manifest.Learnt (Frontier.Knows)
//	no URL is left to request, and a collection lacks     Counts.Missed is set
//	pages that are stored for another collection
//
// The command rebuild calls Rebuild, which needs none of these reasons.
//
// After other changes of settings, such as a takedown or a new seed, the frontiers are changed where they
// are, and the crawl goes on meanwhile: see Frontiers.follow. And most changes, such as that of a delay,
// do not concern the frontiers at all: they leave the fingerprint as it is.
//
// While generations (versions of a manifest) or books are lost or damaged, nothing is rebuilt, and
// the error is a partition.Fault. A frontier rebuilt from the rest would not have the URLs in the lost
// books. These URLs would look new as soon as links to them are found, and their pages would be
// fetched again.
//
// While two versions of the program with different layouts of frontiers run on one Redis, only the newer one rebuilds
// frontiers and leases URLs (see frontier.Superseded); fetch, pack and index of the older one go on. A quarter of an
// hour after the newer one has last swept, for instance when an operator has gone back to the older one, the older
// one rebuilds them.
//
// A process that rebuilds holds a lease, so only one rebuilds at a time. Each rebuild begins a new
// epoch. The number of the epoch is a part of each batch's number, so batches from before the
// rebuild are recognised.
//
// To rebuild a frontier, all books are read, one range of the hash space of URLs after another (see
// account.Bucket.Ranges). So the memory of a rebuild does not depend on the number of URLs. Redis records
// after each range how far the rebuild has come: if its process dies, the next sweep goes on from there.
//
// Frontiers that need no rebuild only get the URLs that have become due. Once a day, all books of a storage
// partition are searched for URLs that become due on this day. They are listed by time, in objects below
// due/, so that until the next day only new books are searched (see agenda). Such an object consists of
// books without links, one after another (see layout/book).
//
// Redis holds a limited number of finished URLs; the states of the others are moved to the bucket (see
// Frontiers.Retire).
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

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
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
	// Finished is the number of finished URLs that the Redis of a crawl partition may hold before they are moved to
	// runs (see Retire); 0: 2¹⁸, which take some 10 MB.
	Finished int64
	Log      *slog.Logger

	runs frontier.RunCache // of all frontiers, so that its memory does not depend on their number
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
	return f.rebuild(ctx, s, s.Crawl.Partitions(), false)
}

// Refresh brings all frontiers up to date with the settings s. It lets frontiers follow a small change of the
// settings (see follow). Then it rebuilds the frontiers that must be rebuilt, for the reasons in the table of the
// package comment; for instance, because Redis has lost them. It returns nil if another process is rebuilding, and
// leaves all of this to a newer version of the program with another layout of frontiers, if one uses the same Redis.
func (f *Frontiers) Refresh(ctx context.Context, s *settings.Settings) error {
	superseded, err := frontier.Superseded(ctx, f.Redis, f.Now())
	if err != nil {
		return err
	}
	if superseded {
		f.Log.WarnContext(ctx, "frontiers are left to a newer version of the program, which runs beside this one")
		return nil
	}
	// While another process changes frontiers, they look as if they had to be rebuilt.
	if busy, err := f.follow(ctx, s); busy || err != nil {
		return err
	}
	stale, err := f.stale(ctx, s)
	if err == nil && len(stale) == 0 {
		stale, err = f.missed(ctx, s)
	}
	if err != nil || len(stale) == 0 {
		return err
	}
	if _, err = f.rebuild(ctx, s, stale, true); errors.Is(err, ErrRebuilding) {
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

// rebuild rebuilds the frontiers of the stale crawl partitions. If resume is true, it goes on with an earlier
// rebuild of the same frontiers that was cut short.
func (f *Frontiers) rebuild(ctx context.Context, s *settings.Settings, stale []int, resume bool) (done Rebuilt, err error) {
	worked, err := lease.New(f.Redis, f.Worker).Do(ctx, "rebuild", f.Now, leaseTime, func() (err error) {
		done, err = f.restore(ctx, s, stale, resume)
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
// The URLs are loaded range by range (see account.Bucket.Ranges), and after each range the progress is
// on record in Redis. If the process is killed, the next call with the same settings and stale partitions
// goes on after the last recorded range. A range may be loaded twice; the second time changes nothing.
//
// restore claims the number of the epoch only after it has read the books. If two processes restore
// at the same time, the one that read the books last thus has the higher epoch.
func (f *Frontiers) restore(ctx context.Context, s *settings.Settings, stale []int, resume bool) (done Rebuilt, err error) {
	began := f.Now()
	r, resumed, err := f.begin(ctx, s, stale, resume)
	if err != nil {
		return done, err
	}
	books, err := account.Read(ctx, f.Bucket, s)
	if err != nil {
		return done, err
	}
	if !resumed {
		r.learn(books.Manifests)
		if len(stale) == len(s.Crawl.Partitions()) {
			if err := f.refill(ctx, books.Spooled); err != nil {
				return done, err
			}
		}
	}
	if err := f.loadAll(ctx, r, books, resumed); err != nil {
		return done, err
	}
	if err := f.moved(ctx, r.pacer, r.fronts); err != nil {
		return done, err
	}
	if done.Epoch, err = epoch.Claim(ctx, f.Bucket, f.Worker, books.Manifests...); err != nil {
		return done, err
	}
	for _, front := range r.fronts {
		counts, err := front.Counts(ctx)
		if err != nil {
			return done, err
		}
		pending := counts.Waiting + counts.Leased - counts.Again + counts.Parked // what is leased is from before
		done.URLs, done.Pending = done.URLs+int(counts.Decided()+pending), done.Pending+int(pending)
	}
	if err := r.open(ctx, s, done.Epoch); err != nil {
		return done, err
	}
	done.Took = f.Now().Sub(began)
	return done, f.end(ctx, s)
}

// loadAll loads the URLs and the pauses of hosts into the frontiers, range by range. Last come the
// requests on which is decided when all stored pages are counted (see rationed).
func (f *Frontiers) loadAll(ctx context.Context, r *rebuilding, books *account.Bucket, resumed bool) error {
	d := newDivider(&dueTimes{r.pacer.settings, r.pacer.now})
	d.rationed.unseen = resumed
	for some, err := range books.Ranges(ctx, layout.Range{From: r.Next}) {
		if err == nil {
			err = f.pace(ctx, r.pacer, some, r.fronts)
		}
		if err == nil {
			err = f.load(ctx, some, r.fronts, d)
		}
		if err == nil { // else an older version of the program would take this one for gone during a long rebuild
			_, err = frontier.Superseded(ctx, f.Redis, f.Now())
		}
		if err != nil {
			return err
		}
		if r.Next = some.Range().To; r.Next == 0 {
			break
		}
		r.Held = r.Held || len(d.rationed.due) > 0
		if err := r.save(ctx, f.Redis); err != nil {
			return err
		}
	}
	if resumed && r.Held {
		for crawl := range r.fronts {
			d.rationed.missed[crawl] = true
		}
	}
	return f.release(ctx, r.fronts, &d.rationed)
}

// release makes the requests that rationed has held back and now allows. If a later rebuild must decide on some,
// it notes in the frontiers that collections may lack pages.
func (f *Frontiers) release(ctx context.Context, fronts map[int]*frontier.Frontier, held *rationed) error {
	var all []*frontier.Frontier
	for _, crawl := range held.settings.Crawl.Partitions() {
		all = append(all, frontier.New(f.Redis, crawl))
	}
	made, err := held.release(ctx, all)
	if err != nil {
		return err
	}
	for crawl, front := range fronts {
		if _, err := front.Renew(ctx, f.Now(), made[crawl]); err != nil {
			return err
		}
		if held.missed[crawl] {
			if err := front.Miss(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// end ends a rebuild. It deletes the progress, and makes the next sweep search all books for due URLs. The rebuild has
// queued all URLs that are due now, except for redirects and aliases whose destination has failed (see leads).
func (f *Frontiers) end(ctx context.Context, s *settings.Settings) error {
	if err := f.Redis.Del(ctx, progressKey).Err(); err != nil {
		return err
	}
	for _, storage := range s.Partitions() {
		if err := f.Redis.Del(ctx, agendaKey(storage)).Err(); err != nil {
			return err
		}
	}
	return nil
}

// refill restores the inboxes. These are lists in Redis, from which the function pack takes its
// work. refill adds the batches whose results wait in the spool. They count as settled, because each
// range is loaded with their outcomes. refill must be called before the frontiers open: if the inboxes
// were empty then, and no URL waited, the crawl would seem to have ended, although the waiting results
// may contain new links.
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
