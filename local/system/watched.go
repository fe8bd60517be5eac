package system

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// watchedBucket is a bucket that raises the events of its own puts, and remembers the error
// of the last write until a write succeeds.
type watchedBucket struct {
	blob.Bucket
	stored func(key string, size int64) // nil: somebody else raises events
	last   *atomic.Pointer[error]       // shared by all that write to the same store
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

// trouble returns why the bucket cannot be written at present.
func (w *watchedBucket) trouble() error {
	if err := w.last.Load(); err != nil {
		return *err
	}
	return nil
}
