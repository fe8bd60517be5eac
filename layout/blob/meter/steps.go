package meter

import (
	"context"
	"sync/atomic"
)

// thread counts the dependent steps of an operation, or of one of its parallel branches (see Fork).
// Its level is the number of steps so far: the length of the longest chain of finished requests,
// each of which waited for the one before. A branch goes on from the level that the thread had at
// the fork. If a branch reaches a higher level than the thread from which it branched, that thread
// reaches this level, too.
type thread struct {
	meter  *Meter
	parent *thread // the thread from which this one branched
	level  atomic.Int64
}

func (t *thread) now() int64 { return t.level.Load() }

// reach must be called when a request of thread t has ended. The parameter n is the number of
// requests in the chain of waiting that ends with this request: each of them waited for the one
// before. reach sets the level of t to n, unless the level is higher already. It does the same with
// the thread from which t branched, and so on up to the first thread. If t is nil, reach does
// nothing.
func (t *thread) reach(n int64) {
	for ; t != nil; t = t.parent {
		for old := t.level.Load(); old < n && !t.level.CompareAndSwap(old, n); old = t.level.Load() {
		}
	}
}

// Fork is a point of an operation at which it branches into parallel work.
//
// A request is a dependent step if it begins after the one before has ended. Requests that are sent
// in parallel count as one step together. The times of requests do not tell which are parallel,
// because the scheduler may happen to run parallel work one after another. So parallel work must be
// declared:
//
//	fork := meter.NewFork(ctx)
//	for … {
//		group.Go(func() error { return work(fork.Branch()) })
//	}
//	group.Wait()
//
// Each branch starts with the number of steps that the operation had when NewFork was called, and
// adds only its own steps. The branch with the most steps gives the number of the operation. If
// parallel work is not declared, this number may become too large, but never too small.
type Fork struct {
	ctx    context.Context
	thread *thread // the thread that branches; nil if the context has no meter
	at     int64   // level that the thread had when NewFork was called
}

// NewFork begins parallel work in the operation to which ctx belongs. Each branch continues the
// count of dependent steps from the number that the operation has reached at this call. If ctx
// has no meter, nothing is counted.
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

// Waited must be called if a branch has sent no request, but has waited for a request of another
// operation, such as one that fills a shared cache. It counts one dependent step, and no request.
func (f Fork) Waited() { f.thread.reach(f.at + 1) }
