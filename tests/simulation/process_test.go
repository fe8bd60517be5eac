package simulation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/merge"
	"github.com/bucketsearch/bucketsearch/functions/pack"
	"github.com/bucketsearch/bucketsearch/functions/rank"
	"github.com/bucketsearch/bucketsearch/functions/rank/pagerank"
	"github.com/bucketsearch/bucketsearch/functions/schedule"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/sweep"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

const (
	agent       = "testbot/1.0"
	settingsAge = 10 * time.Second
	keptPast    = 10 * time.Minute
)

// sweepLimits merge books sooner than usual, lest there be too few to merge,
// and forget the past while a world lasts.
func (w *world) sweepLimits() sweep.Limits {
	limits := sweep.DefaultLimits()
	limits.Compact.Books, limits.Tiers, limits.Collect.Past = 3, w.tiers, keptPast
	return limits
}

// process runs one function, one message at a time, as an instance of Lambda
// does. All that it does to the world outside goes through do.
type process struct {
	world    *world
	runner   *runner
	number   int
	function string
	handle   message.Handler
	redis    redis.UniversalClient
	dead     atomic.Bool
	skew     atomic.Int64 // by how much its clock is wrong, in nanoseconds

	message  *letter                 // that it works on, nil when it is idle
	ended    chan struct{}           // closed when it has
	answer   events.SQSEventResponse // then
	asked    int                     // requests to sites for it
	troubled atomic.Bool             // a call for it failed
}

var errNoAnswer = errors.New("no answer")

// do runs an operation once the world lets it, under the fault that befalls
// it.
func (p *process) do(s system, what string, operation func() error) error {
	switch p.arrive(s, what) {
	case none:
		return operation()
	case after:
		_ = operation()
	}
	return fmt.Errorf("%s: %w", what, errNoAnswer)
}

// arrive waits for the call's turn.
func (p *process) arrive(s system, what string) fault {
	if p.dead.Load() {
		return before
	}
	return p.world.wait(&call{process: p, system: s, what: what, answer: make(chan fault)})
}

// now is the time by the clock of the process.
func (p *process) now() time.Time {
	return p.world.clock.Now().Add(time.Duration(p.skew.Load()))
}

// sleep lets the world's time pass.
func (p *process) sleep(ctx context.Context, d time.Duration) error {
	if p.dead.Load() {
		return errNoAnswer
	}
	until := p.world.clock.Now().Add(d).UnixNano()
	p.world.wait(&call{process: p, system: timer, what: "sleep", until: until, answer: make(chan fault)})
	return ctx.Err()
}

// Send implements task.Sender.
func (p *process) Send(_ context.Context, function string, body []byte, delay time.Duration) error {
	return p.do(queues, "send to "+function, func() error {
		p.runner.queue.send(function, string(body), delay)
		return nil
	})
}

// RoundTrip implements http.RoundTripper.
func (p *process) RoundTrip(r *http.Request) (response *http.Response, err error) {
	err = p.do(web, "ask "+r.URL.String(), func() error {
		p.asked++
		p.world.work.batch = max(p.world.work.batch, p.asked)
		response, err = p.world.web.RoundTrip(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// bucket is what the process sees of the storage.
func (p *process) bucket() blob.Bucket {
	return faultblob.New(raising{p.world.store, p}, func(c faultblob.Call) faultblob.Fault {
		switch p.arrive(storage, fmt.Sprintf("%s %s", c.Op, c.Key)) {
		case none:
			return faultblob.None
		case after:
			return faultblob.After
		}
		return faultblob.Before
	})
}

// tiers leave one segment a partition, and write any anew of which something is
// dead, so that scores in the end are those of the living alone.
var tiers = segments.Limits{Tier: 2, Least: 1 << 20, Bytes: 256 << 20, Most: 8}

// newProcess starts a process of a function.
func newProcess(r *runner, function string) *process {
	w := r.world
	w.started++
	p := &process{world: w, runner: r, number: w.started, function: function}
	p.redis = r.connect(p)
	bucket, worker, log := p.bucket(), fmt.Sprintf("w%d", p.number), functionstest.Log()
	cache := &settings.Cache{Bucket: bucket, Now: p.now, Age: settingsAge}
	graves := message.DeadLetterStore{Bucket: bucket, Now: p.now, Log: log}
	p.handle = graves.Watch(function, map[string]func() message.Handler{
		task.Schedule: func() message.Handler {
			return (&schedule.Function{
				Settings: cache, Redis: p.redis, Sender: p, Now: p.now, Limits: schedule.DefaultLimits(), Agent: agent, Log: log,
			}).Handle
		},
		task.Fetch: func() message.Handler {
			return (&fetch.Function{
				Bucket: bucket, Settings: cache, Transport: p, Now: p.now, Sleep: p.sleep,
				Agent: agent, Worker: worker, Limits: fetch.DefaultLimits(), Log: log,
			}).Handle
		},
		task.Pack: func() message.Handler {
			return (&pack.Function{
				Bucket: bucket, Settings: cache, Redis: p.redis, Sender: p, Now: p.now,
				Limits: pack.Limits{Bytes: w.site.packageBytes, Age: time.Minute}, Worker: worker, Agent: agent, Log: log,
			}).Handle
		},
		task.Index: func() message.Handler {
			return (&index.Function{
				Bucket: bucket, Settings: cache, Redis: p.redis, Sender: p, Now: p.now, Worker: worker, Tiers: w.tiers, Log: log,
			}).Handle
		},
		task.Merge: func() message.Handler {
			return (&merge.Function{
				Bucket: bucket, Redis: p.redis, Sender: p, Now: p.now, Worker: worker, Tiers: w.tiers, Log: log,
			}).Handle
		},
		task.Rank: func() message.Handler {
			return (&rank.Function{
				Bucket: bucket, Settings: cache, Now: p.now, Limits: rank.DefaultLimits(), Rules: pagerank.DefaultRules(), Log: log,
			}).Handle
		},
		reading: func() message.Handler { return p.answers(bucket) },
		task.Sweep: func() message.Handler {
			return (&sweep.Function{
				Bucket: bucket, Redis: p.redis, Sender: p, Now: p.now, Worker: worker, Limits: w.sweepLimits(), Log: log,
			}).Handle
		},
	}[function]())
	return p
}

// start works on a message.
func (p *process) start(m *letter) {
	p.message, p.ended, p.asked = m, make(chan struct{}), 0
	p.troubled.Store(false)
	ctx := p.world.t.Context()
	go func() {
		defer close(p.ended)
		var err error
		p.answer, err = p.handle(ctx, m.event())
		if err != nil {
			p.world.t.Errorf("%s: %v", p.function, err)
		}
	}()
}

// hasEnded reports whether the process is through with its message.
func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}
