package pack

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

// leaseTime is how long a partition waits for another pack when one has died.
const leaseTime = 30 * time.Second

// Gather packs what waits in the partition when it is enough, old enough, or
// all that there will be; else it asks to be called again in time. What is not
// settled yet waits until it is.
func (f *Function) Gather(ctx context.Context, t task.Gather) error {
	inbox := frontier.NewInbox(f.Redis, t.Storage)
	leases := lease.New(f.Redis, f.Worker)
	for {
		waiting, err := inbox.List(ctx)
		waiting = slices.DeleteFunc(waiting, func(w frontier.Waiting) bool { return !w.Settled })
		if err != nil || len(waiting) == 0 {
			return err
		}
		due, err := f.due(ctx, waiting, t.Flush)
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

// due decides whether a package is made now.
func (f *Function) due(ctx context.Context, waiting []frontier.Waiting, flush bool) (bool, error) {
	var bytes int64
	oldest := waiting[0].Since
	for _, w := range waiting {
		bytes += w.Bytes
		if w.Since.Before(oldest) {
			oldest = w.Since
		}
	}
	if flush || bytes >= f.Limits.Bytes || f.Now().Sub(oldest) >= f.Limits.Age {
		return true, nil
	}
	return f.ended(ctx)
}

// ended reports whether no frontier has anything to ask or is waiting for an
// answer.
func (f *Function) ended(ctx context.Context) (bool, error) {
	inForce, err := f.Settings.Get(ctx)
	if err != nil {
		return false, err
	}
	for _, crawl := range inForce.Crawl.Partitions() {
		counts, err := frontier.New(f.Redis, crawl).Counts(ctx)
		if err != nil {
			return false, err
		}
		if counts.Waiting+counts.Leased > 0 {
			return false, nil
		}
	}
	return true, nil
}

// remind has the partition looked at when what waits has come of age. The
// lease keeps it to one reminder at a time.
func (f *Function) remind(ctx context.Context, p layout.Partition) error {
	first, err := lease.New(f.Redis, f.Worker).Once(ctx, fmt.Sprintf("reminder %s", p), f.Now(), f.Limits.Age)
	if err != nil || !first {
		return err
	}
	return task.Send(ctx, f.Sender, task.Pack, task.Gather{Storage: p}, f.Limits.Age)
}

// fill takes waiting batches until they fill a package.
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
