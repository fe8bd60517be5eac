package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// opener opens the bucket at a location for a command that runs for long and is mostly idle. The
// bucket of a data directory is opened anew for each use: while it is open it is locked, and nobody
// could start up or crawl. It may also be served by another process at the next use. A bucket
// elsewhere stays open, with its caches. An opener is safe for concurrent use.
type opener struct {
	where *location

	mu   sync.Mutex  // protects kept
	kept *openBucket // bucket that stays open; nil if there is none
}

// openBucket is a bucket that was opened, with an engine once one was needed.
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

// ask calls a function with an engine on the bucket, which logs to log.
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
