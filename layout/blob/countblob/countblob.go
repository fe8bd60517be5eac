// Package countblob counts the requests to a bucket, because requests cost money.
package countblob

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Listed is the greatest number of objects that a store returns for one LIST request.
const Listed = 1_000

// Counts holds the numbers of requests by kind, whether they succeeded or not, and the
// numbers of bytes of content that were read and written.
type Counts struct {
	Put     int64 `json:"put"` // number of calls of Create and Replace
	Get     int64 `json:"get"`
	List    int64 `json:"list"` // LIST requests: 1 for up to 1,000 objects, 2 for up to 2,000, …
	Delete  int64 `json:"delete"`
	Head    int64 `json:"head"`
	Read    int64 `json:"read"`
	Written int64 `json:"written"`
}

// Plus returns the sums of c and other.
func (c Counts) Plus(other Counts) Counts {
	return Counts{
		Put: c.Put + other.Put, Get: c.Get + other.Get, List: c.List + other.List,
		Delete: c.Delete + other.Delete, Head: c.Head + other.Head,
		Read: c.Read + other.Read, Written: c.Written + other.Written,
	}
}

// Minus returns c less other, number by number. If other is an earlier state of the
// same counter, the result counts the requests since then.
func (c Counts) Minus(other Counts) Counts {
	return Counts{
		Put: c.Put - other.Put, Get: c.Get - other.Get, List: c.List - other.List,
		Delete: c.Delete - other.Delete, Head: c.Head - other.Head,
		Read: c.Read - other.Read, Written: c.Written - other.Written,
	}
}

// Requests returns the sum of the numbers of requests of all kinds.
func (c Counts) Requests() int64 { return c.Put + c.Get + c.List + c.Delete + c.Head }

// Counter adds up the requests of one or several buckets. The zero Counter is ready for
// use. It is safe for concurrent use.
type Counter struct {
	put, get, list, del, head, read, written atomic.Int64
}

// Counts returns how many requests have been counted so far, and their bytes.
func (c *Counter) Counts() Counts {
	return Counts{
		Put: c.put.Load(), Get: c.get.Load(), List: c.list.Load(), Delete: c.del.Load(), Head: c.head.Load(),
		Read: c.read.Load(), Written: c.written.Load(),
	}
}

// Add adds requests that were counted elsewhere.
func (c *Counter) Add(counts Counts) {
	c.put.Add(counts.Put)
	c.get.Add(counts.Get)
	c.list.Add(counts.List)
	c.del.Add(counts.Delete)
	c.head.Add(counts.Head)
	c.read.Add(counts.Read)
	c.written.Add(counts.Written)
}

// Bucket is a blob.Bucket that passes every call to an inner bucket and counts the
// requests. The inner one must be the store itself, and not a blob.Retry around it, so
// that every attempt is counted.
type Bucket struct {
	*Counter
	inner blob.Bucket
}

// New returns a Bucket that passes every call to inner, and counts the requests in a new Counter.
func New(inner blob.Bucket) *Bucket { return Into(new(Counter), inner) }

// Into returns a Bucket that passes every call to inner, and counts the requests in the Counter c.
func Into(c *Counter, inner blob.Bucket) *Bucket { return &Bucket{c, inner} }

func (b *Bucket) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	b.get.Add(1)
	content, err := b.inner.Get(ctx, key, r)
	b.read.Add(int64(len(content)))
	return content, err
}

func (b *Bucket) Head(ctx context.Context, key string) (int64, error) {
	b.head.Add(1)
	return b.inner.Head(ctx, key)
}

func (b *Bucket) List(ctx context.Context, prefix, startAfter string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		b.list.Add(1)
		seen := 0
		for object, err := range b.inner.List(ctx, prefix, startAfter) {
			if seen > 0 && seen%Listed == 0 {
				b.list.Add(1)
			}
			seen++
			if !yield(object, err) {
				return
			}
		}
	}
}

func (b *Bucket) Create(ctx context.Context, key string, content []byte) error {
	b.put.Add(1)
	b.written.Add(int64(len(content)))
	return b.inner.Create(ctx, key, content)
}

func (b *Bucket) Replace(ctx context.Context, key string, content []byte) error {
	b.put.Add(1)
	b.written.Add(int64(len(content)))
	return b.inner.Replace(ctx, key, content)
}

func (b *Bucket) Delete(ctx context.Context, key string) error {
	b.del.Add(1)
	return b.inner.Delete(ctx, key)
}
