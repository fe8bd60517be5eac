package meter

import (
	"context"
	"sync/atomic"
)

// thread is a part of an operation that goes on one thing after another. Its
// level is the length of the longest chain of requests that have ended in it
// and in the threads that branched off from it.
type thread struct {
	meter  *Meter
	parent *thread
	level  atomic.Int64
}

func (t *thread) now() int64 { return t.level.Load() }

// reach raises the level of t, and of those that wait for it, to at least n.
func (t *thread) reach(n int64) {
	for ; t != nil; t = t.parent {
		for old := t.level.Load(); old < n && !t.level.CompareAndSwap(old, n); old = t.level.Load() {
		}
	}
}

// Fork is a point of an operation from which several things are done at once.
//
// Dependent steps are requests each of which began after the one before had
// ended. Whether two requests that may overlap really do is up to the scheduler,
// so parallel work is declared:
//
//	fork := meter.NewFork(ctx)
//	for … {
//		group.Go(func() error { return work(fork.Branch()) })
//	}
//	group.Wait()
//
// Requests in different branches never form a chain; those in one branch follow
// those that had ended at the fork. Where every fork is declared, the number of
// steps is exact; where one is not, it may be too large, never too small.
type Fork struct {
	ctx    context.Context
	thread *thread // nil if the context is not measured
	at     int64   // its level at the fork
}

// NewFork returns the fork at which ctx is now.
func NewFork(ctx context.Context) Fork {
	if t := of(ctx); t != nil {
		return Fork{ctx, t, t.now()}
	}
	return Fork{ctx: ctx}
}

// Branch returns a context for one of the things that are done at once.
func (f Fork) Branch() context.Context {
	if f.thread == nil {
		return f.ctx
	}
	branch := &thread{meter: f.thread.meter, parent: f.thread}
	branch.level.Store(f.at)
	return context.WithValue(f.ctx, contextKey{}, branch)
}

// Waited says that one of the things was to wait for a request that another
// operation made: a step without a request.
func (f Fork) Waited() { f.thread.reach(f.at + 1) }
