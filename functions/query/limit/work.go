package limit

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
)

// Limits of costly requests, in units of package effort (about a microsecond).
const (
	anyEffort   = 1_000                 // effort that every request costs, for instance to read it
	quickEffort = 20_000                // greatest effort of a quick request
	slice       = 2_000                 // effort of a costly request between two pauses
	pause       = 10 * time.Millisecond // greatest length of a pause
)

// work is a request that is worked on. It is the effort.Payer of the request. It begins with a place in the
// queue of quick requests. When its effort exceeds quickEffort, it gives up this place, and waits in the queue of
// costly requests.
type work struct {
	from  netip.Addr
	quick *turn
	among *queue // queue of costly requests

	spent    atomic.Int64 // effort so far
	isCostly atomic.Bool

	mu     sync.Mutex // protects the following fields; held while the request waits or pauses
	costly *turn      // place among the costly requests; nil as long as the request has none
	slice  int        // effort that is left until the next pause
	isDone bool       // whether finished was called
	isSent bool       // whether sent was called
	// refused is the error of the request if it found no place among the costly ones. Further work is refused at once.
	refused error
}

func newWork(quick *turn, from netip.Addr, among *queue) *work {
	w := &work{from: from, quick: quick, among: among, slice: slice}
	w.spent.Store(anyEffort)
	return w
}

// Expect implements effort.Payer.
func (w *work) Expect(ctx context.Context, units int) error {
	if w.spent.Load()+int64(units) <= quickEffort && !w.isCostly.Load() {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.move(ctx)
}

// Spend implements effort.Payer.
func (w *work) Spend(ctx context.Context, units int) error {
	if w.spent.Add(int64(units)) <= quickEffort && !w.isCostly.Load() {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.move(ctx); err != nil {
		return err
	}
	if w.slice -= units; w.slice > 0 {
		return nil
	}
	w.slice = slice
	return w.quick.queue.waitIdle(ctx, pause)
}

// move moves the request from the queue of quick requests to that of costly ones, and waits there until it may go
// on. If the request was moved before, move does nothing. The client is charged quickEffort for the place in the
// quick queue, even if the request has spent less so far. So the next request of this client comes after those of
// clients without costly requests. The caller holds w.mu.
func (w *work) move(ctx context.Context) error {
	switch {
	case w.costly != nil:
		return nil
	case w.refused != nil:
		return w.refused
	case w.isSent: // what still runs is of no use to anybody
		return context.Canceled
	}
	w.isCostly.Store(true)
	w.quick.leave(quickEffort)
	admitted, err := w.among.enter(ctx, w.from)
	if refused, is := errors.AsType[*busy](err); is {
		w.refused = &effort.Refused{Sentence: "Too many costly queries are searched at the moment", Seconds: seconds(refused.wait)}
		return w.refused
	}
	w.costly = admitted
	return err
}

// finished records that the work on the request has ended, and that its answer is now being sent. A second call
// gives up a place among the costly requests that the request has got after the first call, and does nothing else.
func (w *work) finished() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.isDone {
		w.isDone = true
		w.quick.sending(true)
	}
	effort := int(w.spent.Load())
	w.quick.leave(effort)
	if w.costly != nil {
		w.costly.leave(effort)
	}
}

// sent records that the answer was sent in full. It is called once, after finished.
func (w *work) sent() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isSent = true
	w.quick.sending(false)
}
