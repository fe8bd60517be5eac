// Package memblob keeps a bucket in memory.
package memblob

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Bucket is a blob.Bucket in memory.
type Bucket struct {
	now func() time.Time

	mu      sync.RWMutex
	objects map[string]memObject // the stored objects, by key; guarded by mu
}

type memObject struct {
	content  []byte // bytes of the object, shared by all readers: never changed
	modified time.Time
}

// New returns an empty bucket.
func New() *Bucket { return NewAt(time.Now) }

// NewAt returns an empty bucket with a clock: when an object is stored, its time Modified is the result
// of the function now.
func NewAt(now func() time.Time) *Bucket { return &Bucket{now: now, objects: map[string]memObject{}} }

func (b *Bucket) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	content, err := b.find(ctx, key)
	var from, to int64
	if err == nil {
		from, to, err = r.Within(int64(len(content)))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get %s: %w", key, err)
	}
	return bytes.Clone(content[from:to]), nil
}

func (b *Bucket) Head(ctx context.Context, key string) (int64, error) {
	content, err := b.find(ctx, key)
	if err != nil {
		return 0, fmt.Errorf("cannot head %s: %w", key, err)
	}
	return int64(len(content)), nil
}

func (b *Bucket) find(ctx context.Context, key string) ([]byte, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	o, found := b.objects[key]
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !found:
		return nil, blob.ErrAbsent
	}
	return o.content, nil
}

// List yields the objects that exist when the listing begins.
func (b *Bucket) List(ctx context.Context, prefix, startAfter string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		for _, object := range b.snapshot(prefix, startAfter) {
			if ctx.Err() != nil {
				break
			}
			if !yield(object, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(blob.Object{}, fmt.Errorf("cannot list %s: %w", prefix, err))
		}
	}
}

func (b *Bucket) snapshot(prefix, startAfter string) []blob.Object {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var objects []blob.Object
	for key, o := range b.objects {
		if strings.HasPrefix(key, prefix) && key > startAfter {
			objects = append(objects, blob.Object{Key: key, Size: int64(len(o.content)), Modified: o.modified})
		}
	}
	slices.SortFunc(objects, func(a, b blob.Object) int { return strings.Compare(a.Key, b.Key) })
	return objects
}

func (b *Bucket) Create(ctx context.Context, key string, content []byte) error {
	return b.change(ctx, "create", key, func() error {
		if _, found := b.objects[key]; found {
			return blob.ErrExists
		}
		b.objects[key] = memObject{bytes.Clone(content), b.now()}
		return nil
	})
}

func (b *Bucket) Replace(ctx context.Context, key string, content []byte) error {
	return b.change(ctx, "replace", key, func() error {
		b.objects[key] = memObject{bytes.Clone(content), b.now()}
		return nil
	})
}

func (b *Bucket) Delete(ctx context.Context, key string) error {
	return b.change(ctx, "delete", key, func() error {
		delete(b.objects, key)
		return nil
	})
}

// change calls operation while mu is locked; if ctx has ended, it fails instead. The
// parameters op and key describe the operation in errors.
func (b *Bucket) change(ctx context.Context, op, key string, operation func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := ctx.Err()
	if err == nil {
		err = operation()
	}
	if err != nil {
		return fmt.Errorf("cannot %s %s: %w", op, key, err)
	}
	return nil
}
