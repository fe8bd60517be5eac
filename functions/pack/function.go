// Package pack turns what fetch has spooled into packages and books, and tells
// the frontier what was learnt.
//
// A spool object is settled as soon as its event arrives, before it is packed:
// it is in the bucket, so nothing of it can be lost, and the crawl does not
// wait for a package to fill. Packing waits until enough has gathered.
//
// To settle means: what links lead to waits if the settings admit it, pages
// that have changed by what a sitemap says wait again before they are due, and
// the URLs that were asked for take the states that their outcomes give them;
// those that are stored count on the limits of their collection. The host rests
// as long as its answers, its robots.txt and the collections want.
package pack

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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

// Limits say when enough has gathered for a package.
type Limits struct {
	Bytes int64         // of Web objects before compression
	Age   time.Duration // of the oldest spool object
}

// DefaultLimits make packages of 32 MiB, or of what a minute brings.
func DefaultLimits() Limits { return Limits{Bytes: 32 << 20, Age: time.Minute} }

// Function is the pack function.
type Function struct {
	Bucket   blob.Bucket
	Settings *settings.Cache
	Redis    redis.UniversalClient
	Sender   task.Sender
	Now      func() time.Time
	Limits   Limits
	Worker   string // who holds the leases
	Agent    string
	Log      *slog.Logger
}

// Handle takes bucket events on spool/ and tasks to gather.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Each(ctx, f.Log, event, f.handle), nil
}

func (f *Function) handle(ctx context.Context, body string) error {
	if t, isTask := gatherTask(body); isTask {
		return f.Gather(ctx, t)
	}
	return message.EachKey(body, func(key string) error { return f.Settle(ctx, key) })
}

// gatherTask reads a task, and returns false for what has other fields.
func gatherTask(body string) (t task.Gather, isTask bool) {
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&t)
	return t, err == nil
}

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
