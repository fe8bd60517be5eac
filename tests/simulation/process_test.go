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
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

func init() { manifest.Small = 0 } // so that generations of small partitions are deltas, too

const (
	agent       = "testbot/1.0"
	settingsAge = 10 * time.Second
	keptPast    = 10 * time.Minute
)

// sweepLimits returns limits of the sweep for short runs: it merges books as soon as there are
// a few, deletes old generations after minutes, and makes lists of few condemned objects.
func (w *world) sweepLimits() sweep.Limits {
	limits := sweep.DefaultLimits()
	limits.Compact.Books, limits.Tiers, limits.Collect.Past, limits.Collect.Listed = 3, w.tiers, keptPast, 2
	limits.Finished = 3
	return limits
}

// process runs one function, one message at a time, like an instance in Lambda. All its calls
// to storage, Redis, queues and web sites go through the method do.
type process struct {
	world    *world
	runner   *runner
	number   int
	function string
	handle   message.Handler
	redis    redis.UniversalClient
	dead     atomic.Bool
	skew     atomic.Int64 // how much the clock of the process is ahead of the world's, in nanoseconds

	message  *letter                 // message that the process handles; nil: it is idle
	ended    chan struct{}           // closed when the message is handled
	answer   events.SQSEventResponse // answer to the message, valid when ended is closed
	asked    int                     // number of requests to sites while the message was handled
	troubled atomic.Bool             // true: a call failed while the message was handled
}

var errNoAnswer = errors.New("no answer")

// do waits until the world (the simulation) lets the call happen. The rest depends on the fault of
// the call:
//
//	fault        the operation     do returns
//	none         runs              the operation's error
//	after        runs              errNoAnswer
//	any other    does not run      errNoAnswer
func (p *process) do(s system, what string, operation func() error) error {
	switch p.arrive(s, what) {
	case none:
		return operation()
	case after:
		_ = operation()
	}
	return fmt.Errorf("%s: %w", what, errNoAnswer)
}

// arrive announces a call to another system, and waits until the world (the simulation) lets the
// call happen. It returns the fault with which the world makes the call fail, or none.
func (p *process) arrive(s system, what string) fault {
	if p.dead.Load() {
		return before
	}
	return p.world.wait(&call{process: p, system: s, what: what, answer: make(chan fault)})
}

// now returns the time by the clock of the process.
func (p *process) now() time.Time {
	return p.world.clock.Now().Add(time.Duration(p.skew.Load()))
}

// sleep waits until the world's clock has advanced by d.
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

// bucket returns the bucket as the process sees it: each call waits until the world (the
// simulation) lets it happen, and may fail.
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

// tiers are limits for merging segments. With these limits, merging goes on until every partition
// has only one segment, without dead documents. The tests need this to compare the scores of
// results with those of another run: dead documents would change the scores.
var tiers = segments.Limits{Tier: 2, Least: 1 << 20, Bytes: 256 << 20, Documents: 1 << 20, Most: 8}

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
				Settings: cache, Redis: p.redis, Sender: p, Now: p.now, Limits: w.leaseLimits(), Agent: agent, Log: log,
			}).Handle
		},
		task.Fetch: func() message.Handler {
			return p.renewing((&fetch.Function{
				Bucket: bucket, Settings: cache, Transport: p, Now: p.now, Sleep: p.sleep,
				Agent: agent, Worker: worker, Limits: fetch.DefaultLimits(), Lease: p.lease(), Log: log,
			}).Handle)
		},
		task.Pack: func() message.Handler {
			return (&pack.Function{
				Bucket: bucket, Settings: cache, Redis: p.redis, Sender: p, Now: p.now,
				Limits: pack.Limits{Bytes: w.site.packageBytes, Age: time.Minute}, Worker: worker, Agent: agent, Log: log,
			}).Handle
		},
		task.Index: func() message.Handler {
			return (&index.Function{
				Bucket: bucket, Settings: cache, Redis: p.redis, Sender: p, Now: p.now, Worker: worker, Tiers: w.tiers,
				Ranges: index.NewRanges(bucket), Log: log,
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

// leaseTime is the duration of leases in worlds where processes renew them.
const leaseTime = 15 * time.Second

// leaseLimits returns the limits of the function schedule. In half of the worlds, leases are short, and
// batches small.
func (w *world) leaseLimits() schedule.Limits {
	limits := schedule.DefaultLimits()
	if w.renewing {
		limits.Lease, limits.URLs = leaseTime, 20
	}
	return limits
}

// lease returns the function by which fetch learns the end of the lease of a batch: it renews the lease at
// each request. It returns nil in worlds where leases last until the deadlines of their batches.
func (p *process) lease() func(context.Context, batch.Batch) time.Time {
	if !p.world.renewing {
		return nil
	}
	return func(ctx context.Context, b batch.Batch) time.Time {
		until := p.now().Add(leaseTime)
		if b.Deadline.Before(until) {
			until = b.Deadline
		}
		if renewed, err := frontier.New(p.redis, b.Crawl).Extend(ctx, b.Version, until); err != nil || !renewed {
			return time.Time{}
		}
		return until
	}
}

// renewing returns a function fetch after which leases last until the deadlines of their batches: a process
// renews the lease of a batch that is fetched until the batch is settled. In worlds where nobody renews
// leases, it returns the given function.
func (p *process) renewing(handle message.Handler) message.Handler {
	if !p.world.renewing {
		return handle
	}
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		response, err := handle(ctx, event)
		for _, record := range event.Records {
			var b batch.Batch
			if message.Decode(record.Body, &b) == nil { // else it is poisoned
				_, _ = frontier.New(p.redis, b.Crawl).Extend(ctx, b.Version, b.Deadline) // a lease that is not renewed ends soon
			}
		}
		return response, err
	}
}

// start begins to handle a message in a goroutine of its own.
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

// hasEnded reports whether the process has handled its message.
func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}
