// Package schedule leases hosts from the frontier and sends batches to fetch.
//
// A batch is of one host, and keeps to the longest delay that the collections
// of its URLs, or the robots.txt of their origins, ask for. It holds what can
// be asked for in half of the time that a batch may take. With it goes what
// need not be asked for, with the reason: what robots.txt denies to the agent
// of the URL's collection, and new pages where as many are stored as the
// collection allows of the host or of an address.Pattern. Those limits hold
// neither for pages that are asked for again nor for sitemaps.
//
// The pages at which a collection stops are counted over all collections and
// partitions. Once there are as many, or may be when all is had that is out,
// only pages that are stored are leased, for they are asked again.
package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/message"
	"github.com/bucketsearch/bucketsearch/functions/task"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Limits bound what is leased at once.
type Limits struct {
	Batches int           // leases out in one crawl partition, where no collection says how many fetches it wants
	Time    time.Duration // a batch may take; its lease ends then
}

// DefaultLimits suit a queue whose messages wait seconds, not minutes.
func DefaultLimits() Limits { return Limits{Batches: 64, Time: 2 * time.Minute} }

// horizon is how far ahead of its time a host may be leased: fetch waits.
const horizon = 2 * time.Second

// unsent is how long a lease lasts whose batch is not sent.
const unsent = 15 * time.Second

// perTarget is the time that a batch allows for one answer, beside the delay.
const perTarget = 500 * time.Millisecond

// Function is the schedule function.
type Function struct {
	Settings *settings.Cache
	Redis    redis.UniversalClient
	Sender   task.Sender
	Now      func() time.Time
	Limits   Limits
	Agent    string
	Log      *slog.Logger

	pause pause // as it was last logged
}

// Handle runs one task a message.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Each(ctx, f.Log, event, func(ctx context.Context, body string) error {
		var t task.Lease
		if err := json.Unmarshal([]byte(body), &t); err != nil {
			return message.Terminal(fmt.Errorf("message to schedule is no task: %w", err))
		}
		return f.Run(ctx, t)
	}), nil
}

// Run frees the leases that have ended and, unless the crawl is paused, leases
// hosts until none may be asked, or enough batches are out. A batch that cannot
// be sent waits for the end of its lease.
func (f *Function) Run(ctx context.Context, t task.Lease) error {
	now := f.Now()
	front := frontier.New(f.Redis, t.Crawl)
	if _, err := front.Expire(ctx, now); err != nil {
		return err
	}
	inForce, err := f.Settings.Get(ctx)
	if err != nil || f.paused(ctx, inForce.Control) {
		return err
	}
	for {
		room, again, err := f.room(ctx, front, inForce)
		if err != nil || room == 0 {
			return err
		}
		leased, err := f.lease(ctx, front, inForce, t.Crawl, room, again)
		if err != nil || !leased {
			return err
		}
	}
}

// room returns how many URLs may be leased now, and whether only pages that are
// stored and asked again.
func (f *Function) room(ctx context.Context, front *frontier.Frontier, s *settings.Settings) (room int, again bool, err error) {
	counts, err := front.Counts(ctx)
	if err != nil {
		return 0, false, err
	}
	stop, fetches := s.StopAt(), s.Fetches()
	if counts.Waiting == 0 || fetches == 0 && counts.Batches >= int64(f.Limits.Batches) {
		return 0, false, nil
	}
	if stop == 0 && fetches == 0 {
		return batch.MaxTargets, false, nil
	}
	taken, out := int64(0), int64(0) // URLs that are stored or may be; batches
	for _, crawl := range s.Crawl.Partitions() {
		counts, err := frontier.New(f.Redis, crawl).Counts(ctx)
		if err != nil {
			return 0, false, err
		}
		taken += counts.Stored + counts.Leased - counts.LeasedAgain
		out += counts.Batches
	}
	stored := counts.Again - counts.LeasedAgain // of those that wait
	switch {
	case fetches > 0 && out >= int64(fetches):
		return 0, false, nil
	case stop == 0:
		return batch.MaxTargets, false, nil
	case taken < stop && stored < counts.Waiting:
		return int(min(stop-taken, batch.MaxTargets)), false, nil
	case stored > 0:
		return batch.MaxTargets, true, nil
	}
	return 0, false, nil
}

// lease leases a host and sends its batch. The lease is a short one until the
// batch is sent, so that a host need not wait long for a schedule that was
// killed in between.
func (f *Function) lease(ctx context.Context, front *frontier.Frontier, s *settings.Settings, crawl, room int, again bool) (bool, error) {
	now := f.Now()
	lease, leased, err := front.Lease(ctx, frontier.Request{
		Now:         now,
		Horizon:     horizon,
		Deadline:    now.Add(unsent),
		Max:         min(room, f.fit(shortestDelay(s))),
		MaxBytes:    batch.MaxBytes / 3, // JSON doubles some bytes, and adds to each URL
		Connections: s.Connections(),
		Again:       again,
	})
	if err != nil || !leased {
		return false, err
	}
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

// fit is how many URLs may be asked for in the time of a batch.
func (f *Function) fit(delay time.Duration) int {
	return max(1, min(batch.MaxTargets, int(f.Limits.Time/2/(delay+perTarget))))
}

// shortestDelay is that of the hastiest collection.
func shortestDelay(s *settings.Settings) time.Duration {
	shortest := s.Delay()
	for _, c := range s.Collections {
		shortest = min(shortest, s.DelayOf(c.Name))
	}
	return shortest
}
