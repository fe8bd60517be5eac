package system

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// watchedBucket is a bucket that calls a function for every object that it creates, and keeps the
// error of the last Create.
type watchedBucket struct {
	blob.Bucket
	stored func(key string, size int64) // function that is called with the key and the size of each created object; nil: none
	last   *atomic.Pointer[error]       // error of the last Create in any bucket of the store; nil: it succeeded
}

// Create implements blob.Bucket.
func (w *watchedBucket) Create(ctx context.Context, key string, content []byte) error {
	err := w.Bucket.Create(ctx, key, content)
	switch {
	case err == nil:
		w.last.Store(nil)
		if w.stored != nil {
			w.stored(key, int64(len(content)))
		}
	case errors.Is(err, blob.ErrExists):
		w.last.Store(nil)
	case ctx.Err() == nil:
		w.last.Store(&err)
	}
	return err
}

// trouble returns the error of the last Create, nil if it succeeded.
func (w *watchedBucket) trouble() error {
	if err := w.last.Load(); err != nil {
		return *err
	}
	return nil
}
