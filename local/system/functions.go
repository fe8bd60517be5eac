package system

import (
	"context"
	"log/slog"
	"net/http"
	"time"

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
)

// functions returns the functions of the search engine, such as fetch and pack, each under the
// name of its queue, and a function that stops them all. The functions run in this process or,
// with Options.Functions, each in a process of its own.
func (s *System) functions(ctx context.Context) (map[string]queue.Function, func(), error) {
	if s.options.Functions != "" {
		return s.isolated(ctx)
	}
	scheduled := &schedule.Function{
		Settings: s.Settings, Redis: s.Redis, Sender: s.queues, Now: time.Now,
		Limits: schedule.DefaultLimits(), Agent: s.options.Agent, Log: s.log(task.Schedule),
	}
	fetched := &fetch.Function{
		Bucket: s.bucket(task.Fetch), Settings: s.Settings, Transport: s.vitals.Traffic().Transport(fetch.Transport(s.options.AllowPrivate)),
		Now: time.Now, Sleep: awake(ctx), Agent: s.options.Agent, Worker: s.worker, Limits: fetch.DefaultLimits(), Log: s.log(task.Fetch),
		Watch: s.fetches.hear,
	}
	packed := &pack.Function{
		Bucket: s.bucket(task.Pack), Settings: s.Settings, Redis: s.Redis, Sender: s.queues, Now: time.Now,
		Limits: pack.DefaultLimits(), Worker: s.worker, Agent: s.options.Agent, Log: s.log(task.Pack),
	}
	indexed := &index.Function{
		Bucket: s.bucket(task.Index), Settings: s.Settings, Redis: s.Redis, Sender: s.queues, Now: time.Now, Worker: s.worker, Agent: s.options.Agent,
		Tiers: segments.DefaultLimits(), Ranges: index.NewRanges(s.bucket(task.Index)), Log: s.log(task.Index),
	}
	merged := &merge.Function{
		Bucket: s.bucket(task.Merge), Redis: s.Redis, Sender: s.queues, Now: time.Now, Worker: s.worker,
		Tiers: segments.DefaultLimits(), Log: s.log(task.Merge),
	}
	swept := &sweep.Function{
		Bucket: s.bucket(task.Sweep), Redis: s.Redis, Sender: s.queues, Now: time.Now,
		Worker: s.worker, Limits: sweep.DefaultLimits(), Log: s.log(task.Sweep),
	}
	watched := &watch.Function{
		System:   watch.System{Bucket: s.bucket(task.Watch), Redis: s.Redis, Now: time.Now},
		Settings: s.Settings, Client: http.DefaultClient, Log: s.log(task.Watch),
	}
	functions := map[string]queue.Function{
		task.Schedule: scheduled.Handle,
		task.Fetch:    fetched.Handle,
		task.Pack:     packed.Handle,
		task.Index:    indexed.Handle,
		task.Merge:    merged.Handle,
		task.Rank:     s.ranker().Handle,
		task.Sweep:    swept.Handle,
		task.Watch:    watched.Handle,
	}
	for name, handle := range functions {
		functions[name] = s.failures.watch(name, s.vitals.Watch(name, s.deadLetters().Watch(name, handle)))
	}
	return functions, func() {}, nil
}

// ranker returns the function rank, which computes the ranks of documents.
func (s *System) ranker() *rank.Function {
	return &rank.Function{
		Bucket: s.bucket(task.Rank), Settings: s.Settings, Now: time.Now,
		Limits: rank.DefaultLimits(), Rules: pagerank.DefaultRules(), Log: s.log(task.Rank),
	}
}

// Rank runs the function rank once. It is called at the end of a crawl; besides, the system runs
// rank every rankTick. The function computes the ranks of all documents, and learns the
// dictionaries for queries in other languages. It keeps the present ranks if no new book (an object
// with newly found links) was stored since they were computed.
func (s *System) Rank(ctx context.Context) error { return s.ranker().Run(ctx) }

// bucket returns the bucket that the function with the name uses. Requests through it count as
// requests of the function.
func (s *System) bucket(function string) blob.Bucket { return s.store.of(function, s.vitals) }

// log returns the log of the system, with the name of a function in every line.
func (s *System) log(function string) *slog.Logger { return s.Log.With("function", function) }

// deadLetters returns the store of the queues' dead letters.
func (s *System) deadLetters() message.DeadLetterStore {
	return message.DeadLetterStore{Bucket: s.Bucket, Now: time.Now, Log: s.Log}
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
