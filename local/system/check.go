package system

import (
	"context"
	"log/slog"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/command/check"
	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Check tries a collection before it is crawled (see package check). It requests the seeds and some
// more pages as the crawler of this machine does, and stores nothing. The sample pages of a topic are
// requested, too. The parameter pages is check.Task.Pages, progress check.Task.Progress.
func Check(ctx context.Context, o Options, c collection.Collection, pages int, progress func(done, total int)) (*check.Report, error) {
	transport := fetch.Transport(o.AllowPrivate)
	defer transport.CloseIdleConnections()
	described, err := newSamples(transport).describe(ctx, []collection.Collection{c}, o.Agent)
	if err != nil {
		return nil, err
	}
	c = described[0]
	bucket := memblob.New()
	for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
		if err := rules.Publish(ctx, bucket, rules.Even(kind, 1, time.Now())); err != nil {
			return nil, err
		}
	}
	if _, err := publishCleaned(ctx, bucket, c); err != nil {
		return nil, err
	}
	cache := &settings.Cache{Bucket: bucket, Now: time.Now, Age: check.MaxTime}
	inForce, err := cache.Get(ctx)
	if err != nil {
		return nil, err
	}
	limits := fetch.DefaultLimits()
	limits.Batch = check.MaxBytes
	f := &fetch.Function{
		Bucket: bucket, Settings: cache, Transport: transport, Now: time.Now, Sleep: blob.Sleep,
		Agent: c.Agent, Worker: commandWorker("check"), Limits: limits, Log: slog.New(slog.DiscardHandler),
	}
	t := &check.Task{Collection: c.Name, Settings: inForce, Fetch: f, Bucket: bucket, Pages: pages, Now: time.Now, Progress: progress}
	return t.Run(ctx)
}
