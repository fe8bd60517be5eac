// Package schedule leases hosts from the frontier and sends batches to fetch.
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
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Limits bound what is leased at once.
type Limits struct {
	Batches int           // leases out in one crawl partition
	Time    time.Duration // a batch may take; its lease ends then
}

// DefaultLimits suit a queue whose messages wait seconds, not minutes.
func DefaultLimits() Limits { return Limits{Batches: 64, Time: 2 * time.Minute} }

// horizon is how far ahead of its time a host may be leased: fetch waits.
const horizon = 2 * time.Second

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
		room, err := f.room(ctx, front, inForce)
		if err != nil || room == 0 {
			return err
		}
		leased, err := f.lease(ctx, front, inForce, t.Crawl, room)
		if err != nil || !leased {
			return err
		}
	}
}

// room returns how many URLs may be leased now.
func (f *Function) room(ctx context.Context, front *frontier.Frontier, s *settings.Settings) (int, error) {
	counts, err := front.Counts(ctx)
	if err != nil {
		return 0, err
	}
	if counts.Waiting == 0 || counts.Batches >= int64(f.Limits.Batches) {
		return 0, nil
	}
	stop, fetches := s.StopAt(), s.Fetches()
	if stop == 0 && fetches == 0 {
		return batch.MaxTargets, nil
	}
	taken, out := int64(0), int64(0)
	for _, crawl := range s.Crawl.Partitions() {
		counts, err := frontier.New(f.Redis, crawl).Counts(ctx)
		if err != nil {
			return 0, err
		}
		taken += counts.Stored + counts.Leased
		out += counts.Batches
	}
	switch {
	case fetches > 0 && out >= int64(fetches):
		return 0, nil
	case stop == 0:
		return batch.MaxTargets, nil
	}
	return int(min(max(stop-taken, 0), batch.MaxTargets)), nil
}

func (f *Function) lease(ctx context.Context, front *frontier.Frontier, s *settings.Settings, crawl, room int) (bool, error) {
	now := f.Now()
	most := int(f.Limits.Time / 2 / (s.Delay() + perTarget))
	lease, leased, err := front.Lease(ctx, frontier.Request{
		Now:         now,
		Horizon:     horizon,
		Deadline:    now.Add(f.Limits.Time),
		Max:         max(1, min(room, most)),
		MaxBytes:    batch.MaxBytes / 3, // JSON doubles some bytes, and adds to each URL
		Connections: s.Connections(),
	})
	if err != nil || !leased {
		return false, err
	}
	message, err := f.batch(ctx, s, lease)
	if err != nil || len(message.Targets) == 0 {
		return true, err
	}
	message.Crawl = crawl
	message.DelayMillis = max(message.DelayMillis, s.Delay().Milliseconds())
	f.Log.DebugContext(ctx, "leased", "crawl", crawl, "partition", message.Storage, "batch", lease.Version, "host", lease.Host, "urls", len(message.Targets))
	return true, task.Send(ctx, f.Sender, task.Fetch, message, 0)
}

// batch turns a lease into a message, with robots.txt applied as far as it is
// known. A batch is stored whole in the partition of its first URL. What is
// forgotten since it was admitted is left out, and leaves no trace: it stays
// on lease until the frontier is rebuilt without it.
func (f *Function) batch(ctx context.Context, s *settings.Settings, lease frontier.Lease) (batch.Batch, error) {
	b := batch.Batch{
		Version:   lease.Version,
		Host:      lease.Host,
		NotBefore: lease.NotBefore,
		Deadline:  lease.Deadline,
		Failures:  lease.Failures,
	}
	var addresses []address.Address
	for _, entry := range lease.Entries {
		target, err := address.Parse(entry.URL)
		if err != nil {
			return b, fmt.Errorf("url %q in the frontier: %w", entry.URL, err)
		}
		if s.Takedowns.Forgets(target) {
			continue
		}
		addresses = append(addresses, target)
		b.Targets = append(b.Targets, batch.Target{
			URL:         entry.URL,
			Depth:       entry.Depth,
			Hops:        entry.Hops,
			Attempts:    entry.Attempts,
			Exponent:    entry.Exponent,
			Collections: []string{entry.Collection},
		})
	}
	if len(addresses) == 0 {
		return b, nil
	}
	storage, err := s.Storage.Decide(addresses[0])
	if err != nil {
		return b, fmt.Errorf("no storage partition for %s: %w", addresses[0].URL, err)
	}
	b.Storage = layout.Partition(storage)
	robots, err := f.robots(ctx, addresses)
	if err != nil {
		return b, err
	}
	b.Robots, b.DelayMillis = robots.wanted, robots.delay.Milliseconds()
	for i, target := range addresses {
		b.Targets[i].Denied = robots.denies(target)
	}
	return b, nil
}
