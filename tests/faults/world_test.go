package faults

import (
	"context"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/index"
	"github.com/bucketsearch/bucketsearch/functions/pack"
	"github.com/bucketsearch/bucketsearch/functions/schedule"
	"github.com/bucketsearch/bucketsearch/functions/sweep"
	"github.com/bucketsearch/bucketsearch/functions/task"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

const (
	partitions = 2
	agent      = "testbot/1.0"
	sweepEvery = 20 * time.Second
	longest    = 2 * time.Hour // of the world's time, until a run counts as hung
)

// world is a whole search engine.
type world struct {
	t         *testing.T
	store     *memblob.Bucket // without faults
	redis     *redis.Client
	clock     *functionstest.Clock
	queue     *queue
	web       transport
	functions map[string]func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)
	inForce   *settings.Settings
	swept     time.Time
	killed    atomic.Bool // nothing that is running reaches the bucket any more
}

// newRedis returns a Redis for many worlds: the real one where it is installed,
// because it is faster.
func newRedis(t *testing.T) *redis.Client {
	t.Helper()
	if program, err := exec.LookPath("redis-server"); err == nil {
		return redistest.Server(t, program)
	}
	return redistest.Embedded(t)
}

// newWorld returns a world that has not begun, whose functions' storage calls
// meet the faults that are decided. It takes the Redis over, and empties it.
func newWorld(t *testing.T, rdb *redis.Client, decide func(*world, faultblob.Call) faultblob.Fault) *world {
	t.Helper()
	clock := functionstest.NewClock()
	w := &world{
		t: t, store: memblob.New(), redis: rdb, clock: clock,
		queue: &queue{now: clock.Now, copies: 1},
	}
	w.flush()
	w.inForce = functionstest.Publish(t, w.store, partitions, nil, seedOne, seedTwo)
	bucket := faultblob.New(raising{w.store, w.queue}, func(c faultblob.Call) faultblob.Fault {
		fault := decide(w, c)
		if w.killed.Load() {
			return faultblob.Before
		}
		return fault
	})
	cache := &settings.Cache{Bucket: bucket, Now: clock.Now, Age: time.Hour}
	log := functionstest.Log()
	scheduleFunction := &schedule.Function{
		Settings: cache, Redis: w.redis, Sender: w.queue, Now: clock.Now, Limits: schedule.DefaultLimits(), Agent: agent, Log: log,
	}
	fetchFunction := &fetch.Function{
		Bucket: bucket, Transport: &w.web, Now: clock.Now, Sleep: clock.Sleep,
		Agent: agent, Worker: "w", Limits: fetch.DefaultLimits(), Log: log,
	}
	packFunction := &pack.Function{
		Bucket: bucket, Settings: cache, Redis: w.redis, Sender: w.queue, Now: clock.Now,
		Limits: pack.Limits{Bytes: 1500, Age: time.Minute}, Worker: "w", Agent: agent, Log: log,
	}
	indexFunction := &index.Function{Bucket: bucket, Redis: w.redis, Now: clock.Now, Worker: "w", Log: log}
	sweepFunction := &sweep.Function{
		Bucket: bucket, Redis: w.redis, Sender: w.queue, Now: clock.Now, Worker: "w", Keep: sweep.DefaultKeep, Log: log,
	}
	w.functions = map[string]func(context.Context, events.SQSEvent) (events.SQSEventResponse, error){
		task.Schedule: scheduleFunction.Handle,
		task.Fetch:    fetchFunction.Handle,
		task.Pack:     packFunction.Handle,
		task.Index:    indexFunction.Handle,
		task.Sweep:    sweepFunction.Handle,
	}
	return w
}

// run delivers messages until everything is crawled, packed and indexed, and
// then goes on until what was packed is cleared away.
func (w *world) run() {
	w.t.Helper()
	w.settle()
	w.clock.Advance(sweep.DefaultKeep)
	w.settle()
	if left := functionstest.Keys(w.t, w.store, "spool/"); len(left) > 0 {
		w.t.Errorf("left in the spool: %v", left)
	}
}

// settle delivers messages until there is nothing left to do, with one sweep
// at least.
func (w *world) settle() {
	w.t.Helper()
	w.swept = time.Time{}
	for end := w.clock.Now().Add(longest); w.clock.Now().Before(end); {
		if m, found := w.queue.take(); found {
			w.deliver(m)
			continue
		}
		next, found := w.queue.next()
		switch sweepAt := w.swept.Add(sweepEvery); {
		case !found && !w.swept.IsZero() && w.done():
			return
		case !found || sweepAt.Before(next):
			w.clock.Advance(max(0, sweepAt.Sub(w.clock.Now())))
			w.swept = w.clock.Now()
			if err := task.Send(w.t.Context(), w.queue, task.Sweep, struct{}{}, 0); err != nil {
				w.t.Fatal(err)
			}
		default:
			w.clock.Advance(next.Sub(w.clock.Now()))
		}
	}
	w.t.Fatalf("not done within %v", longest)
}

// deliver runs a message. One that failed comes again, unless all that ran was
// killed: then Redis and the queues are new.
func (w *world) deliver(m waiting) {
	w.t.Helper()
	response, err := w.functions[m.function](w.t.Context(), m.event())
	switch {
	case err != nil:
		w.t.Fatalf("%s: %v", m.function, err)
	case w.killed.Swap(false):
		w.queue.clear()
		w.flush()
	case len(response.BatchItemFailures) > 0:
		w.queue.giveBack(m)
	}
}

// flush empties Redis.
func (w *world) flush() {
	if err := w.redis.FlushAll(w.t.Context()).Err(); err != nil {
		w.t.Error(err)
	}
}

// done reports whether nothing is left to ask, to pack or to index.
func (w *world) done() bool {
	w.t.Helper()
	for _, crawl := range w.inForce.Crawl.Partitions() {
		front := frontier.New(w.redis, crawl)
		counts, err := front.Counts(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if err := front.Built(w.t.Context(), w.inForce.Fingerprint()); err != nil || counts.Waiting+counts.Leased > 0 {
			return false
		}
	}
	for _, p := range w.inForce.Partitions() {
		inbox, err := frontier.NewInbox(w.redis, p).List(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		m, err := manifest.Read(w.t.Context(), w.store, p)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(inbox) > 0 {
			return false
		}
		for _, listed := range m.Packages {
			if !listed.Indexed {
				return false
			}
		}
	}
	return true
}
