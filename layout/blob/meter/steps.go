package meter

import (
	"context"
	"sync/atomic"
)

// thread counts the dependent steps of an operation, or of one of its parallel branches (see Fork).
// Its level is the number of steps so far: the length of the longest chain of finished requests,
// each of which waited for the one before. The chain of a branch begins with the requests before
// the fork, and may go on with requests of branches of this branch.
type thread struct {
	meter  *Meter
	parent *thread // the thread from which this one branched
	level  atomic.Int64
}

func (t *thread) now() int64 { return t.level.Load() }

// reach is called when a request of t has ended that was the last in a chain of n dependent
// requests. It raises the level of t, and of all threads from which t branched, to at least n. If t
// is nil, it does nothing.
func (t *thread) reach(n int64) {
	for ; t != nil; t = t.parent {
		for old := t.level.Load(); old < n && !t.level.CompareAndSwap(old, n); old = t.level.Load() {
		}
	}
}

// Fork is a point of an operation at which it branches into parallel work.
//
// Requests are dependent steps if each begins after the one before has ended; requests of
// parallel work are one step together. Times cannot tell which requests are parallel, because
// the scheduler may run them one after another. So parallel work must be declared:
//
//	fork := meter.NewFork(ctx)
//	for … {
//		group.Go(func() error { return work(fork.Branch()) })
//	}
//	group.Wait()
//
// Each branch starts with the number of steps that the operation had when NewFork was called,
// and counts its own steps alone. The operation then has the steps of its longest branch. If
// parallel work is not declared, the number of steps may become too large, but never too small.
type Fork struct {
	ctx    context.Context
	thread *thread // the thread that branches; nil if the context has no meter
	at     int64   // level that the thread had when NewFork was called
}

// NewFork begins parallel work in the operation to which ctx belongs. Each branch counts its
// dependent steps on from the number that the operation has reached at this call. If ctx has no
// meter, nothing is counted.
func NewFork(ctx context.Context) Fork {
	if t := of(ctx); t != nil {
		return Fork{ctx, t, t.now()}
	}
	return Fork{ctx: ctx}
}

// Branch returns the context for a new branch of the fork.
func (f Fork) Branch() context.Context {
	if f.thread == nil {
		return f.ctx
	}
	branch := &thread{meter: f.thread.meter, parent: f.thread}
	branch.level.Store(f.at)
	return context.WithValue(f.ctx, contextKey{}, branch)
}

// Waited counts one dependent step of a branch, but no request: the branch has waited for a
// request of another operation, such as one that fills a shared cache.
func (f Fork) Waited() { f.thread.reach(f.at + 1) }
