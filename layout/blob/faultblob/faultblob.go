// Package faultblob makes chosen calls of a bucket fail, to test how its users behave.
package faultblob

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
)

// Op names an operation of blob.Bucket.
type Op string

// The operations of blob.Bucket, as Call.Op names them.
const (
	Get     Op = "get"
	Head    Op = "head"
	List    Op = "list"
	Create  Op = "create"
	Replace Op = "replace"
	Delete  Op = "delete"
)

// Call is one call of an operation. Key is the object's key; for a List, its prefix.
type Call struct {
	Number int64 // 1 for the first call of the bucket, 2 for the second, and so on
	Op     Op
	Key    string
}

// Fault says whether a call fails, and how.
type Fault int

// The faults:
//
//	None     the operation is run; the call returns its result
//	Before   the operation is not run; the call fails with blob.ErrRetryable
//	After    the operation is run (a List yields one object); the call fails with blob.ErrRetryable
//	Hang     the operation is not run; the call fails when ctx ends
const (
	None Fault = iota
	Before
	After
	Hang
)

// String returns the name of the fault.
func (f Fault) String() string { return [...]string{"none", "before", "after", "hang"}[f] }

// Bucket is a blob.Bucket with injected faults.
type Bucket struct {
	inner  blob.Bucket
	decide func(Call) Fault
	calls  atomic.Int64
}

// New returns a bucket that passes every call to inner, unless the call shall fail: before each
// call, it asks the function decide for the Fault of this call. The function may be called
// concurrently. It may also panic or exit the process, to test what happens when a process is
// killed.
func New(inner blob.Bucket, decide func(Call) Fault) *Bucket {
	return &Bucket{inner: inner, decide: decide}
}

// do asks b.decide for the Fault of an operation. Then it runs the operation, or
// fails, as this Fault says.
func (b *Bucket) do(ctx context.Context, op Op, key string, operation func() error) error {
	call := Call{b.calls.Add(1), op, key}
	fault := b.decide(call)
	failure := fmt.Errorf("cannot %s %s: fault %s call %d: %w", op, key, fault, call.Number, blob.ErrRetryable)
	switch fault {
	case Before:
		return failure
	case After:
		_ = operation() // its answer is lost, whatever it was
		return failure
	case Hang:
		<-ctx.Done()
		return fmt.Errorf("cannot %s %s: %w", op, key, ctx.Err())
	}
	return operation()
}

func (b *Bucket) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	var content []byte
	err := b.do(ctx, Get, key, func() (err error) {
		content, err = b.inner.Get(ctx, key, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return content, nil
}

func (b *Bucket) Head(ctx context.Context, key string) (int64, error) {
	var size int64
	err := b.do(ctx, Head, key, func() (err error) {
		size, err = b.inner.Head(ctx, key)
		return err
	})
	if err != nil {
		return 0, err
	}
	return size, nil
}

func (b *Bucket) List(ctx context.Context, prefix, startAfter string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		happened := false
		failure := b.do(ctx, List, prefix, func() error { happened = true; return nil })
		if happened {
			for object, err := range b.inner.List(ctx, prefix, startAfter) {
				if !yield(object, err) {
					return
				}
				if failure != nil {
					break
				}
			}
		}
		if failure != nil {
			yield(blob.Object{}, failure)
		}
	}
}

func (b *Bucket) Create(ctx context.Context, key string, content []byte) error {
	return b.do(ctx, Create, key, func() error { return b.inner.Create(ctx, key, content) })
}

func (b *Bucket) Replace(ctx context.Context, key string, content []byte) error {
	return b.do(ctx, Replace, key, func() error { return b.inner.Replace(ctx, key, content) })
}

func (b *Bucket) Delete(ctx context.Context, key string) error {
	return b.do(ctx, Delete, key, func() error { return b.inner.Delete(ctx, key) })
}

// stride is the distance between the numbers of the calls that fail in two consecutive runs of
// Each. It is usually 1: first call 1 fails, then call 2, and so on. Under the race detector it
// is 31, to save time: call 1, call 32, and so on.
var stride = racetest.Rounds(int64(1), 31)

// Each runs a scenario again and again, and makes one call of the bucket fail in each run: in the
// first run the first call, in the second run the second call, and so on. It ends with a run that
// has too few calls, so that none fails. In all these runs the calls fail with the fault Before.
// Then the function does the same with the fault After. There only calls that write are counted and
// fail. Every run is a test of its own.
//
// The scenario must build its own Bucket from decide, start from nothing, and check that the result
// is right. Under the race detector, Each skips most of the runs (see [stride]).
func Each(t *testing.T, scenario func(t *testing.T, decide func(Call) Fault)) {
	for _, fault := range []Fault{Before, After} {
		for number, failed := int64(1), true; failed; number += stride {
			t.Run(fmt.Sprintf("%s-%d", fault, number), func(t *testing.T) {
				var reached atomic.Bool
				var writes atomic.Int64
				scenario(t, func(c Call) Fault {
					this := c.Number
					if fault == After {
						if c.Op == Get || c.Op == Head || c.Op == List { // for a read, After would be the same as Before
							return None
						}
						this = writes.Add(1)
					}
					if this != number {
						return None
					}
					reached.Store(true)
					t.Logf("fault %s %s %s", fault, c.Op, c.Key)
					return fault
				})
				failed = reached.Load() && !t.Failed()
			})
		}
	}
}
