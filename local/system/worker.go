package system

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/functions/schedule"
	"github.com/bucketsearch/bucketsearch/functions/shared/environment"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/queue"
	"github.com/bucketsearch/bucketsearch/local/sqs"
	"github.com/bucketsearch/bucketsearch/local/stream"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Times in which a worker that is told to end does so, one after the other.
const (
	WorkerGrace = 25 * time.Second // maximum time for which its functions go on
	LastSigns   = 5 * time.Second  // maximum time in which it stores its last vital signs, as a Searcher does, too
)

// Times of workers. A tick is the time between two repetitions of something.
const (
	workerSettingsAge = 30 * time.Second // as settingsAge; each look at a remote bucket may cost money
	workerSweepTick   = time.Minute      // as sweepTick, for the same reason
	publishedTick     = 5 * time.Second  // time between two looks whether something is published
)

// Worker runs some of the functions, or all, on a bucket elsewhere. Any number of workers, on any machines,
// work together. A worker may be killed at any moment: what it was doing is done by another.
//
//	                       WorkerOptions.Queues is ""          it is set
//	queues                 in Redis (see package stream)       those of a stack on AWS
//	who tells of objects   the function that stored them       the bucket's notifications
//	clocks                 the workers, once for all of them   those of the stack
//	Redis                  is needed                           is needed by the functions that NeedsRedis names
type Worker struct {
	options  WorkerOptions
	store    *store
	redis    goredis.UniversalClient // nil if the worker has none
	sender   task.Sender
	open     func(function string) queue.Source // returns the queue of the function with the name
	settings *settings.Cache
	letters  message.DeadLetterStore
	vitals   *vitals.Recorder
	dead     drainer  // what SQS gave up; nil if the queues are in Redis
	fetcher  *fetcher // nil if this process does not fetch, or has no Redis that tells which others do
	process  string   // name of this process in its leases
	log      *slog.Logger
}

// WorkerOptions are the settings of a Worker.
type WorkerOptions struct {
	Options          // S3 and, unless no function needs it, Redis must be set
	Run     []string // names of the functions to be run, which are those of their queues (see task.Queues)
	Queues  string   // what the URLs of the queues of a stack on AWS begin with; "" if the queues are in Redis
	Log     *slog.Logger
}

// NeedsRedis reports whether the function with the name needs Redis although its queue is not there.
func NeedsRedis(function string) bool {
	switch function {
	case task.Fetch, task.Rank, task.Watch:
		return false
	}
	return true
}

// OpenWorker connects to the bucket, to Redis and to the queues.
func OpenWorker(ctx context.Context, o WorkerOptions) (*Worker, error) {
	w := &Worker{options: o, process: processName(), log: o.Log}
	w.vitals = vitals.New(vitals.Options{Worker: w.process, Now: time.Now})
	var err error
	if o.Redis != "" {
		if w.redis, err = dialRedis(ctx, o.Redis, w.vitals.Traffic()); err != nil {
			return nil, err
		}
		if slices.Contains(o.Run, task.Fetch) {
			w.fetcher = newFetcher(w.redis, w.process)
		}
	}
	var stored func(string, int64)
	var client *awssqs.Client // nil if the queues are in Redis
	if o.Queues == "" {
		w.sender, w.open = stream.NewSender(w.redis), w.stream
		stored = raiser(w.sender, o.Log)
	} else {
		server, err := serverOf(o.Queues)
		if err == nil {
			client, err = environment.OpenSQS(ctx, w.vitals.Traffic(), server)
		}
		if err != nil {
			return nil, errors.Join(err, w.Close())
		}
		urls := environment.QueueURLs(o.Queues)
		w.sender = message.NewSQS(client, urls)
		w.open = func(function string) queue.Source { return sqs.New(client, urls[function], w.logOf(function)) }
	}
	if w.store, _, err = connect(o.S3, o.Getenv, stored, w.vitals.Traffic()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	w.settings = &settings.Cache{Bucket: w.bucket("system"), Now: time.Now, Age: workerSettingsAge}
	w.letters = message.DeadLetterStore{Bucket: w.bucket("system"), Now: time.Now, Log: o.Log}
	if client != nil {
		w.dead = environment.DeadLetterQueue(client, o.Queues, w.letters)
	}
	return w, nil
}

// serverOf returns the URL of the server of SQS whose queues have URLs that begin with the given text. Not only AWS has
// such servers, and SQS's client does not look for them in the URLs of queues.
func serverOf(queues string) (string, error) {
	at, err := url.Parse(queues)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return "", WrongOption{fmt.Errorf("--queues %s is not what URLs of queues begin with, such as https://sqs.eu-central-1.amazonaws.com/123456789012/STACK-", queues)}
	}
	return at.Scheme + "://" + at.Host, nil
}

// bucket returns the bucket that the function with the name uses.
func (w *Worker) bucket(function string) blob.Bucket { return w.store.of(function, w.vitals) }

// logOf returns the log of the function with the name.
func (w *Worker) logOf(function string) *slog.Logger { return w.log.With("function", function) }

