package meter

import (
	"context"
	"iter"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
)

// Bucket returns a bucket that counts each request into the meter of its
// context. It stands next to the store, inside of any blob.Retry, so that it
// sees every attempt.
func Bucket(inner blob.Bucket) blob.Bucket { return bucket{inner} }

type bucket struct{ inner blob.Bucket }

// begin begins a request. It returns the bucket to ask, and what to call when
// the answer is there.
func (b bucket) begin(ctx context.Context) (counted blob.Bucket, end func()) {
	t := of(ctx)
	if t == nil {
		return b.inner, func() {}
	}
	step := t.now() + 1
	return countblob.Into(&t.meter.requests, b.inner), func() { t.reach(step) }
}

func (b bucket) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	counted, end := b.begin(ctx)
	defer end()
	return counted.Get(ctx, key, r)
}

func (b bucket) Head(ctx context.Context, key string) (int64, error) {
	counted, end := b.begin(ctx)
	defer end()
	return counted.Head(ctx, key)
}

// List takes a step for every request, which waits for the one before.
func (b bucket) List(ctx context.Context, prefix, startAfter string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		counted, end := b.begin(ctx)
		defer func() { end() }()
		seen := 0
		for object, err := range counted.List(ctx, prefix, startAfter) {
			if seen%countblob.Listed == 0 {
				if seen > 0 {
					_, end = b.begin(ctx)
				}
				end()
			}
			seen++
			if !yield(object, err) {
				return
			}
		}
	}
}

func (b bucket) Create(ctx context.Context, key string, content []byte) error {
	counted, end := b.begin(ctx)
	defer end()
	return counted.Create(ctx, key, content)
}

func (b bucket) Replace(ctx context.Context, key string, content []byte) error {
	counted, end := b.begin(ctx)
	defer end()
	return counted.Replace(ctx, key, content)
}

func (b bucket) Delete(ctx context.Context, key string) error {
	counted, end := b.begin(ctx)
	defer end()
	return counted.Delete(ctx, key)
}
