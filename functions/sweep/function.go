// Package sweep finds every piece of undone work by itself, so that the loss of an event, a message
// or all of Redis costs time and nothing else. It also keeps the bucket tidy: it merges books
// (records of what became of URLs), erases pages that takedowns forget, and deletes objects that
// nothing refers to any more.
//
// Every step may be killed at any call, and be run again: the objects that it puts are named by
// their content, and count only when the manifest lists them. When a step fails, the others run all
// the same.
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

	"github.com/bucketsearch/bucketsearch/functions/shared/census"
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
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Limits say when old data are deleted, and when books and segments are merged: how many of one
// size class are merged, and how large the result may be.
type Limits struct {
	Collect  collect.Limits
	Compact  compact.Limits
	Feedback time.Duration // age at which vital signs (reports of processes) are deleted
	Clicks   time.Duration // age at which clicks are deleted
	Finished int64         // field Finished of restore.Frontiers
	Tiers    segments.Limits
}

// DefaultLimits returns the default limits of the sweep. Vital signs are deleted after eight days,
// and clicks after 90 days. The other limits are the defaults of the Go packages collect, compact
// and segments.
func DefaultLimits() Limits {
	return Limits{
		Collect: collect.DefaultLimits(), Compact: compact.DefaultLimits(),
		Feedback: 8 * 24 * time.Hour, Clicks: 90 * 24 * time.Hour, Tiers: segments.DefaultLimits(),
	}
}

// hintAge is the time after which the sweep checks the hint of the settings again, by LISTs. Whoever publishes writes
// the hint; so the sweep finds it outdated only if a publisher was killed.
const hintAge = time.Hour

// censusAge is the time after which it is decided again whether to count the URLs.
const censusAge = time.Hour

// Function is the sweep function, with the clients and limits that it works with.
type Function struct {
	Bucket blob.Bucket
	Redis  redis.UniversalClient
	Sender task.Sender
	Now    func() time.Time
	Worker string // name under which this process takes leases
	Limits Limits
	// DeadLetters has the messages that SQS gave up; nil where queues store dead letters themselves, as on a laptop.
	DeadLetters interface{ Drain(context.Context) error }
	Log         *slog.Logger

	erased erase.Memory
}

// Handle does what each message, a task.Clean, says. If SQS delivers a message again after a failure,
// Handle ignores it, because a timer sends new messages anyway.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	event.Records = slices.DeleteFunc(event.Records, func(m events.SQSMessage) bool { return m.Attributes["ApproximateReceiveCount"] > "1" })
	return message.EachTask(ctx, f.Log, event, f.Run), nil
}

// Run does what a task.Clean says: it sweeps everything, or one storage partition, or only masks gone
// pages or counts URLs.
func (f *Function) Run(ctx context.Context, t task.Clean) error {
	if t.Gone == nil && t.Storage == nil && !t.Count {
		return f.sweep(ctx)
	}
	inForce, err := f.inForce(ctx)
	switch {
	case err != nil:
		return err
	case t.Gone != nil:
		return f.mask(ctx, inForce, *t.Gone)
	case t.Count:
		return f.countStep(ctx, inForce, false)
	}
	return f.sweepPartition(ctx, inForce, *t.Storage)
}

