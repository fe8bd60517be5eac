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

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Bucket is a blob.Bucket in memory.
type Bucket struct {
	mu      sync.RWMutex
	objects map[string][]byte // guarded by mu; contents are never changed
}

// New returns an empty bucket.
func New() *Bucket { return &Bucket{objects: map[string][]byte{}} }

func (b *Bucket) find(key string) ([]byte, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	content, found := b.objects[key]
	return content, found
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
	for key, content := range b.objects {
		if strings.HasPrefix(key, prefix) && key > startAfter {
			objects = append(objects, blob.Object{Key: key, Size: int64(len(content))})
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
	b.objects[key] = bytes.Clone(content)
	return nil
}

// Replace implements blob.Bucket.
func (b *Bucket) Replace(ctx context.Context, key string, content []byte) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cannot replace %s: %w", key, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects[key] = bytes.Clone(content)
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
