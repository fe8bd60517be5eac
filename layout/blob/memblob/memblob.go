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
	objects map[string]object // guarded by mu
}

type object struct {
	content  []byte // never changed
	modified time.Time
}

// New returns an empty bucket.
func New() *Bucket { return NewAt(time.Now) }

// NewAt returns an empty bucket with a clock of its own.
func NewAt(now func() time.Time) *Bucket { return &Bucket{now: now, objects: map[string]object{}} }

func (b *Bucket) find(key string) ([]byte, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	o, found := b.objects[key]
	return o.content, found
}

// put is called while mu is locked.
func (b *Bucket) put(key string, content []byte) {
	b.objects[key] = object{bytes.Clone(content), b.now()}
}

// Get implements blob.Reader.
func (b *Bucket) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("cannot get %s: %w", key, err)
	}
	content, found := b.find(key)
	if !found {
		return nil, fmt.Errorf("cannot get %s: %w", key, blob.ErrAbsent)
	}
	from, to, err := r.Within(int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("cannot get %s: %w", key, err)
	}
	return bytes.Clone(content[from:to]), nil
}

// Head implements blob.Reader.
func (b *Bucket) Head(ctx context.Context, key string) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("cannot head %s: %w", key, err)
	}
	content, found := b.find(key)
	if !found {
		return 0, fmt.Errorf("cannot head %s: %w", key, blob.ErrAbsent)
	}
	return int64(len(content)), nil
}

// List implements blob.Reader. It yields the objects of the moment at which
// it begins.
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

// Create implements blob.Bucket.
func (b *Bucket) Create(ctx context.Context, key string, content []byte) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cannot create %s: %w", key, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, found := b.objects[key]; found {
		return fmt.Errorf("cannot create %s: %w", key, blob.ErrExists)
	}
	b.put(key, content)
	return nil
}

// Replace implements blob.Bucket.
func (b *Bucket) Replace(ctx context.Context, key string, content []byte) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cannot replace %s: %w", key, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.put(key, content)
	return nil
}

// Delete implements blob.Bucket.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cannot delete %s: %w", key, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.objects, key)
	return nil
}
