package simulation

import (
	"cmp"
	"math"
	"slices"
	"testing/synctest"
	"time"
)

// mostSteps is the number of steps after which a run counts as hung.
const mostSteps = 200_000

// wait blocks a call of a process until the world (the simulation) lets it happen. It returns how
// the call must fail, or none if it must not. The world chooses the next call only when all
// processes are blocked, so that one call happens at a time.
func (w *world) wait(c *call) fault {
	w.mu.Lock()
	w.waiting = append(w.waiting, c)
	w.mu.Unlock()
	return <-c.answer
}

// step lets one event of the simulation happen: a call of a process, the end of its work on a
// message, or the delivery of another message. It returns false if there is no event now.
func (w *world) step() bool {
	synctest.Wait()
	for _, p := range slices.Clone(w.working) {
		if p.hasEnded() {
			w.retire(p)
		}
	}
	w.read()
	next := w.next()
	switch {
	case next != nil && (len(w.working) >= w.atOnce || !w.chance(3)):
		w.release(next)
	case len(w.working) < w.atOnce && w.deliver():
	case next != nil:
		w.release(next)
	case w.wake():
	case len(w.working) > 0:
		// The processes wait for a timer of the bubble, such as the pause after a lost commit.
		// The sleep is long enough for all of them, so that their order is not left to chance.
		time.Sleep(time.Second)
	default:
		return false
	}
	if w.steps++; w.steps > mostSteps {
		w.t.Fatalf("not done after %d steps", mostSteps)
	}
	return true
}

// calling returns all calls that wait to happen, always in the same order.
func (w *world) calling() []*call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(slices.Values(w.waiting), func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.process.number, b.process.number), cmp.Compare(a.what, b.what))
	})
}

// next chooses one of the calls that can happen now; nil if there is none.
func (w *world) next() *call {
	now := w.clock.Now().UnixNano()
	ready := slices.DeleteFunc(w.calling(), func(c *call) bool { return c.until > now })
	if len(ready) == 0 {
		return nil
	}
	return ready[w.random.IntN(len(ready))]
}

// release ends the waiting of a call. It decides whether the call gets a fault. Without a fault the
// call happens; otherwise it fails in the way of the fault.
func (w *world) release(c *call) {
	w.clock.Advance(time.Duration(w.random.IntN(int(callTime))))
	f := none
	if c.system != timer {
		w.calls[c.system]++
		c.number = w.calls[c.system]
		f = w.fate(c)
	}
	if f != none {
		c.process.troubled.Store(true)
	}
	if f == death {
		w.kill(c.process)
		return
	}
	w.answer(c, f)
}

// fate returns the fault that a call gets. Usually w.decide chooses it, with two exceptions. If
// w.decide has killed the process of the call, the fault is death. If w.decide chooses none, but the
// called system cannot be reached now, the fault is before: the call fails without effect.
func (w *world) fate(c *call) fault {
	f := w.decide(c)
	switch {
	case c.process.dead.Load(): // the fault has killed the process, too
		return death
	case f == none && w.unreachable(c):
		return before
	}
	return f
}

func (w *world) answer(c *call, f fault) {
	w.mu.Lock()
	w.waiting = slices.DeleteFunc(w.waiting, func(other *call) bool { return other == c })
	w.mu.Unlock()
	c.answer <- f
}

// kill ends a process: none of its calls happens any more. Its message is delivered again after
// the visibility timeout of its queue.
func (w *world) kill(p *process) {
	p.dead.Store(true)
	p.troubled.Store(true)
	for _, c := range w.calling() {
		if c.process == p {
			w.answer(c, before)
		}
	}
}

// retire is called when the work of a process on its message has ended. If the process was killed,
// or its function has failed, the message goes back to the queue. If the process still lives, it
// becomes idle and can get another message.
func (w *world) retire(p *process) {
	w.working = slices.DeleteFunc(w.working, func(other *process) bool { return other == p })
	m, tasks := p.message, &p.runner.queue
	p.message = nil
	switch {
	case p.dead.Load():
		tasks.giveBack(m, visibility)
	case len(p.answer.BatchItemFailures) > 0:
		tasks.giveBack(m, time.Second<<min(m.receives-1, 5))
		p.runner.idle = append(p.runner.idle, p)
	default:
		p.runner.idle = append(p.runner.idle, p)
	}
}

// deliver lets a process handle a message that is due. It returns false if there is none.
func (w *world) deliver() bool {
	first := w.random.IntN(len(w.runners))
	for n := range w.runners {
		r := w.runners[(first+n)%len(w.runners)]
		if m := r.queue.take(); m != nil {
			p := r.process(m.function)
			w.working = append(w.working, p)
			p.start(m)
			return true
		}
	}
	return false
}

// wake advances the clock to the time at which the next timer of a process ends. If a message is
// due earlier and may be handled then, wake advances the clock only to that time. If no process
// waits for a timer, wake leaves the clock as it is and returns false.
func (w *world) wake() bool {
	until := int64(math.MaxInt64)
	for _, c := range w.calling() {
		until = min(until, c.until)
	}
	if until == math.MaxInt64 {
		return false
	}
	at := time.Unix(0, until)
	if due, found := w.due(); found && due.Before(at) && len(w.working) < w.atOnce {
		at = due
	}
	w.clock.Advance(max(0, at.Sub(w.clock.Now())))
	return true
}

// due returns the earliest due time of a message of any runner; false if there is none.
func (w *world) due() (next time.Time, found bool) {
	for _, r := range w.runners {
		if due, some := r.queue.next(); some && (!found || due.Before(next)) {
			next, found = due, true
		}
	}
	return next, found
}

// chance returns true once in n calls, on average.
func (w *world) chance(n int) bool { return w.random.IntN(n) == 0 }
