package simulation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// hears maps a prefix of keys to a function. The function gets an event when an object whose key
// begins with this prefix was created.
var hears = []struct{ prefix, function string }{
	{layout.Spool, task.Pack},
	{layout.Packages, task.Index},
}

// raising is the bucket that one process uses. When the process creates an object, raising sends an
// event to a queue of the same runner (a set of functions), as S3 would do (see hears). It counts
// created objects, and fails the test if the process deletes an object that is still needed.
type raising struct {
	*memblob.Bucket
	process *process
}

// Create implements blob.Bucket.
func (r raising) Create(ctx context.Context, key string, content []byte) error {
	w := r.process.world
	if w.diskFull() {
		return fmt.Errorf("cannot create %s: the disk is full: %w", key, blob.ErrRetryable)
	}
	err := r.Bucket.Create(ctx, key, content)
	if err == nil || errors.Is(err, blob.ErrExists) {
		w.work.built(r.process.function, key)
	}
	if err != nil {
		return err
	}
	if strings.HasPrefix(key, layout.Spool) || strings.HasPrefix(key, layout.Manifests) {
		w.changes++
	}
	for _, h := range hears {
		if strings.HasPrefix(key, h.prefix) {
			event := message.S3Event("test", key, int64(len(content)), w.clock.Now())
			r.process.runner.queue.send(h.function, string(event), 0)
		}
	}
	return nil
}

// Replace implements blob.Bucket.
func (r raising) Replace(ctx context.Context, key string, content []byte) error {
	if r.process.world.diskFull() {
		return fmt.Errorf("cannot replace %s: the disk is full: %w", key, blob.ErrRetryable)
	}
	return r.Bucket.Replace(ctx, key, content)
}

// Delete implements blob.Bucket.
func (r raising) Delete(ctx context.Context, key string) error {
	r.process.world.judge(key)
	return r.Bucket.Delete(ctx, key)
}
