// Package schedule leases hosts from the frontier and sends batches to fetch.
//
// A batch is of one host, and keeps to the longest delay that the collections
// of its URLs, or the robots.txt of their origins, ask for. It holds what can
// be asked for in half of the time that a batch may take; of new links of a
// collection that has a topic, in a few seconds. With it goes what
// need not be asked for, with the reason: what robots.txt denies to the agent
// of the URL's collection, and new pages where as many are stored as the
// collection allows of the host or of an address.Pattern. Those limits hold
// neither for pages that are asked for again nor for sitemaps.
//
// The pages at which a collection stops are counted over all partitions. Once
// as many may be stored when all is had that is out, its other URLs wait; once
// as many are, they are parked. Neither holds for what is asked for again.
//
// A sitemap waits while more URLs of its host do than settings.MaxWaiting says,
// or frontier.Crowds times as many in all, so that one without end brings no
// more than can be asked for.
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

// Limits bound what is leased at once.
type Limits struct {
	Batches int           // leases out in one crawl partition, where no collection says how many fetches it wants
	Time    time.Duration // a batch may take; its lease ends then
}

// DefaultLimits suit a queue whose messages wait seconds, not minutes.
func DefaultLimits() Limits { return Limits{Batches: 64, Time: batch.MaxTime} }

// unsent is how long a lease lasts whose batch is not sent.
const unsent = 15 * time.Second

// perTarget is the time that a batch allows for one answer, beside the delay.
const perTarget = 500 * time.Millisecond

// topicTime is how long a batch of a topic's links may take, so that strong ones
// which it finds do not wait long for weak ones that are known.
const topicTime = 5 * time.Second

// Function is the schedule function.
type Function struct {
	Settings *settings.Cache
	Redis    redis.UniversalClient
	Sender   task.Sender
	Now      func() time.Time
	Limits   Limits
	Agent    string
	Log      *slog.Logger

	pause  pause // as it was last logged
	memory memory
}

// Handle runs one task a message.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.EachTask(ctx, f.Log, event, f.Run), nil
}

// Run frees the leases that have ended and, unless the crawl is paused, leases
// hosts until none may be asked, or enough batches are out. A batch that cannot
// be sent waits for the end of its lease. From a frontier that has to be rebuilt
// nothing is leased: a sweep is asked for.
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
		request, more, err := f.request(ctx, front, inForce)
		if err != nil || !more {
			return err
		}
		leased, err := f.lease(ctx, front, inForce, t.Crawl, request)
		if err != nil || !leased {
			return err
		}
	}
}

// lease leases a host and sends its batch. The lease is a short one until the
// batch is sent, so that a host need not wait long for a schedule that was
// killed in between.
func (f *Function) lease(ctx context.Context, front *frontier.Frontier, s *settings.Settings, crawl int, r frontier.Request) (bool, error) {
	now := f.Now()
	r.Now, r.Deadline = now, now.Add(unsent)
	r.Max, r.MaxBytes = f.fit(shortestDelay(s)), batch.MaxBytes/3 // JSON doubles some bytes, and adds to each URL
	r.Connections, r.Short, r.Waiting = s.Connections(), short(s), s.MaxWaiting()
	lease, leased, err := front.Lease(ctx, r)
	if err != nil || !leased {
		return false, err
	}
	f.memory.remember(crawl, lease.Version)
	deadline := time.UnixMilli(now.Add(f.Limits.Time).UnixMilli())
	message, err := f.batch(ctx, front, s, lease)
	if err != nil {
		return false, err
	}
	if len(message.Targets) > 0 {
		message.Crawl, message.Deadline = crawl, deadline
		f.Log.DebugContext(ctx, "leased", "crawl", crawl, "partition", message.Storage, "batch", lease.Version, "host", lease.Host, "urls", len(message.Targets))
		if err := task.Send(ctx, f.Sender, task.Fetch, message, 0); err != nil {
			return false, err
		}
	}
	_, err = front.Extend(ctx, lease.Version, deadline) // nothing is out that is settled already
	return true, err
}

func (f *Function) fit(delay time.Duration) int { return fit(f.Limits.Time/2, delay) }

func fit(time, delay time.Duration) int {
	return max(1, min(batch.MaxTargets, int(time/(delay+perTarget))))
}

// short is how many URLs a batch has with one of a collection that has a topic.
func short(s *settings.Settings) map[string]int {
	most := make(map[string]int)
	for _, c := range s.Collections {
		if c.Topic != nil {
			most[c.Name] = fit(topicTime, s.DelayOf(c.Name))
		}
	}
	return most
}

// shortestDelay is that of the hastiest collection.
func shortestDelay(s *settings.Settings) time.Duration {
	shortest := s.Delay()
	for _, c := range s.Collections {
		shortest = min(shortest, s.DelayOf(c.Name))
	}
	return shortest
}

// pause remembers for what reason the crawl is paused, "" when it goes on.
type pause struct {
	mu     sync.Mutex // protects reason
	reason string
}

// is notes a reason and reports whether it is another than before.
func (p *pause) is(reason string) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed = p.reason != reason
	p.reason = reason
	return changed
}

// paused reports whether nothing is leased now, and logs when that changes.
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
