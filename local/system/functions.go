package system

import (
	"context"
	"log/slog"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/schedule"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/queue"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// functions returns the functions of the search engine, such as fetch and pack, each under the
// name of its queue, and a function that stops them all. The functions run in this process or,
// with Options.Functions, each in a process of its own.
func (s *System) functions(ctx context.Context) (map[string]queue.Function, func(), error) {
	if s.options.Functions != "" {
		return s.isolated(ctx)
	}
	limits := schedule.DefaultLimits()
	limits.Lease, limits.Ahead = leaseTime, s.redis != nil
	if s.redis == nil {
		limits.URLs = sharedURLs
	}
	functions := parts{
		bucket: s.bucket, settings: s.Settings, redis: s.Redis, sender: s.queues, log: s.log,
		scheduling: limits, share: s.leases.share,
		transport: s.vitals.Traffic().Transport(fetch.Transport(s.options.AllowPrivate)), sleep: awake(ctx), hear: s.fetches.hear,
		lease: untilStop(ctx, s.leases.until), processes: s.leases.processes,
		agent: s.options.Agent, worker: s.worker, dir: s.options.Data,
	}.functions()
	for name, handle := range functions {
		functions[name] = s.failures.watch(name, s.vitals.Watch(name, s.deadLetters().Watch(name, handle)))
	}
	return functions, func() {}, nil
}

// Merge merges the segments of each partition until they are few, as the function sweep has them merged at the end of a
// crawl. It is called before Rank, which then writes fewer objects.
func (s *System) Merge(ctx context.Context) error {
	inForce, err := s.Settings.Get(ctx)
	if err != nil {
		return err
	}
	var next moreWork
	merged := parts{bucket: s.bucket, redis: s.Redis, sender: &next, worker: s.worker, dir: s.options.Data, log: s.log}.merge()
	for _, storage := range inForce.Partitions() {
		for next = true; next; {
			next = false
			if err := merged.Run(ctx, task.Tiers{Storage: storage, Ended: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// moreWork is a task.Sender for the function merge, which sends itself a task if there is more to do. It becomes true then.
type moreWork bool

// Send implements task.Sender.
func (m *moreWork) Send(context.Context, string, []byte, time.Duration) error {
	*m = true
	return nil
}

// Rank runs the function rank once. It is called at the end of a crawl; besides, the system runs
// rank every rankTick. The function computes the ranks of all documents, and learns the
// dictionaries for queries in other languages. It keeps the present ranks if no new book (an object
// with newly found links) was stored since they were computed.
func (s *System) Rank(ctx context.Context) error {
	return parts{bucket: s.bucket, settings: s.Settings, dir: s.options.Data, log: s.log}.rank().Run(ctx)
}

// bucket returns the bucket that the function with the name uses. Requests through it count as
// requests of the function.
func (s *System) bucket(function string) blob.Bucket { return s.store.of(function, s.vitals) }

// log returns the log of the system, with the name of a function in every line.
func (s *System) log(function string) *slog.Logger { return s.Log.With("function", function) }

// deadLetters returns the store of the queues' dead letters.
func (s *System) deadLetters() message.DeadLetterStore {
	return message.DeadLetterStore{Bucket: s.Bucket, Now: time.Now, Log: s.Log}
}

// untilStop returns the function by which fetch learns when the lease of a batch ends: at the time that the
// parameter until returns. When the process stops, the context stopping ends. Then all leases seem to have
// ended, so that fetch sends no more requests, and stores the pages that it has fetched so far.
func untilStop(stopping context.Context, until func(context.Context, batch.Batch) time.Time) func(context.Context, batch.Batch) time.Time {
	return func(ctx context.Context, b batch.Batch) time.Time {
		if stopping.Err() != nil {
			return time.Time{}
		}
		return until(ctx, b)
	}
}
