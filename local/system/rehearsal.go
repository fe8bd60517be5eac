package system

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Rehearse makes a.Bucket keep in memory what is stored from now on. It can be read there as if it
// were stored, and the object store stays as it is. a.Settings then are those of this bucket.
func (a *Attached) Rehearse() {
	a.Bucket = rehearsal{a.Bucket, memblob.New()}
	a.Settings = &settings.Cache{Bucket: a.Bucket, Now: time.Now, Age: attachedAge}
}

// rehearsal is a bucket that stores objects in memory, before those of another bucket.
type rehearsal struct {
	blob.Reader // the other bucket
	created     *memblob.Bucket
}

// Get implements blob.Bucket.
func (r rehearsal) Get(ctx context.Context, key string, part blob.Range) ([]byte, error) {
	content, err := r.created.Get(ctx, key, part)
	if errors.Is(err, blob.ErrAbsent) {
		return r.Reader.Get(ctx, key, part)
	}
	return content, err
}

// Head implements blob.Bucket.
func (r rehearsal) Head(ctx context.Context, key string) (int64, error) {
	size, err := r.created.Head(ctx, key)
	if errors.Is(err, blob.ErrAbsent) {
		return r.Reader.Head(ctx, key)
	}
	return size, err
}

// List implements blob.Bucket.
func (r rehearsal) List(ctx context.Context, prefix, startAfter string) iter.Seq2[blob.Object, error] {
	return func(pass func(blob.Object, error) bool) {
		next, stop := iter.Pull2(r.created.List(ctx, prefix, startAfter))
		defer stop()
		created, _, some := next()
		for object, err := range r.Reader.List(ctx, prefix, startAfter) {
			for ; err == nil && some && created.Key < object.Key; created, _, some = next() {
				if !pass(created, nil) {
					return
				}
			}
			if err == nil && some && created.Key == object.Key { // it was replaced
				object = created
				created, _, some = next()
			}
			if !pass(object, err) || err != nil {
				return
			}
		}
		for ; some; created, _, some = next() {
			if !pass(created, nil) {
				return
			}
		}
	}
}

// Create implements blob.Bucket.
func (r rehearsal) Create(ctx context.Context, key string, content []byte) error {
	_, err := r.Reader.Head(ctx, key)
	switch {
	case err == nil:
		return fmt.Errorf("cannot create %s: %w", key, blob.ErrExists)
	case !errors.Is(err, blob.ErrAbsent):
		return err
	}
	return r.created.Create(ctx, key, content)
}

// Replace implements blob.Bucket.
func (r rehearsal) Replace(ctx context.Context, key string, content []byte) error {
	return r.created.Replace(ctx, key, content)
}

// Delete fails: what is deleted cannot be rehearsed.
func (r rehearsal) Delete(_ context.Context, key string) error {
	return fmt.Errorf("cannot delete %s in a rehearsal", key)
}
