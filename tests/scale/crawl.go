package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
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
	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/sweep"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Times by the crawl's clock, which only moves when something happens.
const (
	answerTime = 5 * time.Millisecond // from a request to a host until its answer
	sweepTick  = time.Minute          // between two messages to the function sweep
)

// worker is the name of the process in leases.
const worker = "scale"

// crawl is the whole search engine in one process: all its functions, with a bucket, a Redis and a queue. Messages
// are delivered one after another, so that the cost of each is known. The functions are those of the cloud; only
// the web is invented.
type crawl struct {
	clock    *functionstest.Clock
	bucket   *countblob.Bucket // the bucket of all functions
	settings *settings.Cache
	redis    redis.UniversalClient
	log      *slog.Logger
	meter    *meter

	functions map[string]message.Handler // by the name of the function's queue
	queue     []letter
	swept     time.Time // time of the last message to the function sweep
}

// letter is a message in the queue.
type letter struct {
	to   string // name of the queue
	body string
	due  time.Time // time at which it is delivered
}

// newCrawl returns the search engine for a web. The bucket is in the given directory, and empty.
func newCrawl(ctx context.Context, dir string, rdb redis.UniversalClient, w *web, clock *functionstest.Clock) (*crawl, *store, error) {
	kept, err := newStore(dir, clock.Now)
	if err != nil {
		return nil, nil, err
	}
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		if err := rules.Publish(ctx, kept, rules.Even(kind, 1, clock.Now())); err != nil {
			return nil, nil, err
		}
	}
	if _, err := collection.Publish(ctx, kept, w.collection()); err != nil {
		return nil, nil, err
	}
	c := &crawl{clock: clock, redis: rdb, log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	c.bucket = countblob.New(notifying{kept, c})
	c.settings = &settings.Cache{Bucket: c.bucket, Now: clock.Now, Age: time.Minute}
	c.meter = newMeter(c.bucket.Counter)
	c.start(dir, w)
	return c, kept, nil
}

func (c *crawl) close() { c.meter.close() }

// start makes the functions.
func (c *crawl) start(dir string, transport http.RoundTripper) {
	now, tiers := c.clock.Now, segments.DefaultLimits()
	c.functions = map[string]message.Handler{
		task.Schedule: (&schedule.Function{
			Settings: c.settings, Redis: c.redis, Sender: c, Now: now, Limits: schedule.DefaultLimits(), Log: c.log,
		}).Handle,
		task.Fetch: (&fetch.Function{
			Bucket: c.bucket, Settings: c.settings, Transport: transport, Now: now, Sleep: c.clock.Sleep,
			Worker: worker, Limits: fetch.DefaultLimits(), Log: c.log,
		}).Handle,
		task.Pack: (&pack.Function{
			Bucket: c.bucket, Settings: c.settings, Redis: c.redis, Sender: c, Now: now, Limits: pack.DefaultLimits(), Worker: worker, Log: c.log,
		}).Handle,
		task.Index: (&index.Function{
			Bucket: c.bucket, Settings: c.settings, Redis: c.redis, Sender: c, Now: now, Worker: worker,
			Tiers: tiers, Ranges: index.NewRanges(c.bucket), Log: c.log,
		}).Handle,
		task.Merge: (&merge.Function{
			Bucket: c.bucket, Redis: c.redis, Sender: c, Now: now, Worker: worker, Tiers: tiers, Dir: dir, Log: c.log,
		}).Handle,
		task.Rank: (&rank.Function{
			Bucket: c.bucket, Settings: c.settings, Now: now, Limits: rank.DefaultLimits(), Rules: pagerank.DefaultRules(),
			Dir: dir, Log: c.log,
		}).Handle,
		task.Sweep: (&sweep.Function{
			Bucket: c.bucket, Redis: c.redis, Sender: c, Now: now, Worker: worker, Limits: sweep.DefaultLimits(), Log: c.log,
		}).Handle,
	}
}

// Send implements task.Sender: it puts a message into the queue.
func (c *crawl) Send(_ context.Context, queue string, body []byte, delay time.Duration) error {
	c.queue = append(c.queue, letter{queue, string(body), c.clock.Now().Add(delay)})
	return nil
}

// run crawls and indexes the whole web, and ranks its pages. A day later it sweeps once more, to delete what was
// dropped.
func (c *crawl) run(ctx context.Context) error {
	if err := c.sweep(ctx, c.measured); err != nil {
		return err
	}
	if err := task.Send(ctx, c, task.Rank, struct{}{}, 0); err != nil {
		return err
	}
	if err := c.deliver(ctx, c.measured); err != nil {
		return err
	}
	c.clock.Advance(collect.DefaultLimits().Grace + time.Hour)
	return c.sweep(ctx, c.measured)
}

// sweep sends the function sweep a message, and delivers messages until none are left. The parameter call is that
// of deliver.
func (c *crawl) sweep(ctx context.Context, call func(context.Context, letter) error) error {
	c.swept = c.clock.Now()
	if err := task.Send(ctx, c, task.Sweep, task.Clean{}, 0); err != nil {
		return err
	}
	return c.deliver(ctx, call)
}

// deliver delivers the messages of the queue in the order of their times, and those that are sent meanwhile,
// until none are left. While it does, the function sweep gets a message each sweepTick. The parameter call is the
// method call or measured.
func (c *crawl) deliver(ctx context.Context, call func(context.Context, letter) error) error {
	for len(c.queue) > 0 {
		next := 0
		for i := range c.queue {
			if c.queue[i].due.Before(c.queue[next].due) {
				next = i
			}
		}
		l := c.queue[next]
		c.queue = slices.Delete(c.queue, next, next+1)
		if wait := l.due.Sub(c.clock.Now()); wait > 0 {
			c.clock.Advance(wait)
		}
		if err := call(ctx, l); err != nil {
			return err
		}
		if c.clock.Now().Sub(c.swept) >= sweepTick {
			c.swept = c.clock.Now()
			if err := task.Send(ctx, c, task.Sweep, task.Clean{}, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// measured does the same as call, and measures what it costs.
func (c *crawl) measured(ctx context.Context, l letter) error {
	return c.meter.measure(l.to, func() error { return c.call(ctx, l) })
}

// call calls the function to which a message is addressed.
func (c *crawl) call(ctx context.Context, l letter) error {
	event := events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: l.body, Attributes: map[string]string{"ApproximateReceiveCount": "1"}}}}
	response, err := c.functions[l.to](ctx, event)
	if err == nil && len(response.BatchItemFailures) > 0 {
		err = fmt.Errorf("the function %s failed, as the log says, with the message %s", l.to, l.body)
	}
	return err
}

// notifying is a bucket that puts a message into the queue of a crawl for each new spool object and package, as
// the bucket notifications of S3 do.
type notifying struct {
	blob.Bucket
	crawl *crawl
}

func (n notifying) Create(ctx context.Context, key string, content []byte) error {
	if err := n.Bucket.Create(ctx, key, content); err != nil {
		return err
	}
	for prefix, queue := range map[string]string{layout.Spool: task.Pack, layout.Packages: task.Index} {
		if strings.HasPrefix(key, prefix) {
			return message.Raise(ctx, n.crawl, queue, key, int64(len(content)), n.crawl.clock.Now())
		}
	}
	return nil
}
