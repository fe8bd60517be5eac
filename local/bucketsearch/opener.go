package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// opener opens a bucket for a command that runs for a long time and is mostly idle. What it does depends
// on the location:
//
//	data directory     The bucket is opened for each use and closed after it, because an open bucket is
//	                   locked, and no other command could crawl or serve it meanwhile.
//	object store (S3)  The bucket is opened at the first use and stays open, with its caches.
//
// An opener is safe for concurrent use.
type opener struct {
	where *location

	mu   sync.Mutex  // protects kept
	kept *openBucket // bucket that stays open; nil if there is none
}

// openBucket is a bucket that was opened. Its engine is nil until ask is called for the first time.
type openBucket struct {
	*system.Attached

	mu     sync.Mutex // protects engine
	engine *engine.Engine
}

// use calls a function with the bucket. It fails if nothing was ever crawled into the bucket.
func (o *opener) use(ctx context.Context, do func(*openBucket) error) (err error) {
	if o.where.s3 == "" {
		bucket, err := o.open(ctx)
		if err != nil {
			return err
		}
		return errors.Join(do(bucket), bucket.Close())
	}
	o.mu.Lock()
	if o.kept == nil {
		o.kept, err = o.open(ctx)
	}
	bucket := o.kept
	o.mu.Unlock()
	if err != nil {
		return err
	}
	return do(bucket)
}

func (o *opener) open(ctx context.Context) (*openBucket, error) {
	a, err := o.where.attach(ctx)
	if err != nil {
		return nil, emptyAdvice(err)
	}
	if err := a.Check(ctx); err != nil {
		return nil, errors.Join(emptyAdvice(err), a.Close())
	}
	return &openBucket{Attached: a}, nil
}

// close closes a bucket that stayed open.
func (o *opener) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kept == nil {
		return nil
	}
	return o.kept.Close()
}

// ask calls do with a query engine on the bucket, and returns its error. The first call of ask creates
// the engine, which logs to log.
func (b *openBucket) ask(log *slog.Logger, do func(*engine.Engine) error) (err error) {
	b.mu.Lock()
	if b.engine == nil {
		if b.engine, err = openEngine(b.Attached); err == nil {
			b.engine.Log = log
		}
	}
	e := b.engine
	b.mu.Unlock()
	if err != nil {
		return err
	}
	return do(e)
}
