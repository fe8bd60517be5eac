package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// kinds are all kinds of faults.
var kinds = slices.Concat(callKinds, storageKinds, redisKinds, processKinds, queueKinds, clockKinds, damageKinds, lostKinds, foreignKinds, strategyKinds, poisonKinds, operatorKinds)

// duration returns a random time. Even its order of magnitude is random, so that short times are
// not rare. It is
//
//	min(from × 2ⁿ, to) + r
//
// with a random number n (0, 1, 2, …) and a random time r that is less than the lower bound.
func (w *world) duration(from, to time.Duration) time.Duration {
	d := from
	for d < to && !w.chance(6) {
		d *= 2
	}
	return min(d, to) + time.Duration(w.random.Int64N(int64(from)))
}

var callKinds = []kind{
	{"storage fails", atCall(storage, before)},
	{"storage answers, and the answer is lost", atCall(storage, after)},
	{"redis fails", atCall(memory, before)},
	{"redis answers, and the answer is lost", atCall(memory, after)},
	{"queue fails", atCall(queues, before)},
	{"queue takes a message, and the answer is lost", atCall(queues, after)},
	{"site does not answer", func(w *world, c *call) (fault, string, bool) {
		// Only once for each page, because a page that gets no answer again fails for good.
		// Never for a page that fails for good in any case.
		if c.system != web || w.unanswered[c.what] || strings.HasSuffix(c.what, "/broken") {
			return none, "", false
		}
		w.unanswered[c.what] = true
		return before, "", true
	}},
}

func atCall(s system, f fault) func(*world, *call) (fault, string, bool) {
	return func(_ *world, c *call) (fault, string, bool) { return f, "", c.system == s }
}

var storageKinds = []kind{
	{"storage is busy for a while", func(w *world, c *call) (fault, string, bool) {
		d := w.duration(time.Second, 10*time.Minute)
		w.downUntil = w.clock.Now().Add(d)
		return none, fmt.Sprint("for ", d), c.system == storage
	}},
	{"disk is full for a while", func(w *world, c *call) (fault, string, bool) {
		d := w.duration(time.Second, 10*time.Minute)
		w.fullUntil = w.clock.Now().Add(d)
		return none, fmt.Sprint("for ", d), c.system == storage
	}},
}

var redisKinds = []kind{
	{"redis is emptied", func(_ *world, c *call) (fault, string, bool) {
		c.process.runner.flush()
		return none, "", true
	}},
	{"redis is cut off for a while", func(w *world, c *call) (fault, string, bool) {
		d := w.duration(time.Second, 10*time.Minute)
		c.process.runner.cutUntil = w.clock.Now().Add(d)
		return none, fmt.Sprint("for ", d), c.system == memory
	}},
	{"redis is replaced by an older copy of itself", func(w *world, c *call) (fault, string, bool) {
		r := c.process.runner
		if !r.copied {
			r.keepCopy()
			return none, "", false
		}
		age := w.clock.Now().Sub(r.copiedAt)
		r.goBack()
		return none, fmt.Sprint("of ", age, " ago"), true
	}},
}

var processKinds = []kind{
	{"a function is killed", func(*world, *call) (fault, string, bool) { return death, "", true }},
	{"all functions are killed", func(_ *world, c *call) (fault, string, bool) {
		c.process.runner.killAll()
		return none, "", true
	}},
	{"the whole program is killed, with its queues and Redis", func(_ *world, c *call) (fault, string, bool) {
		c.process.runner.end()
		return none, "", true
	}},
}

var queueKinds = []kind{
	{"a message is lost", atMessage(func(w *world, q *queue, m *letter) string {
		q.remove(m)
		return ""
	})},
	{"a message is doubled", atMessage(func(w *world, q *queue, m *letter) string {
		q.send(m.function, m.body, w.duration(time.Second, time.Hour))
		return ""
	})},
	{"a message is late", atMessage(func(w *world, q *queue, m *letter) string {
		d := w.duration(10*time.Second, time.Hour)
		m.due = m.due.Add(d)
		return fmt.Sprint("by ", d)
	})},
	{"messages come in any order", func(_ *world, c *call) (fault, string, bool) {
		q := &c.process.runner.queue
		happened := !q.shuffle
		q.shuffle = true
		return none, "", happened
	}},
}

// atMessage returns a value for the field happen of a kind of faults that hit messages. This value
// is a function that chooses one of the waiting messages at random, and calls the callback with the
// message and its queue. The callback does to the message what the fault consists in, such as
// delivering it twice, and returns a text about it.
func atMessage(happen func(*world, *queue, *letter) string) func(*world, *call) (fault, string, bool) {
	return func(w *world, c *call) (fault, string, bool) {
		q := &c.process.runner.queue
		if len(q.waiting) == 0 {
			return none, "", false
		}
		m := q.waiting[w.random.IntN(len(q.waiting))]
		return none, fmt.Sprint("to ", m.function, " ", happen(w, q, m)), true
	}
}

var clockKinds = []kind{
	{"the clock jumps on", func(w *world, c *call) (fault, string, bool) {
		d := w.duration(time.Second, 2*time.Hour)
		w.clock.Advance(d)
		return none, fmt.Sprint("by ", d), true
	}},
	{"the clock jumps back", func(w *world, c *call) (fault, string, bool) {
		d := w.duration(time.Second, 2*time.Hour)
		w.clock.Advance(-d)
		w.wrongClocks = true
		return none, fmt.Sprint("by ", d), true
	}},
	{"the clock of one process is wrong", func(w *world, c *call) (fault, string, bool) {
		d := w.duration(time.Second, 2*time.Hour)
		if w.chance(2) {
			d = -d
		}
		c.process.skew.Add(int64(d))
		w.wrongClocks = true
		return none, fmt.Sprint("by ", d), true
	}},
}

var operatorKinds = []kind{
	{"the operator pauses the crawl", func(w *world, _ *call) (fault, string, bool) {
		d := w.duration(10*time.Second, time.Hour)
		w.pause(d)
		return none, fmt.Sprint("for ", d), true
	}},
	{"the operator resumes the crawl", func(w *world, _ *call) (fault, string, bool) {
		w.resume()
		return none, "", true
	}},
	{"the operator forgets pages and a site", func(w *world, _ *call) (fault, string, bool) {
		happened := !w.forgets()
		if happened {
			w.forget()
		}
		return none, "", happened
	}},
	{"the operator forgets a page that nobody knows", func(w *world, _ *call) (fault, string, bool) {
		w.forgetUnknown()
		return none, "", true
	}},
	{"the operator hides a page or site for a while", func(w *world, _ *call) (fault, string, bool) {
		return none, w.hide(), true
	}},
	{"the operator shows hidden pages again", func(w *world, _ *call) (fault, string, bool) {
		return none, "", w.show()
	}},
	{"the operator begins another crawl", func(w *world, _ *call) (fault, string, bool) {
		return none, w.again(), true
	}},
	{"the operator has all indexed anew", func(w *world, _ *call) (fault, string, bool) {
		if w.harmed > 0 { // damaged books do not tell which pages are gone
			return none, "", false
		}
		return none, fmt.Sprint(w.reindex(), " packages"), true
	}},
}
