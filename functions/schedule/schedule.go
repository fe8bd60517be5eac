// Package schedule leases hosts from the frontier, the queues of waiting URLs in Redis, and sends
// batches of their URLs to the function fetch.
//
// A batch has URLs of one host. Between two requests fetch waits for the longest delay that the
// collections of these URLs, or the robots.txt of their origins, require. The batch has as many
// URLs as can be fetched in
//
//	five seconds                       if it has a new link of a collection with a topic
//	half the time until its deadline   otherwise
//
// Where leases are short and renewed, the delays of a batch together are no longer than a lease: fetch
// stores the pages of a batch at its end, and they are lost if its process is killed before.
//
// If one process leases and fetches all batches, a host without a delay between requests gets its next
// batch ahead (see Limits.Ahead): otherwise nothing would be requested of the only host while its batch is
// stored and settled.
//
// The first batches of a new crawl are smaller (see Function.fit): fetch stores the pages of a
// batch when the whole batch is fetched, and somebody may wait for the first pages.
//
// A URL that must not be requested is in the batch, too. It is marked with one of these reasons,
// and fetch only records the reason:
//
//	robots.txt denies the URL to the agent of its collection
//	the collection has as many pages of this host as it wants
//	the collection has as many pages of this address.Pattern as it wants
//
// The last two reasons do not apply to sitemaps, nor to stored pages that are requested again.
//
// A collection may limit its pages. Stored pages and leased pages (those being fetched) are counted
// over all crawl partitions:
//
//	stored and leased pages together reach the limit   its remaining URLs wait
//	stored pages alone reach the limit                 its remaining URLs are parked: pending, but
//	                                                   in no queue
//
// In both cases its stored pages are still requested again.
//
// An endless sitemap must not fill the frontier. So no sitemap is requested while many URLs wait:
// more than settings.MaxWaiting URLs of its host, or more than frontier.WaitingFactor ·
// settings.MaxWaiting URLs in the whole frontier.
package schedule

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Limits bound the number and the duration of leases: how many batches are being fetched at a time,
// and for how long.
type Limits struct {
	// greatest number of leased batches of a crawl partition at a time, unless a collection sets
	// its own limit (connections)
	Batches int
	Time    time.Duration // time from the lease of a batch to its deadline, after which fetch requests nothing more of it
	// Lease is the time from the lease of a batch to the end of this lease, at most Time. If it is less
	// than Time, the process that fetches the batch must renew the lease (see frontier.Extend).
	Lease time.Duration
	// URLs limits how much is fetched again when a process is killed: all leases together should have at
	// most this number of URLs (see Function.share). It is 0 if there is no such limit.
	URLs int
	// Ahead allows one batch more of a host than the collections allow connections, if no other hosts of the
	// crawl partition are being fetched. Fetch sends its first request when another batch of the host has had
	// its last answer, and while that batch is stored and settled. Ahead is only for a process that leases
	// and fetches alone: it must know all batches of a host. While others do so, too, it has no effect (see
	// Function.alone).
	Ahead bool
}

// DefaultLimits allows as many leased batches as two invocations of fetch take, each for
// batch.MaxTime. The leases last until the deadlines of the batches, because nobody renews them in the
// cloud: fetch has no Redis there. The time in which a batch waits in the queue is part of its lease. So
// these limits suit a queue in which messages wait seconds, not minutes.
func DefaultLimits() Limits {
	return Limits{Batches: 2 * task.BatchSize(task.Fetch), Time: batch.MaxTime, Lease: batch.MaxTime}
}

// unsent is the duration of a lease while its batch has not been sent. When the batch has been
// sent, the lease is extended.
const unsent = 15 * time.Second

// perTarget is the time planned for the answer to the request of each target (URL of a batch), in
// addition to the delay between requests.
const perTarget = 500 * time.Millisecond

// topicTime limits the size of a batch that has a new link of a collection with a topic: the
// requests of the batch are planned to take this time. A small batch ends soon. If it finds links
// that fit the topic well, the next batch can request these before the other URLs of the host.
const topicTime = 5 * time.Second

// firstTime is the time that the requests of the first batches of a new crawl are planned to take.
const firstTime = 5 * time.Second