// sweep sweeps the whole bucket, that is, finds undone work and deletes what is not needed, in these
// steps:
//
//	hint of the settings          write it again if it does not name all versions; once in hintAge
//	takedowns                     make those final that can no longer be taken back
//	memory of Redis               note if it is nearly used up
//	frontiers (queues in Redis)   rebuild those that are lost or outdated, and let others follow new settings
//	every storage partition       sweep it (see sweepPartition), each in an invocation of its own; a
//	                              single one at once
//	judgments and clicks          erase those of forgotten URLs
//	dead letters                  take those in SQS's queue, delete those with forgotten URLs, send again those
//	                              that an operator names
//	vital signs and clicks        delete old ones, once in a grace period (a day)
//	runs                          delete those that no frontier needs, once in a grace period
//	limits                        pause the crawl when one is reached
//	every crawl partition         send schedule a task to lease batches
//	finished URLs                 move their states from Redis to the bucket if there are many
//	numbers of URLs               count them again, once in censusAge or when the crawl ends
func (f *Function) sweep(ctx context.Context) error {
	read := f.inForce
	hint := f.every(ctx, hintAge, "settings hint", func() error { return numbered.Refresh(ctx, f.Bucket) })
	if hint != nil { // then the hint may be old: takedowns and pauses may be missing in it
		read = func(ctx context.Context) (*settings.Settings, error) { return settings.Read(ctx, f.Bucket, f.Now()) }
	}
	inForce, err := read(ctx)
	if err != nil {
		return err
	}
	var sealed error
	if inForce.Takedowns.IsDue(f.Now()) {
		sealed = takedown.Seal(ctx, f.Bucket, f.Now()) // it fails if a newer program wrote them; the rest goes on
		if inForce, err = read(ctx); err != nil {
			return errors.Join(sealed, err)
		}
	}
	errs := []error{hint, sealed, f.noteMemory(ctx), f.fronts().Refresh(ctx, inForce)}
	if all := inForce.Partitions(); len(all) == 1 {
		errs = append(errs, f.sweepPartition(ctx, inForce, all[0]))
	} else {
		for _, p := range all {
			errs = append(errs, task.Send(ctx, f.Sender, task.Sweep, task.Clean{Storage: &p}, 0))
		}
	}
	errs = append(errs, f.forgetJudgments(ctx, inForce), f.drain(ctx), f.forgetLetters(ctx, inForce), f.resend(ctx),
		f.once(ctx, "clear old", func() error { return f.clearOld(ctx) }), f.clearRuns(ctx, inForce), f.enforceLimits(ctx, inForce))
	for _, crawl := range inForce.Crawl.Partitions() {
		errs = append(errs, f.schedule(ctx, crawl, inForce))
	}
	errs = append(errs, f.fronts().Retire(ctx, inForce), f.count(ctx, inForce)) // last: to merge large runs takes minutes, and so does counting
	return errors.Join(errs...)
}

// count counts the URLs by their states again, if that pays (see census.Refresh). It decides so once in censusAge, and
// at once when the crawl ends or takedowns change: saved numbers may have names of hosts.
func (f *Function) count(ctx context.Context, s *settings.Settings) error {
	ended, err := f.hasEnded(ctx, s)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("census %d %t", s.Takedowns.Hidden().Version, ended)
	return f.every(ctx, censusAge, name, func() error { return f.countStep(ctx, s, ended) })
}

// countStep takes one step of a count of the URLs, unless another process is taking one. If there are more to be
// counted, it sends this function a message to go on.
func (f *Function) countStep(ctx context.Context, s *settings.Settings, ended bool) error {
	leases := lease.New(f.Redis, f.Worker+"/"+rand.Text())
	held, first, err := leases.Acquire(ctx, "count", f.Now(), task.Timeout(task.Sweep))
	if err != nil || !first {
		return err
	}
	more, err := census.Refresh(ctx, f.Bucket, s, f.Now(), ended)
	if err := errors.Join(err, leases.Release(context.WithoutCancel(ctx), held)); err != nil || !more {
		return err
	}
	return task.Send(ctx, f.Sender, task.Sweep, task.Clean{Count: true}, 0)
}

// inForce returns the settings in force, from their hint, which sweep writes again if it is behind.
func (f *Function) inForce(ctx context.Context) (*settings.Settings, error) {
	cache := settings.Cache{Bucket: f.Bucket, Now: f.Now}
	return cache.Get(ctx)
}

func (f *Function) fronts() *restore.Frontiers {
	return &restore.Frontiers{Bucket: f.Bucket, Redis: f.Redis, Now: f.Now, Worker: f.Worker, Finished: f.Limits.Finished, Log: f.Log}
}

// schedule sends the function schedule a task to lease batches of a crawl partition. If the
// partition's frontier (its queues in Redis) is not built, it sends nothing: the function schedule
// could do nothing but call the sweep.
func (f *Function) schedule(ctx context.Context, crawl int, s *settings.Settings) error {
	switch err := frontier.New(f.Redis, crawl).Built(ctx, s.Fingerprint()); {
	case err == nil, errors.Is(err, frontier.ErrSettings): // a frontier of older settings serves until it is rebuilt
		return task.Send(ctx, f.Sender, task.Schedule, task.Lease{Crawl: crawl}, 0)
	case errors.Is(err, frontier.ErrNotBuilt):
		return nil
	default:
		return err
	}
}

// leases returns the batches that are leased in any crawl partition, that is, given to fetch and
// not settled yet. If there is an error, the map is nil.
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
	out      map[layout.Version]bool // batches that are leased to the function fetch; nil if they are not known
	ended    bool                    // no URL waits or is leased in any crawl partition
	spooled  []blob.Object           // objects in the partition's spool, listed before the manifest was read
}

