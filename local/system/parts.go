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
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

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
