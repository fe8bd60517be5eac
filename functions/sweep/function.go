// Package sweep finds every piece of undone work by itself, so that a lost
// event, message or Redis costs time and nothing else (law 6).
package sweep

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/message"
	"github.com/bucketsearch/bucketsearch/functions/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// DefaultKeep is longer than any lease of a batch.
const DefaultKeep = 15 * time.Minute

// Function is the sweep function.
type Function struct {
	Bucket blob.Bucket
	Redis  redis.UniversalClient
	Sender task.Sender
	Now    func() time.Time
	Worker string        // who holds the leases
	Keep   time.Duration // how long a packed spool object is kept
	Log    *slog.Logger
}

// Handle runs once a message, whatever it says.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Each(ctx, f.Log, event, func(ctx context.Context, _ string) error { return f.Run(ctx) }), nil
}

// Run rebuilds the frontier where it is missing or was built under other
// settings, and sends a message for all that is spooled and not packed, packed
// and not indexed, waiting and not leased.
func (f *Function) Run(ctx context.Context) error {
	inForce, err := settings.Read(ctx, f.Bucket)
	if err != nil {
		return err
	}
	if err := f.rebuild(ctx, inForce); err != nil {
		return err
	}
	out, err := f.leases(ctx, inForce)
	if err != nil {
		return err
	}
	for _, p := range inForce.Partitions() {
		if err := f.sweepPartition(ctx, p, out); err != nil {
			return err
		}
	}
	for _, crawl := range inForce.Crawl.Partitions() {
		if err := task.Send(ctx, f.Sender, task.Schedule, task.Lease{Crawl: crawl}, 0); err != nil {
			return err
		}
	}
	return nil
}

// leases returns the batches that are out, and so not settled.
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
