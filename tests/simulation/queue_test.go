package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
)

// visibility is after how long the message of a process that died comes back.
const visibility = 30 * time.Second

// queue holds the messages of all functions of a runner. What is sent first is
// delivered first, once it is due.
type queue struct {
	world   *world
	shuffle bool // any message that is due may be delivered first

	sent    int
	waiting []*letter
	dead    []*letter
}

type letter struct {
	id       int
	function string
	body     string
	due      time.Time
	receives int
	lost     bool // does not come back
}

// send is called by one process at a time, when nobody else does anything.
func (q *queue) send(function, body string, delay time.Duration) {
	q.sent++
	q.waiting = append(q.waiting, &letter{
		id: q.sent, function: function, body: body, due: q.world.clock.Now().Add(delay),
	})
}

// take removes the next message that is due, nil when there is none.
func (q *queue) take() *letter {
	var ready []*letter
	for _, m := range q.waiting {
		if !m.due.After(q.world.clock.Now()) && !q.held(m) {
			ready = append(ready, m)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	m := ready[0]
	if q.shuffle && len(ready) > 1 {
		m = ready[q.world.random.IntN(len(ready))]
	}
	q.remove(m)
	m.receives++
	return m
}

// held reports whether a message has to wait for others: there is one sweep of
// a runner at a time.
func (q *queue) held(m *letter) bool {
	return m.function == task.Sweep && slices.ContainsFunc(q.world.working, func(p *process) bool {
		return p.function == task.Sweep && &p.runner.queue == q
	})
}

func (q *queue) remove(m *letter) {
	q.waiting = slices.DeleteFunc(q.waiting, func(other *letter) bool { return other == m })
}

// giveBack has a message come again, unless it was tried too often.
func (q *queue) giveBack(m *letter, delay time.Duration) {
	switch {
	case m.lost:
	case m.receives == message.MaxReceives:
		q.dead = append(q.dead, m)
	default:
		m.due = q.world.clock.Now().Add(delay)
		q.waiting = append(q.waiting, m)
	}
}

// next returns when the next message is due that need not wait for others,
// false when there is none.
func (q *queue) next() (next time.Time, found bool) {
	for _, m := range q.waiting {
		if !q.held(m) && (!found || m.due.Before(next)) {
			next, found = m.due, true
		}
	}
	return next, found
}

// event is the message as Lambda delivers it.
func (m *letter) event() events.SQSEvent {
	return events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: fmt.Sprint(m.id), Body: m.body,
		Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.receives)},
	}}}
}
