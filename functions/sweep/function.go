// Package sweep finds every piece of undone work by itself, so that a lost
// event, message or Redis costs time and nothing else (law 6). It also keeps
// the bucket tidy: it merges books, erases what is forgotten, and deletes what
// nothing refers to any more.
//
// Every step may be killed at any call and runs again as if nothing had been:
// what it puts is named by its content, and true only once a generation lists
// it. A step that fails keeps no other from running.
package sweep

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/restore"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/sweep/compact"
	"github.com/bucketsearch/bucketsearch/functions/sweep/erase"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Limits say how long things are kept and how much is done at once.
type Limits struct {
	Collect  collect.Limits
	Compact  compact.Limits
	Feedback time.Duration // for which vital signs are kept
	Tiers    segments.Limits
}

// DefaultLimits are those of the packages whose limits they are.
func DefaultLimits() Limits {
	return Limits{
		Collect: collect.DefaultLimits(), Compact: compact.DefaultLimits(),
		Feedback: 8 * 24 * time.Hour, Tiers: segments.DefaultLimits(),
	}
}

// Function is the sweep function.
type Function struct {
	Bucket blob.Bucket
	Redis  redis.UniversalClient
	Sender task.Sender
	Now    func() time.Time
	Worker string // who holds the leases
	Limits Limits
	Log    *slog.Logger

	erased    erase.Memory
	published settings.Reader
}

// Handle runs once a message, or does the one thing that it asks for. One that comes again is left to
// the clock, which has sent another since.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	event.Records = slices.DeleteFunc(event.Records, func(m events.SQSMessage) bool { return m.Attributes["ApproximateReceiveCount"] > "1" })
	return message.Each(ctx, f.Log, event, func(ctx context.Context, body string) error {
		var t task.Mask
		if err := message.Decode(body, &t); err != nil {
			return err
		}
		if t.Gone != nil {
			return f.mask(ctx, *t.Gone)
		}
		return f.Run(ctx)
	}), nil
}

// Run rebuilds frontiers that are missing, behind the books, or were built
// under other settings; sweeps every storage partition, and lets wait again
// what is due there; forgets dead letters, and has those sent again that
// somebody wants to; pauses the crawl when a limit is passed; and has schedule
// lease what waits.
func (f *Function) Run(ctx context.Context) error {
	inForce, err := f.published.Read(ctx, f.Bucket, f.Now())
	if err != nil {
		return err
	}
	fronts := &restore.Frontiers{Bucket: f.Bucket, Redis: f.Redis, Now: f.Now, Worker: f.Worker, Log: f.Log}
	errs := []error{fronts.Refresh(ctx, inForce)}
	out, err := f.leases(ctx, inForce)
	errs = append(errs, err)
	for _, p := range inForce.Partitions() {
		errs = append(errs, f.sweepPartition(ctx, inForce, p, out, fronts))
	}
	errs = append(errs, f.forgetLetters(ctx, inForce), f.resend(ctx), f.clearFeedback(ctx), f.enforceLimits(ctx, inForce))
	for _, crawl := range inForce.Crawl.Partitions() {
		errs = append(errs, task.Send(ctx, f.Sender, task.Schedule, task.Lease{Crawl: crawl}, 0))
	}
	return errors.Join(errs...)
}

// leases returns the batches that are out, and so not settled. It is nil when
// nobody knows.
func (f *Function) leases(ctx context.Context, s *settings.Settings) (map[layout.Version]bool, error) {
	out := make(map[layout.Version]bool)
	for _, crawl := range s.Crawl.Partitions() {
		versions, err := frontier.New(f.Redis, crawl).Leases(ctx)
		if err != nil {
			return nil, err
		}
		for _, version := range versions {
			out[version] = true
		}
	}
	return out, nil
}