// Function is the schedule function: its fields are the clients and limits that it works with.
type Function struct {
	Settings *settings.Cache
	Redis    redis.UniversalClient
	Sender   task.Sender
	Now      func() time.Time
	Limits   Limits
	Agent    string // User-Agent of collections whose settings have none
	// Share, if not nil, returns the number of batches that this process has leased and not fetched yet, and
	// the number of processes that lease batches for themselves. Then each leases about as many (see
	// Function.enough). Without Share, the batches go to a queue from which all fetch.
	Share func() (own, processes int)
	Log   *slog.Logger

	pause  pause
	memory memory
}

// Handle calls Run for each message of an event. A message is a task.Lease, which names a crawl
// partition.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.EachTask(ctx, f.Log, event, f.Run), nil
}

// Run first ends the expired leases of a crawl partition: their URLs wait again. Then, unless the
// crawl is paused, it leases hosts and sends their batches, until no host may be leased or a limit
// is reached. The URLs of a batch that could not be sent wait again when its lease expires. If the
// frontier of this or another crawl partition must be rebuilt, Run does nothing but send a message to
// the function sweep, which rebuilds it (see sound).
func (f *Function) Run(ctx context.Context, t task.Lease) error {
	now := f.Now()
	front := frontier.New(f.Redis, t.Crawl)
	inForce, err := f.Settings.Get(ctx)
	if err != nil {
		return err
	}
	if sound, err := f.sound(ctx, front, t.Crawl, inForce); err != nil || !sound {
		return err
	}
	if _, err := front.Expire(ctx, now); err != nil {
		return err
	}
	if f.paused(ctx, inForce.Control) {
		return nil
	}
	for {
		counts, err := front.Counts(ctx)
		if err != nil {
			return err
		}
		request, more, err := f.request(ctx, counts, inForce)
		if err != nil || !more {
			return err
		}
		leased, err := f.lease(ctx, front, inForce, t.Crawl, request, counts)
		if err != nil || !leased {
			return err
		}
	}
}

// lease leases a host and sends its batch. It returns false if no host may be leased now. Until the
// batch is sent the lease is short (see unsent): if schedule is killed in between, the host can
// soon be leased again. The parameter counts has the counts of the frontier.
func (f *Function) lease(ctx context.Context, front *frontier.Frontier, s *settings.Settings, crawl int, r frontier.Request, counts frontier.Counts) (bool, error) {
	now := f.Now()
	r.Now, r.Deadline = now, now.Add(unsent)
	r.Max = min(f.fit(shortestDelay(s), counts.Decided()), f.share(counts.Leased, len(s.Crawl.Partitions())))
	r.MaxBytes = batch.MaxBytes / 3 // JSON doubles some bytes, and adds to each URL
	r.Connections, r.Short, r.Waiting = s.HostConnections(), short(s), s.MaxWaiting()
	ahead := f.ahead(s, counts, r)
	if ahead {
		r.Connections++
	}
	lease, leased, err := front.Lease(ctx, r)
	if err != nil || !leased {
		return false, err
	}
	f.memory.remember(crawl, lease.Version)
	deadline := time.UnixMilli(now.Add(f.Limits.Time).UnixMilli())
	under := int64(0)
	if ahead {
		under = counts.Leased
	}
	message, err := f.batch(ctx, front, s, lease, counts.Decided(), under)
	if err != nil {
		return false, err
	}
	if len(message.Targets) == 0 {
		return f.giveBack(ctx, front, lease)
	}
	message.Crawl, message.Deadline = crawl, deadline
	f.Log.DebugContext(ctx, "leased", "crawl", crawl, "partition", message.Storage, "batch", lease.Version, "host", lease.Host, "urls", len(message.Targets))
	if err := task.Send(ctx, f.Sender, task.Fetch, message, 0); err != nil {
		return false, err
	}
	_, err = front.Extend(ctx, lease.Version, now.Add(f.Limits.Lease))
	return true, err
}

// ahead reports whether the lease that r asks for may be one more than the connections of its host (see
// Limits.Ahead). It may not be
//
//	with a delay between requests   the batch before is stored and settled during the delay
//	with a topic                    links that the batch before finds may fit the topic better
//	with batches of other processes fetch does not know when they send requests
func (f *Function) ahead(s *settings.Settings, counts frontier.Counts, r frontier.Request) bool {
	return f.Limits.Ahead && counts.Batches <= int64(r.Connections) && s.Delay() == 0 && len(r.Short) == 0 && f.alone(counts)
}

