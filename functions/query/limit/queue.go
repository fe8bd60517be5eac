package limit

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Counts are numbers of requests: Admitted and Refused since the start, Working and Waiting now.
type Counts struct{ Admitted, Refused, Working, Waiting int }

// queue decides which requests are worked on, and when. It measures the time of work by a virtual clock: each
// client has one that its own work moves on, and the next request is that of the client whose clock is the most
// behind. A client that comes anew, or has asked for nothing for long, begins at the clock of the request that
// was begun last, so that nobody saves up time by being quiet.
type queue struct {
	options Options

	mu      sync.Mutex // protects all of the following, and the fields of clients
	clients map[netip.Addr]*client
	queued  []*client     // the clients that have requests waiting, in the order in which they came
	now     time.Duration // virtual time: clock of the request that was begun last
	mean    time.Duration // mean duration of the latest requests, the latest weighing most
	Counts
}

// client is what the queue remembers of a client.
type client struct {
	clock   time.Duration // virtual time at which its next request can begin
	waiting []*ticket     // its requests that wait, in the order in which they came
	working int
	sending int // number of its answers that are being sent
	bucket  bucket
}

// ticket is a request that waits.
type ticket struct {
	ready chan struct{} // is closed when the request no longer waits
	turn  *turn         // set then, unless the request is refused in favour of a client with fewer requests
}

// busy is the error of a request that cannot be worked on soon.
type busy struct {
	sentence string        // without its full stop
	wait     time.Duration // time after which the client may ask again
}

// Error implements error.
func (b *busy) Error() string { return b.sentence }

const (
	firstMean  = 20 * time.Millisecond // mean duration of a request before any was measured
	weightMean = 16                    // the mean moves by this part of its difference to the latest duration
)

func newQueue(o Options) *queue {
	return &queue{options: o, clients: make(map[netip.Addr]*client), mean: firstMean}
}

func (q *queue) counts() Counts {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.Counts
}

// enter waits until a request of a client may be worked on. Its error is a *busy if it has to be refused, or
// that of the context if this ends earlier.
func (q *queue) enter(ctx context.Context, from netip.Addr) (*turn, error) {
	q.mu.Lock()
	c := q.client(from)
	if c.sending >= MaxSending && !from.IsLoopback() {
		defer q.mu.Unlock()
		return nil, q.refuse("You have not read the answers to your earlier requests yet", q.mean)
	}
	if q.Working < q.places(c) {
		defer q.mu.Unlock()
		return q.begin(c), nil
	}
	expected := q.expected(c)
	if expected > MaxWait || q.Waiting >= MaxWaiting && !q.makeRoom(c) {
		defer q.mu.Unlock()
		return nil, q.refuse(tooBusy, expected)
	}
	t := q.wait(c)
	q.mu.Unlock()
	var late error
	select {
	case <-t.ready:
	case <-q.options.After(MaxWait):
		late = &busy{tooBusy, MaxWait}
	case <-ctx.Done():
		late = ctx.Err()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch at := slices.Index(c.waiting, t); {
	case at >= 0: // it was neither begun nor refused
		q.leave(c, at)
		if ctx.Err() == nil {
			q.Refused++
		}
		return nil, late
	case t.turn == nil:
		return nil, q.refuse(tooBusy, MaxWait)
	}
	return t.turn, nil
}

// wait adds a request of a client to those that wait. The caller holds q.mu.
func (q *queue) wait(c *client) *ticket {
	if len(c.waiting) == 0 {
		q.queued = append(q.queued, c)
	}
	t := &ticket{ready: make(chan struct{})}
	c.waiting = append(c.waiting, t)
	q.Waiting++
	return t
}

// leave removes a client's waiting request, which has an index in c.waiting. The caller holds q.mu.
func (q *queue) leave(c *client, at int) {
	c.waiting = slices.Delete(c.waiting, at, at+1)
	q.Waiting--
	if len(c.waiting) == 0 {
		q.queued = slices.DeleteFunc(q.queued, func(other *client) bool { return other == c })
	}
}

const tooBusy = "Too many are searching at the moment"

// refuse counts a refusal, and returns its error. The caller holds q.mu.
func (q *queue) refuse(sentence string, wait time.Duration) error {
	q.Refused++
	return &busy{sentence, wait}
}

// begin counts that a request of a client is worked on from now on. The caller holds q.mu.
func (q *queue) begin(c *client) *turn {
	q.now = q.start(c)
	c.clock = q.now + q.mean
	c.working++
	q.Working++
	q.Admitted++
	return &turn{queue: q, client: c, began: q.options.Now(), charged: q.mean}
}

// places returns how many requests may be worked on at once, with the next of a client. One place is kept for
// clients that ask seldom, so that they need not wait at all. The caller holds q.mu.
func (q *queue) places(c *client) int {
	if c.working == 0 && c.clock <= q.now {
		return q.options.AtOnce
	}
	return max(1, q.options.AtOnce-1)
}

// start returns the virtual time at which the next request of a client can begin. The caller holds q.mu.
func (q *queue) start(c *client) time.Duration { return max(q.now, c.clock) }

// next begins the next waiting request if there is one and a place for it: of the clients with the same virtual time, that of the
// client who came first. The caller holds q.mu.
func (q *queue) next() {
	if len(q.queued) == 0 {
		return
	}
	c := slices.MinFunc(q.queued, func(a, b *client) int { return cmp.Compare(q.start(a), q.start(b)) })
	if q.Working >= q.places(c) {
		return
	}
	t := c.waiting[0]
	q.leave(c, 0)
	t.turn = q.begin(c)
	close(t.ready)
}

// expected returns how long one more request of a client is likely to wait: the number of requests that are
// worked on or begun before it, each of the mean duration, on q.options.AtOnce places. The caller holds q.mu.
func (q *queue) expected(c *client) time.Duration {
	mine := q.start(c) + time.Duration(len(c.waiting))*q.mean
	before := len(c.waiting) + 1
	for _, other := range q.queued {
		if ahead := mine - q.start(other); other != c && ahead >= 0 {
			before += min(len(other.waiting), int(ahead/max(q.mean, 1))+1)
		}
	}
	return time.Duration(before) * q.mean / time.Duration(q.options.AtOnce)
}

// makeRoom refuses the latest waiting request of the client that has the most, if it has at least two more than
// the client c, and reports whether it did. The caller holds q.mu.
func (q *queue) makeRoom(c *client) bool {
	most := c
	for _, other := range q.queued {
		if len(other.waiting) > len(most.waiting) {
			most = other
		}
	}
	last := len(most.waiting) - 1
	if last <= len(c.waiting) {
		return false
	}
	t := most.waiting[last]
	q.leave(most, last)
	close(t.ready)
	return true
}

// turn is a request that is worked on.
type turn struct {
	queue   *queue
	client  *client
	began   time.Time
	charged time.Duration // what the clock of the client was moved on by beforehand
	isDone  bool          // whether finished was called; protected by queue.mu
}

// finished says that the answer is complete and is being sent. Further calls do nothing.
func (t *turn) finished() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.isDone {
		return
	}
	t.isDone = true
	took := max(0, q.options.Now().Sub(t.began))
	t.client.clock += took - t.charged
	q.mean += (took - q.mean) / weightMean
	t.client.working--
	t.client.sending++
	q.Working--
	q.next()
}

// sent says that the answer was sent. It is called once, after finished.
func (t *turn) sent() {
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	t.client.sending--
}
