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
	"crypto/rand"
	"errors"
	"fmt"
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
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
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
	return message.EachTask(ctx, f.Log, event, func(ctx context.Context, t task.Mask) error {
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
		errs = append(errs, f.schedule(ctx, crawl, inForce))
	}
	return errors.Join(errs...)
}

// schedule has schedule lease what waits in a frontier. Of one that could not be
// rebuilt it would only ask for the next sweep.
func (f *Function) schedule(ctx context.Context, crawl int, s *settings.Settings) error {
	switch err := frontier.New(f.Redis, crawl).Built(ctx, s.Fingerprint()); {
	case err == nil, errors.Is(err, frontier.ErrSettings): // the one of before goes on
		return task.Send(ctx, f.Sender, task.Schedule, task.Lease{Crawl: crawl}, 0)
	case errors.Is(err, frontier.ErrNotBuilt):
		return nil
	default:
		return err
	}
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
		for _, v := range versions {
			out[v] = true
		}
	}
	return out, nil
}

// swept is one storage partition while it is swept.
type swept struct {
	*Function
	*partition.Partition
	settings *settings.Settings
	out      map[layout.Version]bool // batches on lease; nil: nobody knows
	spooled  []blob.Object
}

func (f *Function) open(ctx context.Context, id layout.Partition) (*swept, error) {
	p, err := partition.Open(ctx, f.Bucket, id, f.Now)
	return &swept{Function: f, Partition: p}, err
}

func (f *Function) sweepPartition(ctx context.Context, s *settings.Settings, id layout.Partition, out map[layout.Version]bool, fronts *restore.Frontiers) error {
	// Spool before manifest: a batch that is packed in between is consumed.
	spooled, err := blob.List(ctx, f.Bucket, layout.SpoolPrefix(id))
	if err != nil {
		return err
	}
	older := fronts.Older(ctx, s, batchVersions(spooled))
	p, err := f.open(ctx, id)
	if err != nil {
		return err
	}
	if err := p.Begin(ctx); err != nil {
		return err
	}
	p.settings, p.out, p.spooled = s, out, spooled
	collector := &collect.Collector{Partition: p.Partition, Bucket: f.Bucket, Now: f.Now, Limits: f.Limits.Collect, Log: f.Log}
	eraser := &erase.Eraser{
		Partition: p.Partition, Bucket: f.Bucket, Sender: f.Sender, Now: f.Now, Takedowns: s.Takedowns,
		Collector: collector, Memory: &f.erased, Log: f.Log,
	}
	return errors.Join(
		older,
		p.raiseUndone(ctx),
		fronts.Renew(ctx, s, p.Manifest()),
		collector.Spool(ctx, spooled, out, eraser.Forgets()),
		compact.Run(ctx, f.Bucket, p.Partition, f.Limits.Compact, f.Log),
		p.forget(ctx, eraser),
		p.maskGone(ctx),
		p.dropGone(ctx),
		p.clearOutlived(ctx, collector, eraser),
		f.once(ctx, fmt.Sprintf("orphans %s", id), func() error { return collector.Unlisted(ctx) }),
		collector.Past(ctx),
		collector.Condemned(ctx),
	)
}

// batchVersions are those of the batches in the spool; foreign objects have none.
func batchVersions(spooled []blob.Object) (batches []layout.Version) {
	for _, object := range spooled {
		if _, batch, err := layout.ParseSpoolKey(object.Key); err == nil {
			batches = append(batches, batch)
		}
	}
	return batches
}

// forget erases what is forgotten. Once nothing is left, it looks now and then
// for what came late, from those who knew nothing of the takedown.
func (p *swept) forget(ctx context.Context, eraser *erase.Eraser) error {
	if p.settings.Takedowns.Version == 0 {
		return nil
	}
	if eraser.Forgets() {
		return eraser.Run(ctx)
	}
	return p.once(ctx, fmt.Sprintf("forget %s", p.ID()), func() error { return eraser.Collector.Forgotten(ctx) })
}

// clearOutlived condemns now and then the packages of which no page counts any
// more, unless what is dead may be forgotten.
func (p *swept) clearOutlived(ctx context.Context, collector *collect.Collector, eraser *erase.Eraser) error {
	if eraser.Forgets() {
		return nil
	}
	return p.once(ctx, fmt.Sprintf("outlived %s", p.ID()), func() error { return collector.Outlived(ctx) })
}

// once does what has to be done now and then: again when it has failed, and
// else after the grace. Whoever began to work before a takedown was known, and
// stores what it forgets afterwards, has done so by then. Should Redis forget
// about it, it is done more often; should the process be killed meanwhile, it
// is done after the grace.
func (f *Function) once(ctx context.Context, name string, do func() error) error {
	leases := lease.New(f.Redis, f.Worker+"/"+rand.Text())
	held, first, err := leases.Acquire(ctx, name, f.Now(), f.Limits.Collect.Grace)
	if err != nil || !first {
		return err
	}
	if err := do(); err != nil {
		return errors.Join(err, leases.Release(context.WithoutCancel(ctx), held))
	}
	return nil
}