// open opens a storage partition. It leaves some fields of the result empty, which the caller sets
// as needed.
func (f *Function) open(ctx context.Context, id layout.Partition) (*swept, error) {
	p, err := partition.Open(ctx, f.Bucket, id, f.Now)
	return &swept{Function: f, Partition: p}, err
}

// sweepPartition does all steps of the sweep on one storage partition, in this order:
//
//	frontiers                       rebuild them if Redis came back with an older state: then a batch
//	                                in the spool is newer than all batches of this state
//	undone work                     send its messages again
//	small packages, segments        have them indexed together, and merged
//	URLs that are due               put back into the queues of their hosts
//	spool                           delete packed objects
//	books                           merge
//	forgotten pages                 erase
//	pages gone from the web         mark their documents as dead; later drop the pages from the
//	                                manifest's list
//	packages without current pages  condemn (mark for deletion)
//	objects that nothing lists      condemn
//	old versions of the manifest    delete
//	condemned objects               delete after the grace period (a day)
func (f *Function) sweepPartition(ctx context.Context, s *settings.Settings, id layout.Partition) error {
	out, errLeases := f.leases(ctx, s)
	ended, errEnded := f.hasEnded(ctx, s)
	fronts := f.fronts()
	// The spool is listed before the manifest is read: a batch that is packed in between counts as consumed.
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
	p.settings, p.out, p.ended, p.spooled = s, out, ended, spooled
	collector := &collect.Collector{Partition: p.Partition, Bucket: f.Bucket, Now: f.Now, Limits: f.Limits.Collect, Log: f.Log}
	eraser := &erase.Eraser{
		Partition: p.Partition, Bucket: f.Bucket, Sender: f.Sender, Now: f.Now, Takedowns: s.Takedowns,
		Collector: collector, Memory: &f.erased, Log: f.Log,
	}
	return errors.Join(
		errLeases,
		errEnded,
		older,
		p.raiseUndone(ctx),
		p.raiseTogether(ctx),
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

// batchVersions returns the versions (epoch and token) of the batches that have an object in the
// spool. It ignores objects whose keys are not those of batches.
func batchVersions(spooled []blob.Object) (batches []layout.Version) {
	for _, object := range spooled {
		if _, batch, err := layout.ParseSpoolKey(object.Key); err == nil {
			batches = append(batches, batch)
		}
	}
	return batches
}

// forget erases all data about URLs that the takedowns forget. When nothing is left of these data,
// it still searches for them once per grace period (a day): a process with older settings may have
// stored some later.
func (p *swept) forget(ctx context.Context, eraser *erase.Eraser) error {
	if p.settings.Takedowns.Version == 0 {
		return nil
	}
	if eraser.Forgets() {
		return eraser.Run(ctx)
	}
	return p.once(ctx, fmt.Sprintf("forget %s", p.ID()), func() error { return eraser.Collector.Forgotten(ctx) })
}

// clearOutlived condemns packages (marks them for deletion) that nobody needs: every page in them
// has a later version elsewhere or is gone from the web. It does so at most once per grace period,
// and does nothing while pages of a takedown are still to be erased.
func (p *swept) clearOutlived(ctx context.Context, collector *collect.Collector, eraser *erase.Eraser) error {
	if eraser.Forgets() {
		return nil
	}
	return p.once(ctx, fmt.Sprintf("outlived %s", p.ID()), func() error { return collector.Outlived(ctx) })
}

// once calls a function, but at most once within a grace period (Limits.Collect.Grace), as every does.
func (f *Function) once(ctx context.Context, name string, do func() error) error {
	return f.every(ctx, f.Limits.Collect.Grace, name, do)
}

// every calls a function, but at most once within a period. For this it takes a lease with the given
// name in Redis. While the lease lasts, further calls with this name do nothing. If the function
// fails, every releases the lease, so that the next sweep tries again.
func (f *Function) every(ctx context.Context, period time.Duration, name string, do func() error) error {
	leases := lease.New(f.Redis, f.Worker+"/"+rand.Text())
	held, first, err := leases.Acquire(ctx, name, f.Now(), period)
	if err != nil || !first {
		return err
	}
	if err := do(); err != nil {
		return errors.Join(err, leases.Release(context.WithoutCancel(ctx), held))
	}
	return nil
}
