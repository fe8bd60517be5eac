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

// visibility is the time after which the message of a killed process is delivered again.
const visibility = 30 * time.Second

// queue holds the messages of all functions of a runner. Of the messages that are due, the one
// that was sent first is delivered first.
type queue struct {
	world   *world
	shuffle bool // true: any message that is due may be delivered first

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
	lost     bool // true: the message is not delivered again
}

// send adds a message. Only one goroutine at a time calls it.
func (q *queue) send(function, body string, delay time.Duration) {
	q.sent++
	q.waiting = append(q.waiting, &letter{
		id: q.sent, function: function, body: body, due: q.world.clock.Now().Add(delay),
	})
}

// take removes and returns the next message that is due; nil if there is none.
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

// held reports whether a message must wait although it is due. Only a message to the sweep must: it
// waits while a sweep of this runner (a complete set of functions) is running, because a runner
// runs only one sweep at a time.
func (q *queue) held(m *letter) bool {
	return m.function == task.Sweep && slices.ContainsFunc(q.world.working, func(p *process) bool {
		return p.function == task.Sweep && &p.runner.queue == q
	})
}

func (q *queue) remove(m *letter) {
	q.waiting = slices.DeleteFunc(q.waiting, func(other *letter) bool { return other == m })
}

// giveBack makes a message be delivered again after the delay. If it was delivered too often,
// it becomes a dead letter instead.
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

// next returns the earliest due time of the messages in the queue; found is false if there are
// none. While the sweep is running, next leaves out messages to the sweep. Even if they are due,
// they wait until the running sweep ends (see held).
func (q *queue) next() (next time.Time, found bool) {
	for _, m := range q.waiting {
		if !q.held(m) && (!found || m.due.Before(next)) {
			next, found = m.due, true
		}
	}
	return next, found
}

// event returns the message as Lambda delivers it.
func (m *letter) event() events.SQSEvent {
	return events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: fmt.Sprint(m.id), Body: m.body,
		Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.receives)},
	}}}
}
