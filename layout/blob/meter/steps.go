package meter

import (
	"context"
	"sync/atomic"
)

// thread is a sequential part of an operation. Its level is the length of the longest
// chain of requests that have ended in it and in its branches.
type thread struct {
	meter  *Meter
	parent *thread
	level  atomic.Int64
}

func (t *thread) now() int64 { return t.level.Load() }

// reach raises the level of t, and of the threads that wait for it, to at least n.
func (t *thread) reach(n int64) {
	for ; t != nil; t = t.parent {
		for old := t.level.Load(); old < n && !t.level.CompareAndSwap(old, n); old = t.level.Load() {
		}
	}
}

// Fork is a point of an operation at which it branches into parallel work.
//
// Dependent steps are requests each of which began after the one before had ended. The
// scheduler decides whether two requests that may overlap really do, so parallel work
// is declared:
//
//	fork := meter.NewFork(ctx)
//	for … {
//		group.Go(func() error { return work(fork.Branch()) })
//	}
//	group.Wait()
//
// Requests in different branches never form a chain; requests in one branch follow those
// that had ended at the fork. If every fork is declared, the number of steps is exact;
// an undeclared fork can only make it too large.
type Fork struct {
	ctx    context.Context
	thread *thread // nil if the context is not measured
	at     int64   // its level at the fork
}

// NewFork begins parallel work in the operation of ctx: requests of its branches count
// as following those of ctx that have ended by now. If ctx is not measured, neither
// are the branches.
func NewFork(ctx context.Context) Fork {
	if t := of(ctx); t != nil {
		return Fork{ctx, t, t.now()}
	}
	return Fork{ctx: ctx}
}

// Branch returns the context of one branch.
func (f Fork) Branch() context.Context {
	if f.thread == nil {
		return f.ctx
	}
	branch := &thread{meter: f.thread.meter, parent: f.thread}
	branch.level.Store(f.at)
	return context.WithValue(f.ctx, contextKey{}, branch)
}

// Waited records that a branch waited for a request of another operation: a step
// without a request.
func (f Fork) Waited() { f.thread.reach(f.at + 1) }
