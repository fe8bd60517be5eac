// Package pack settles spool objects (fetched batches) in the frontier, and packs them into
// packages of pages and into books, which record outcomes and links.
//
// A spool object is settled as soon as its event arrives, before it is packed: it is in the bucket,
// so nothing can be lost, and the crawl does not wait for a package to fill. Packing waits until
// enough spool objects have gathered (see Limits).
//
// To settle a batch is to apply it to the frontier:
//
//	target of a link that the settings admit    waits in its host's queue
//	page of which a sitemap says it changed     waits again before it is due
//	URL of the batch                            gets the state of its outcome
//	page that was stored                        counts towards the limits of its collections
//	host                                        is not requested again before the delay that its
//	                                            answers, its robots.txt or the collections require
package pack

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Limits say when spool objects are packed: at which total size, and at which age. In a new
// partition they are packed earlier (see Gather).
type Limits struct {
	Bytes int64         // the spool objects (fetched batches) of a partition are packed when their pages have this many uncompressed bytes
	Age   time.Duration // all spool objects of a partition are packed when the oldest has this age
}

// DefaultLimits returns limits with which a package has about 32 MiB, or less if the oldest spool
// object has waited for a minute.
func DefaultLimits() Limits { return Limits{Bytes: 32 << 20, Age: time.Minute} }

// Function is the pack function: its fields are the clients and limits that it works with.
type Function struct {
	Bucket   blob.Bucket
	Settings *settings.Cache
	Redis    redis.UniversalClient
	Sender   task.Sender
	Now      func() time.Time
	Limits   Limits
	Worker   string // name of the process in its leases
	Agent    string // User-Agent of collections whose settings have none
	Log      *slog.Logger

	runs frontier.RunCache
}

// Handle takes two kinds of messages:
//
//	message                        action
//	bucket event of spool/         settle the spool object (see Settle)
//	task.Gather                    pack a partition's settled spool objects (see Gather)
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Each(ctx, f.Log, event, f.handle), nil
}

func (f *Function) handle(ctx context.Context, body string) error {
	if t, isTask := message.Task[task.Gather](body); isTask {
		return f.Gather(ctx, t)
	}
	return message.EachKey(body, func(key string) error { return f.Settle(ctx, key) })
}

// enough is the number of spool objects that Gather reads at least, if there are so many. When packing is slower
// than fetching, more and more wait; the time that one call of Gather takes must not grow with their number.
const enough = 1024

// leaseTime is the duration of the lease on packing a partition. If pack is killed,
// another process can pack the partition after that time.
const leaseTime = 30 * time.Second

// Gather packs the settled spool objects of a partition if
//
//   - together they reach Limits.Bytes;
//   - the oldest has reached Limits.Age;
//   - they have as many pages as the partition's packages have so far, or more;
//   - there are at least enough of them;
//   - the crawl has ended; or
//   - the task says Flush.
//
// By the third condition the first page of a partition is packed at once, and then the packages
// grow: of 1, 1, 2, 4, 8 pages and so on. So the first pages can be searched early, and the number of
// small packages is only the logarithm of the number of pages.
//
// Otherwise it sends pack a task that arrives after Limits.Age.
func (f *Function) Gather(ctx context.Context, t task.Gather) error {
	inbox := frontier.NewInbox(f.Redis, t.Storage)
	leases := lease.New(f.Redis, f.Worker)
	for {
		waiting, err := inbox.Settled(ctx, enough)
		if err != nil || len(waiting) == 0 {
			return err
		}
		due, err := f.due(ctx, t.Storage, waiting, t.Flush)
		if err != nil {
			return err
		}
		if !due {
			return f.remind(ctx, t.Storage)
		}
		worked, err := leases.Do(ctx, fmt.Sprintf("pack %s", t.Storage), f.Now, leaseTime, func() error {
			return f.packAll(ctx, t.Storage, fill(waiting, f.Limits.Bytes))
		})
		if err != nil {
			return err
		}
		if !worked { // the holder may have looked before the last spool object came
			return task.Send(ctx, f.Sender, task.Pack, t, time.Second)
		}
	}
}

// due reports whether the waiting spool objects of a partition, all of them settled, are to be packed
// now, because one of the conditions of Gather holds. The parameter flush is the field Flush of
// Gather's task.
func (f *Function) due(ctx context.Context, p layout.Partition, waiting []frontier.Waiting, flush bool) (bool, error) {
	var bytes int64
	pages, oldest := 0, waiting[0].Since
	for _, w := range waiting {
		bytes, pages = bytes+w.Bytes, pages+w.Pages
		if w.Since.Before(oldest) {
			oldest = w.Since
		}
	}
	if flush || len(waiting) >= enough || bytes >= f.Limits.Bytes || f.Now().Sub(oldest) >= f.Limits.Age {
		return true, nil
	}
	if pages > 0 {
		packed, err := frontier.NewInbox(f.Redis, p).Packed(ctx)
		if err != nil || pages >= packed {
			return err == nil, err
		}
	}
	return f.ended(ctx)
}

// ended reports whether the crawl has ended: no URL waits or is leased in any crawl partition.
func (f *Function) ended(ctx context.Context) (bool, error) {
	inForce, err := f.Settings.Get(ctx)
	if err != nil {
		return false, err
	}
	return frontier.Ended(ctx, f.Redis, inForce.Crawl.Partitions())
}

// remind sends pack a task.Gather that arrives after Limits.Age. It sends none if a task that it
// sent earlier has not arrived yet. A lease in Redis, which lasts for Limits.Age, shows whether
// that is so.
func (f *Function) remind(ctx context.Context, p layout.Partition) error {
	first, err := lease.New(f.Redis, f.Worker).Once(ctx, fmt.Sprintf("reminder %s", p), f.Now(), f.Limits.Age)
	if err != nil || !first {
		return err
	}
	return task.Send(ctx, f.Sender, task.Pack, task.Gather{Storage: p}, f.Limits.Age)
}

// fill returns the waiting batches that are packed next: the first ones, as long as their sizes add
// up to at most 9/8 of the given limit in bytes. If the first batch alone is larger than that, fill
// returns only this batch.
func fill(waiting []frontier.Waiting, limit int64) []frontier.Waiting {
	var bytes int64
	for i, w := range waiting {
		if i > 0 && bytes+w.Bytes > limit+limit/8 {
			return waiting[:i]
		}
		bytes += w.Bytes
	}
	return waiting
}

func batchesOf(waiting []frontier.Waiting) []layout.Version {
	batches := make([]layout.Version, len(waiting))
	for i, w := range waiting {
		batches[i] = w.Batch
	}
	return batches
}
