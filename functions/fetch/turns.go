package fetch

import (
	"context"
	"maps"
	"sync"
	"time"
)

// turns lets the batches of a host take turns. The function schedule may lease a batch ahead, while as
// many batches of its host are being fetched as the collections allow (see schedule.Limits.Ahead). That
// batch waits until another has sent its last request, and then begins while the other is stored and
// settled. It begins as if it had been leased after that: not before the host may be requested, and with
// the host's pace. The zero value is ready to use.
type turns struct {
	mu sync.Mutex           // protects the fields of this type and of hostTurns
	at map[string]*hostTurn // by host; see leave for the hosts that it has
}

// hostTurn is the state of one host.
type hostTurn struct {
	batches int           // number of batches that have their turn, or wait for it
	busy    int           // number of those that have their turn
	freed   chan struct{} // is closed when a turn ends
	last    *pace         // pace of the host when a turn ended last; nil if none has ended
	next    time.Time     // time before which the host must not be requested, as far as the ended turns know
}

// enter waits until fewer than the given number of batches of the host have their turn. Then the caller
// has its turn, which it must end by leave. The results are the pace of the host when a turn ended last, nil if
// it is not known, and the time before which the host must not be requested. enter fails if ctx ends first.
func (t *turns) enter(ctx context.Context, host string, connections int) (last *pace, next time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.at == nil {
		t.at = make(map[string]*hostTurn)
	}
	here := t.at[host]
	if here == nil {
		here = &hostTurn{freed: make(chan struct{})}
		t.at[host] = here
	}
	here.batches++
	for here.busy >= connections {
		freed := here.freed
		t.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
		}
		t.mu.Lock()
		if ctx.Err() != nil {
			here.batches--
			return nil, time.Time{}, context.Cause(ctx)
		}
	}
	here.busy++
	return here.last, here.next, nil
}

// leave ends a turn. The parameter last is the pace of the host then, and next is the time before which the
// host must not be requested. What other batches demanded that had their turn at the same time stays in force.
// Batches that wait get to know both, and so do later ones until the time next: the frontier may have leased
// them before the batch was settled. After that the host is forgotten.
func (t *turns) leave(host string, last pace, next, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	here := t.at[host]
	if here.last != nil {
		last.last, last.rest = latest(here.last.last, last.last), latest(here.last.rest, last.rest)
	}
	here.last, here.next = &last, latest(here.next, next)
	here.batches--
	here.busy--
	close(here.freed)
	here.freed = make(chan struct{})
	maps.DeleteFunc(t.at, func(_ string, h *hostTurn) bool { return h.batches == 0 && !h.next.After(now) })
}
