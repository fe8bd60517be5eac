package system

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/queue"
	"github.com/bucketsearch/bucketsearch/local/stream"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Times of workers. A tick is the time between two repetitions of something.
const (
	workerGrace       = 25 * time.Second // as grace; Kubernetes kills a process after 30 seconds
	workerSettingsAge = 30 * time.Second // as settingsAge; each look at a remote bucket may cost money
	workerSweepTick   = time.Minute      // as sweepTick, for the same reason
	publishedTick     = 5 * time.Second  // time between two looks whether something is published
)

// Worker runs some of the functions, or all, on a bucket and a Redis elsewhere. Any number of workers, on
// any machines, work together. Their queues are in Redis (see package stream), which the functions also
// tell of the objects that they store, as bucket notifications do on AWS. A worker may be killed at any
// moment: what it was doing is done by another.
type Worker struct {
	names    []string // names of the functions
	options  Options
	store    *store
	redis    goredis.UniversalClient
	sender   *stream.Sender
	settings *settings.Cache
	vitals   *vitals.Recorder
	process  string // name of this process in its leases
	log      *slog.Logger
}

// OpenWorker connects to the bucket Options.S3 and to Options.Redis. The parameter functions has the names
// of the functions to be run, which are those of their queues (see task.Queues).
func OpenWorker(ctx context.Context, o Options, functions []string, log *slog.Logger) (*Worker, error) {
	w := &Worker{names: functions, options: o, process: processName(), log: log}
	w.vitals = vitals.New(vitals.Options{Worker: w.process, Now: time.Now})
	var err error
	if w.redis, err = dialRedis(ctx, o.Redis, w.vitals.Traffic()); err != nil {
		return nil, err
	}
	w.sender = stream.NewSender(w.redis)
	if w.store, _, err = connect(o.S3, o.Getenv, raiser(w.sender, log), w.vitals.Traffic()); err != nil {
		return nil, errors.Join(err, w.redis.Close())
	}
	w.settings = &settings.Cache{Bucket: w.bucket("system"), Now: time.Now, Age: workerSettingsAge}
	return w, nil
}

// bucket returns the bucket that the function with the name uses.
func (w *Worker) bucket(function string) blob.Bucket { return w.store.of(function, w.vitals) }

// logOf returns the log of the function with the name.
func (w *Worker) logOf(function string) *slog.Logger { return w.log.With("function", function) }

// Run runs the functions until ctx ends. It first waits until something is published in the bucket. When
// ctx ends, functions that run may go on for workerGrace. Then they are stopped, and other workers receive
// their messages.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.awaitPublished(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	handlers := parts{
		bucket: w.bucket, settings: w.settings, redis: w.redis, sender: w.sender, log: w.logOf,
		transport: w.vitals.Traffic().Transport(fetch.Transport(w.options.AllowPrivate)), sleep: awake(ctx),
		agent: w.options.Agent, worker: w.process,
	}.functions()
	letters := message.DeadLetterStore{Bucket: w.bucket("system"), Now: time.Now, Log: w.log}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var running, keepers sync.WaitGroup
	for _, name := range w.names {
		log := w.logOf(name)
		messages := stream.New(w.redis, stream.Options{
			Name: name, MaxReceives: message.MaxReceives, MaxBackoff: message.MaxDelay, Log: log,
			Dead: func(d message.DeadLetter) bool { return letters.Store(context.WithoutCancel(ctx), d) },
		})
		keepers.Go(func() { messages.Keep(keeping) })
		running.Go(func() {
			err := queue.Deliver(ctx, messages, queue.Mapping{
				Function: w.vitals.Watch(name, letters.Watch(name, handlers[name])), Concurrency: concurrency[name], BatchSize: 1,
				Timeout: task.Timeout(name), Grace: workerGrace, Log: log,
			})
			if err != nil {
				log.Error("function did not stop in time", "error", err)
			}
		})
	}
	for _, c := range w.clocks() {
		if slices.Contains(w.names, c.function) {
			running.Go(func() { every(ctx, c.period, c.tick, w.logOf(c.function)) })
		}
	}
	running.Go(func() { every(ctx, feedbackTick, w.feedBack, w.log) })
	running.Wait()
	stop()
	keepers.Wait()
	return w.feedBack(context.WithoutCancel(ctx))
}

// awaitPublished waits until the bucket has strategies. Then it claims Redis for this bucket, and checks the
// object store.
func (w *Worker) awaitPublished(ctx context.Context) error {
	for said := false; ; {
		err := claimRedis(ctx, w.store.bucket, w.redis)
		switch {
		case err == nil:
			return w.store.checkCreate(ctx)
		case !errors.Is(err, blob.ErrAbsent):
			return w.store.explain(err)
		}
		if !said {
			w.log.Info("nothing is published in the bucket yet, so there is nothing to do; to publish what to crawl: bucketsearch publish FILE", "bucket", w.store.url)
		}
		said = true
		if blob.Sleep(ctx, publishedTick) != nil {
			return nil
		}
	}
}

// clock makes a function run at regular times.
type clock struct {
	function string
	period   time.Duration
	tick     func(context.Context) error // sends the function its messages, unless another worker has done so in this period
}

// clocks returns the clocks of all functions that have one. Each worker has the clocks of its functions, so
// that no messages gather for a function that nobody runs.
func (w *Worker) clocks() []clock {
	once := func(function string, period time.Duration, send func(context.Context) error) clock {
		return clock{function, period, func(ctx context.Context) error {
			// Somewhat less than the period, so that the lease has ended at the next tick of the same worker.
			first, err := lease.New(w.redis, w.process).Once(ctx, "clock "+function, time.Now(), period*9/10)
			if err != nil || !first {
				return err
			}
			return send(ctx)
		}}
	}
	empty := func(function string) func(context.Context) error {
		return func(ctx context.Context) error { return task.Send(ctx, w.sender, function, struct{}{}, 0) }
	}
	return []clock{
		once(task.Schedule, tick, func(ctx context.Context) error { return leaseAll(ctx, w.settings, w.sender) }),
		once(task.Sweep, workerSweepTick, empty(task.Sweep)),
		once(task.Rank, rankTick, empty(task.Rank)),
		once(task.Watch, watchTick, empty(task.Watch)),
	}
}

// feedBack stores the vital signs of this process in the bucket.
func (w *Worker) feedBack(ctx context.Context) error {
	if err := w.vitals.Flush(ctx, w.store.bucket); err != nil {
		return fmt.Errorf("vital signs are not kept: %w", err)
	}
	return nil
}

// Close closes the connections.
func (w *Worker) Close() error { return w.redis.Close() }
