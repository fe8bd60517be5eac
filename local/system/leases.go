package system

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/queue"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

// Times of the leases of batches. If a process is killed, its leases end after leaseTime at the
// latest, and then any process may lease the URLs of its batches.
const (
	leaseTime = 15 * time.Second // time from a renewal of a lease to its end
	renewTick = leaseTime / 3    // time between two renewals
)

// sharedURLs is the number of URLs that processes which share a Redis should lease together at most, because
// pages that are fetched and not yet stored are fetched again when their process is killed. A process with a
// Redis of its own has no such limit: it is faster with large batches.
const sharedURLs = 200

// leases renews the leases of the batches of this process: those that wait in the queue of fetch, those
// that are being fetched, and those that are fetched and not settled yet. A lease is never renewed beyond
// the deadline of its batch. A value is safe for concurrent use.
type leases struct {
	*fetcher
	redis goredis.UniversalClient
	queue *queue.Queue // queue of fetch
	log   *slog.Logger

	mu   sync.Mutex                   // protects held
	held map[layout.Version]heldLease // by version of the batch; no entry before the first renewal has ended
}

// heldLease is the lease of a batch.
type heldLease struct {
	crawl    int       // crawl partition of the batch
	deadline time.Time // deadline of the batch
	until    time.Time // end of the lease; zero if it has ended, or could not be renewed yet
}

// newLeases returns leases without batches. The name of the process is one that no other process has.
func newLeases(redis goredis.UniversalClient, process string, queue *queue.Queue, log *slog.Logger) *leases {
	return &leases{fetcher: newFetcher(redis, process), redis: redis, queue: queue, log: log, held: make(map[layout.Version]heldLease)}
}

// share is schedule.Function.Share: it returns the number of batches in the queue of fetch, and the
// number of processes.
func (l *leases) share() (own, processes int) {
	c := l.queue.Counts()
	return c.Visible + c.InFlight + c.Delayed, l.processes()
}

// until returns the end of the lease of a batch that is being fetched (see fetch.Function.Lease). If no
// renewal of the lease has ended yet, it renews the lease. If the lease has ended, or cannot be renewed, the
// result is in the past.
func (l *leases) until(ctx context.Context, b batch.Batch) time.Time {
	h, found := l.get(b.Version)
	if found {
		return h.until
	}
	if err := l.extend(ctx, b.Version, heldLease{crawl: b.Crawl, deadline: b.Deadline}); err != nil {
		l.log.WarnContext(ctx, "a lease cannot be renewed", "batch", b.Version, "error", err)
	}
	h, _ = l.get(b.Version)
	return h.until
}

// get returns the lease of a batch; false if no renewal of it has ended yet.
func (l *leases) get(version layout.Version) (heldLease, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, found := l.held[version]
	return h, found
}

// renew renews all leases. It drops those that have ended, unless their batches are still in the queue of
// fetch: then until must tell that they have ended.
func (l *leases) renew(ctx context.Context) error {
	l.mu.Lock()
	all := maps.Clone(l.held)
	l.mu.Unlock()
	queued := make(map[layout.Version]bool)
	for _, b := range batchesIn(l.queue) {
		queued[b.Version] = true
		all[b.Version] = heldLease{crawl: b.Crawl, deadline: b.Deadline}
	}
	var errs []error
	for version, h := range all {
		errs = append(errs, l.extend(ctx, version, h))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.held, func(version layout.Version, h heldLease) bool { return h.until.IsZero() && !queued[version] })
	return errors.Join(errs...)
}

// extend renews the lease of a batch, and then keeps it in held. If Redis fails, the end that is in held stays.
func (l *leases) extend(ctx context.Context, version layout.Version, h heldLease) error {
	now := time.Now()
	if h.until = now.Add(leaseTime); h.deadline.Before(h.until) {
		h.until = h.deadline
	}
	renewed, err := false, error(nil)
	if now.Before(h.deadline) {
		renewed, err = frontier.New(l.redis, h.crawl).Extend(ctx, version, h.until)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		h.until = l.held[version].until
	case !renewed:
		h.until = time.Time{}
	}
	l.held[version] = h
	return err
}

// batchesIn returns the batches whose messages are in the queue of fetch: those that wait, and those
// that are being fetched.
func batchesIn(q *queue.Queue) []batch.Batch {
	var all []batch.Batch
	for _, body := range q.Bodies() {
		var b batch.Batch
		if json.Unmarshal([]byte(body), &b) == nil {
			all = append(all, b)
		}
	}
	return all
}

// giveBack ends the leases and the membership of this process, so that other processes need not wait until
// they end by themselves. The URLs of the batches that were not fetched wait again, and their hosts may be
// leased. Then it waits until pack has settled all that was fetched. giveBack takes at most the time grace.
// The functions schedule and fetch must have stopped.
func (s *System) giveBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if err := s.leases.leave(ctx); err != nil {
		s.Log.Warn("other processes still count this one", "error", err)
	}
	for _, b := range batchesIn(s.queues[task.Fetch]) {
		// Pack settles by Frontier.Under, because the outcomes depend on the settings. Here are no outcomes, and the lease
		// must end even if the settings have changed.
		_, err := frontier.New(s.Redis, b.Crawl).Settle(ctx, frontier.Settlement{
			Version: b.Version, Host: b.Host, Ended: time.Now(), Delay: b.Delay(), Rest: b.NotBefore, Failures: b.Failures,
		})
		if err != nil {
			s.Log.Warn("a batch is not given back", "batch", b.Version, "error", err)
		}
	}
	for s.queues[task.Pack].Busy() && blob.Sleep(ctx, look) == nil {
	}
}

// fetchers is the name of the group of processes that fetch (see lease.Leases.Join).
const fetchers = "fetchers"

// fetcher is a process that fetches, as a member of the group of all that do so with the same Redis. It is
// safe for concurrent use.
type fetcher struct {
	member *lease.Leases
	count  atomic.Int64 // number of members, this process included; 0: not known yet
}

// newFetcher returns a fetcher that has not joined the group yet. The name of the process is one that no
// other process has.
func newFetcher(redis goredis.UniversalClient, process string) *fetcher {
	return &fetcher{member: lease.New(redis, process)}
}

// processes returns the number of processes that fetch from the same Redis, this one included.
func (f *fetcher) processes() int { return int(max(1, f.count.Load())) }

// join renews the membership of this process, and counts the members. It is called every second, so that
// others soon take over the hosts of a process that has left, and its share of requests to an IP address.
func (f *fetcher) join(ctx context.Context) error {
	members, err := f.member.Join(ctx, fetchers, time.Now(), leaseTime)
	if err == nil {
		f.count.Store(int64(members))
	}
	return err
}

// leave ends the membership of this process, so that others need not wait until it ends by itself.
func (f *fetcher) leave(ctx context.Context) error { return f.member.Leave(ctx, fetchers) }