// alone reports whether no other process leases batches, and all leased batches of the crawl partition are of
// this process and not fetched yet. The second condition is for a process that has begun just now, and is not
// counted yet.
func (f *Function) alone(counts frontier.Counts) bool {
	if f.Share == nil {
		return true
	}
	own, processes := f.Share()
	return processes < 2 && int64(own) >= counts.Batches
}

// giveBack ends a lease of which no batch was made. Its URLs are forgotten, or wait until other batches of
// the host end: then giveBack returns false, and nothing may be leased before that.
func (f *Function) giveBack(ctx context.Context, front *frontier.Frontier, lease frontier.Lease) (bool, error) {
	settled, err := front.Settle(ctx, frontier.Settlement{
		Version: lease.Version, Host: lease.Host, Ended: f.Now(), Rest: lease.NotBefore, Failures: lease.Failures,
	})
	return settled.Waiting == 0, err
}

// fit returns the greatest number of URLs in a batch, if delay is the time between two requests. The
// requests of a batch are planned to take half the time until its deadline, and the delays between them
// no longer than a lease that is not renewed.
//
// In a new crawl the number is smaller, so that the first pages are stored after seconds: it is at most
// the number of URLs that are decided already (see Counts.Decided) or, if that is more, the number of
// URLs that can be requested within firstTime. With a delay of one second the batches of one host have 3,
// 3, 6, 12, 24, and then always 40 URLs. So a crawl has only a few more batches than it would have
// otherwise.
func (f *Function) fit(delay time.Duration, decided int64) int {
	most := fit(f.Limits.Time/2, delay)
	if delay > 0 {
		most = min(most, max(1, int(f.Limits.Lease/delay)))
	}
	return min(most, max(fit(firstTime, delay), int(min(decided, batch.MaxTargets))))
}

// fit returns how many URLs can be requested within a time with the given delay between requests:
// at least one, at most batch.MaxTargets.
func fit(time, delay time.Duration) int {
	return max(1, min(batch.MaxTargets, int(time/(delay+perTarget))))
}

// fewest is the number of URLs that a batch may always have, however many URLs are leased.
const fewest = 3

// share returns how many URLs a batch may have because of Limits.URLs: half of the URLs that may still be
// leased, but at least fewest. So a few batches may be large, and many are small. With a limit of 200, the
// batches of many hosts that are leased at once have 100, 50, 25, 12, 6, 3, 3, … URLs. When batches end
// and further ones are leased, their sizes become equal: 66 for two hosts, 22 for eight, 3 for 64.
func (f *Function) share(leased int64, partitions int) int {
	if f.Limits.URLs == 0 {
		return batch.MaxTargets
	}
	return max(fewest, (f.Limits.URLs/partitions-int(leased))/2)
}

// short returns for each collection with a topic, by its name, how many URLs a batch may have if it
// has a new link of the collection: as many as can be requested within topicTime.
func short(s *settings.Settings) map[string]int {
	most := make(map[string]int)
	for _, c := range s.Collections {
		if c.Topic != nil {
			most[c.Name] = fit(topicTime, s.DelayOf(c.Name))
		}
	}
	return most
}

// shortestDelay returns the shortest delay of all collections.
func shortestDelay(s *settings.Settings) time.Duration {
	shortest := s.Delay()
	for _, c := range s.Collections {
		shortest = min(shortest, s.DelayOf(c.Name))
	}
	return shortest
}

// pause holds the reason of the crawl's pause that was logged last; "" if the crawl was not paused
// then. The method paused compares it with the present reason, and logs only changes.
type pause struct {
	mu     sync.Mutex // protects the field reason
	reason string
}

// is(reason) stores the reason of the present pause; "" if the crawl is not paused. It reports
// whether the reason differs from the one stored before.
func (p *pause) is(reason string) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed = p.reason != reason
	p.reason = reason
	return changed
}

// paused reports whether the crawl is paused, and logs when a pause begins, changes its reason or
// ends.
func (f *Function) paused(ctx context.Context, c control.Document) bool {
	inForce := c.Paused(f.Now())
	if inForce == nil {
		if f.pause.is("") {
			f.Log.InfoContext(ctx, "the crawl goes on")
		}
		return false
	}
	if f.pause.is(inForce.Reason) {
		f.Log.InfoContext(ctx, "the crawl is paused", "by", inForce.By, "reason", inForce.Reason)
	}
	return true
}
