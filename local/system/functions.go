package system

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/merge"
	"github.com/bucketsearch/bucketsearch/functions/pack"
	"github.com/bucketsearch/bucketsearch/functions/rank"
	"github.com/bucketsearch/bucketsearch/functions/rank/pagerank"
	"github.com/bucketsearch/bucketsearch/functions/schedule"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/sweep"
	"github.com/bucketsearch/bucketsearch/functions/watch"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/queue"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
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

// drainer takes the messages that a queue gave up to the bucket (see message.DeadLetterQueue).
type drainer interface{ Drain(context.Context) error }

// parts are what the functions of a process are made of.
type parts struct {
	bucket     func(function string) blob.Bucket // returns the bucket for the named function
	settings   *settings.Cache
	redis      goredis.UniversalClient
	sender     task.Sender
	log        func(function string) *slog.Logger // returns the log for the named function
	scheduling schedule.Limits
	share      func() (own, processes int)                  // see schedule.Function.Share
	transport  *http.Transport                              // of fetch
	sleep      func(context.Context, time.Duration) error   // by which fetch sleeps
	hear       func(fetch.Moment)                           // is told by fetch what it does; nil: nobody is
	lease      func(context.Context, batch.Batch) time.Time // see fetch.Function.Lease
	processes  func() int                                   // see fetch.Function.Processes
	dead       drainer                                      // see sweep.Function.DeadLetters
	agent      string                                       // User-Agent of the crawler
	worker     string                                       // name of the process in its leases
	dir        string                                       // where merge and rank keep files; "": see merge.Function.Dir
}

// functions returns the functions of the search engine, such as fetch and pack, each under the name of
// its queue.
func (p parts) functions() map[string]message.Handler {
	scheduled := &schedule.Function{
		Settings: p.settings, Redis: p.redis, Sender: p.sender, Now: time.Now,
		Limits: p.scheduling, Agent: p.agent, Share: p.share, Log: p.log(task.Schedule),
	}
	fetched := &fetch.Function{
		Bucket: p.bucket(task.Fetch), Settings: p.settings, Transport: p.transport,
		Now: time.Now, Sleep: p.sleep, Agent: p.agent, Worker: p.worker, Limits: fetch.DefaultLimits(), Log: p.log(task.Fetch),
		Lease: p.lease, Processes: p.processes, Watch: p.hear,
	}
	packed := &pack.Function{
		Bucket: p.bucket(task.Pack), Settings: p.settings, Redis: p.redis, Sender: p.sender, Now: time.Now,
		Limits: pack.DefaultLimits(), Worker: p.worker, Agent: p.agent, Log: p.log(task.Pack),
	}
	indexed := &index.Function{
		Bucket: p.bucket(task.Index), Settings: p.settings, Redis: p.redis, Sender: p.sender, Now: time.Now, Worker: p.worker, Agent: p.agent,
		Tiers: segments.DefaultLimits(), Ranges: index.NewRanges(p.bucket(task.Index)), Log: p.log(task.Index),
	}
	swept := &sweep.Function{
		Bucket: p.bucket(task.Sweep), Redis: p.redis, Sender: p.sender, Now: time.Now,
		Worker: p.worker, Limits: sweep.DefaultLimits(), DeadLetters: p.dead, Log: p.log(task.Sweep),
	}
	watched := &watch.Function{
		System:   watch.System{Bucket: p.bucket(task.Watch), Redis: p.redis, Now: time.Now},
		Settings: p.settings, Client: http.DefaultClient, Log: p.log(task.Watch),
	}
	return map[string]message.Handler{
		task.Schedule: scheduled.Handle,
		task.Fetch:    fetched.Handle,
		task.Pack:     packed.Handle,
		task.Index:    indexed.Handle,
		task.Merge:    p.merge().Handle,
		task.Rank:     p.rank().Handle,
		task.Sweep:    swept.Handle,
		task.Watch:    watched.Handle,
	}
}

// merge returns the function merge, which writes several segments into one.
func (p parts) merge() *merge.Function {
	return &merge.Function{
		Bucket: p.bucket(task.Merge), Redis: p.redis, Sender: p.sender, Now: time.Now, Worker: p.worker,
		Tiers: segments.DefaultLimits(), Dir: p.dir, Log: p.log(task.Merge),
	}
}

// rank returns the function rank, which computes the ranks of documents. It needs the bucket, the
// settings and the log only.
func (p parts) rank() *rank.Function {
	return &rank.Function{
		Bucket: p.bucket(task.Rank), Settings: p.settings, Now: time.Now,
		Limits: rank.DefaultLimits(), Rules: pagerank.DefaultRules(), Dir: p.dir, Log: p.log(task.Rank),
	}
}

// awake returns the function by which fetch sleeps, for instance between two requests to a host.
// When the system stops, the context stopping ends. Then a sleep ends at once with an error, so
// that fetch sends no more requests, and stores the pages that it has fetched so far.
func awake(stopping context.Context) func(context.Context, time.Duration) error {
	return func(ctx context.Context, d time.Duration) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(stopping, cancel)()
		return blob.Sleep(ctx, d)
	}
}