// Run runs the functions until ctx ends. It first waits until something is published in the bucket. When
// ctx ends, functions that run may go on for WorkerGrace. Then they are stopped, and other workers receive
// their messages.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.awaitPublished(ctx); ctx.Err() != nil {
		return nil // it is told to end before it begins; an error says no more than that
	} else if err != nil {
		return err
	}
	handlers := w.parts(ctx).functions()
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var running, keepers sync.WaitGroup
	for _, name := range w.options.Run {
		log, messages := w.logOf(name), w.open(name)
		if kept, is := messages.(*stream.Queue); is {
			keepers.Go(func() { kept.Keep(keeping) })
		}
		running.Go(func() {
			err := queue.Deliver(ctx, messages, queue.Mapping{
				Function: w.vitals.Watch(name, w.letters.Watch(name, handlers[name])), Concurrency: concurrency[name], BatchSize: 1,
				Timeout: task.Timeout(name), Grace: WorkerGrace, Log: log,
			})
			if err != nil {
				log.Error("function did not stop in time", "error", err)
			}
		})
	}
	if w.options.Queues == "" {
		for _, c := range w.clocks() {
			if slices.Contains(w.options.Run, c.function) {
				running.Go(func() { every(ctx, c.period, c.tick, w.logOf(c.function)) })
			}
		}
	}
	running.Go(func() { every(ctx, feedbackTick, w.feedBack, w.log) })
	if w.fetcher != nil {
		running.Go(func() { every(ctx, tick, w.fetcher.join, w.logOf(task.Fetch)) })
	}
	running.Wait()
	stop()
	keepers.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), LastSigns)
	defer cancel()
	if err := w.feedBack(last); err != nil {
		w.log.Warn("at the end", "error", err)
	}
	if w.fetcher != nil {
		if err := w.fetcher.leave(last); err != nil {
			w.log.Warn("other workers still count this one", "error", err)
		}
	}
	return nil
}

// parts returns what the functions are made of. When the worker stops, the context stopping ends.
func (w *Worker) parts(stopping context.Context) parts {
	deadline := func(_ context.Context, b batch.Batch) time.Time { return b.Deadline }
	p := parts{
		bucket: w.bucket, settings: w.settings, redis: w.redis, sender: w.sender, log: w.logOf,
		scheduling: schedule.DefaultLimits(), dead: w.dead,
		transport: w.vitals.Traffic().Transport(fetch.Transport(w.options.AllowPrivate)), sleep: awake(stopping),
		lease: untilStop(stopping, deadline), agent: w.options.Agent, worker: w.process,
	}
	if w.fetcher != nil {
		p.processes = w.fetcher.processes
	}
	return p
}

// stream returns the queue of a function in Redis.
func (w *Worker) stream(function string) queue.Source {
	return stream.New(w.redis, stream.Options{
		Name: function, MaxReceives: message.MaxReceives, MaxBackoff: message.MaxDelay, Log: w.logOf(function),
		Dead: func(d message.DeadLetter) bool { return w.letters.Store(context.Background(), d) },
	})
}

// awaitPublished waits until the bucket has strategies. Then it claims Redis for this bucket, and checks the
// object store.
func (w *Worker) awaitPublished(ctx context.Context) error {
	for said := false; ; said = true {
		_, err := w.settings.Get(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, blob.ErrAbsent) {
			return w.store.explain(err)
		}
		if !said {
			w.log.Info("nothing is published in the bucket yet, so there is nothing to do; to publish what to crawl: bucketsearch publish FILE", "bucket", w.store.url)
		}
		if blob.Sleep(ctx, publishedTick) != nil {
			return nil
		}
	}
	if w.redis != nil {
		if err := claimRedis(ctx, w.store.bucket, w.redis); err != nil {
			return err
		}
	}
	return w.store.checkCreate(ctx)
}

// clock makes a function run at regular times.
type clock struct {
	function string
	period   time.Duration
	tick     func(context.Context) error // sends the function its messages, unless another worker has done so in this period
}

// mostLeases is the greatest number of messages that may wait for the function schedule when its clock sends more.
const mostLeases = 1000

// clocks returns the clocks of all functions that have one. Each worker has the clocks of its functions, so
// that no messages gather for a function that nobody runs. For the same reason, a clock sends nothing while more
// messages wait for its function than the parameter most of once says: then the function is too slow for it.
func (w *Worker) clocks() []clock {
	once := func(function string, period time.Duration, most int, send func(context.Context) error) clock {
		return clock{function, period, func(ctx context.Context) error {
			// Somewhat less than the period, so that the lease has ended at the next tick of the same worker.
			first, err := lease.New(w.redis, w.process).Once(ctx, "clock "+function, time.Now(), period*9/10)
			if err != nil || !first {
				return err
			}
			if waiting, err := stream.Waiting(ctx, w.redis, function); err != nil || waiting > most {
				return err
			}
			return send(ctx)
		}}
	}
	empty := func(function string) func(context.Context) error {
		return func(ctx context.Context) error { return task.Send(ctx, w.sender, function, struct{}{}, 0) }
	}
	return []clock{
		once(task.Schedule, tick, mostLeases, func(ctx context.Context) error { return leaseAll(ctx, w.settings, w.sender) }),
		once(task.Sweep, workerSweepTick, 0, empty(task.Sweep)),
		once(task.Rank, rankTick, 0, empty(task.Rank)),
		once(task.Watch, watchTick, 0, empty(task.Watch)),
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
func (w *Worker) Close() error {
	if w.redis == nil {
		return nil
	}
	return w.redis.Close()
}
