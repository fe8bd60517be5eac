package meter

import (
	"context"
	"sync/atomic"
)

// thread is one sequence of requests of an operation. Parallel work has a thread for each of
// its branches (see Fork). The level of a thread is the number of dependent steps so far: the
// length of the longest chain of requests, each of which waited for the one before. Such a
// chain begins with the operation and ends with a finished request of the thread or of its
// branches.
type thread struct {
	meter  *Meter
	parent *thread // the thread from which this one branched
	level  atomic.Int64
}

func (t *thread) now() int64 { return t.level.Load() }

// reach records that a request of t has ended, the last in a chain of n requests, each of
// which waited for the one before. It raises the level of t, and of all threads from which t
// branched, to at least n. It does nothing if t is nil.
func (t *thread) reach(n int64) {
	for ; t != nil; t = t.parent {
		for old := t.level.Load(); old < n && !t.level.CompareAndSwap(old, n); old = t.level.Load() {
		}
	}
}

// Fork is a point of an operation at which it branches into parallel work.
//
// The requests in a chain, each of which begins after the one before has ended, are
// dependent steps. Times cannot tell them from parallel requests, which the scheduler may
// run one after another, so parallel work is declared:
//
//	fork := meter.NewFork(ctx)
//	for … {
//		group.Go(func() error { return work(fork.Branch()) })
//	}
//	group.Wait()
//
// Requests in different branches never form a chain. A request in a branch continues a
// chain of requests that had ended when the fork was made. If every fork is declared, the
// number of steps is exact; an undeclared fork can only make it too large.
type Fork struct {
	ctx    context.Context
	thread *thread // the thread that branches; nil if the context has no meter
	at     int64   // level that the thread had when NewFork was called
}

// NewFork begins parallel work in the operation to which ctx belongs, and returns its
// fork: requests of the branches follow the requests of ctx that have ended by now. If
// ctx has no meter, neither have the branches.
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

// Waited records that one branch waited for a request of another operation, such as one
// that fills a shared cache: a dependent step without a request.
func (f Fork) Waited() { f.thread.reach(f.at + 1) }
