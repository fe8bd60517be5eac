package limit

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Counts are numbers of requests. Admitted and Refused count since the start of the program; Working and Waiting
// are the present numbers. Waited is the sum of the times for which requests have waited since the start,
// including requests that were refused after they had waited.
type Counts struct {
	Admitted, Refused, Working, Waiting int
	Waited                              time.Duration
}

// queue decides which requests are worked on, and when. It shares the processor time fairly among the clients by
// virtual clocks. Each client has a clock, which advances by the effort of its requests (estimated processor time,
// see package effort). It does not advance by the time that they take: this is long for any request while others
// keep the processors busy. The next request is that of the waiting client with the earliest clock. If a client is
// new, or has not asked for some time, its clock is first set to the clock of the request that was begun last. So
// a client cannot save up effort by not asking.
type queue struct {
	options Options
	atOnce  int // greatest number of requests that are worked on at once
	most    int // greatest number of requests that wait

	mu      sync.Mutex // protects all of the following, and the fields of clients
	clients map[netip.Addr]*client
	queued  []*client     // the clients that have requests waiting, in the order in which they came
	now     int           // virtual time: clock of the request that was begun last
	mean    time.Duration // mean duration of the latest requests, the latest weighing most
	usual   int           // mean effort of the latest requests, in which the latest ones have the greatest weight
	idle    chan struct{} // is closed when no request is worked on any more; nil while none is
	Counts
}

// client is what the queue remembers of a client.
type client struct {
	clock   int       // virtual time at which its next request can begin
	waiting []*ticket // its requests that wait, in the order in which they came
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
	firstUsual = 10_000                // mean effort of a request before the first one has ended
	weightMean = 16                    // a mean moves by 1/16 of its difference from the new value
)

func newQueue(o Options, atOnce, most int) *queue {
	return &queue{options: o, atOnce: atOnce, most: most, clients: make(map[netip.Addr]*client), mean: firstMean, usual: firstUsual}
}

func (q *queue) counts() Counts {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.Counts
}

// enter waits until a request of the client from may be worked on, and returns the turn of the request. The
// error is a *busy if the request is refused, or the error of ctx if ctx ends earlier.
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
	if expected > MaxWait || q.Waiting >= q.most && !q.makeRoom(c) {
		defer q.mu.Unlock()
		return nil, q.refuse(tooBusy, expected)
	}
	t := q.wait(c)
	began := q.options.Now()
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
	q.Waited += max(0, q.options.Now().Sub(began))
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

// leave removes the waiting request c.waiting[at] from the queue. The caller holds q.mu.
func (q *queue) leave(c *client, at int) {
	c.waiting = slices.Delete(c.waiting, at, at+1)
	q.Waiting--
	if len(c.waiting) == 0 {
		q.queued = slices.DeleteFunc(q.queued, func(other *client) bool { return other == c })
	}
}

const tooBusy = "Too many are searching at the moment"

// refuse counts a refusal, and returns the error *busy for it. The caller holds q.mu.
func (q *queue) refuse(sentence string, wait time.Duration) error {
	q.Refused++
	return &busy{sentence, wait}
}

// begin counts a request of the client c as one that is worked on from now on, and returns its turn. The
// effort of the work is not known yet. So the client's clock advances by the mean effort, which turn.leave
// corrects. The caller holds q.mu.
func (q *queue) begin(c *client) *turn {
	q.now = q.start(c)
	c.clock = q.now + q.usual
	c.working++
	q.Working++
	if q.idle == nil { // else a waiting request begins in the moment in which the last one has ended
		q.idle = make(chan struct{})
	}
	q.Admitted++
	return &turn{queue: q, client: c, began: q.options.Now(), charged: q.usual}
}

// places returns how many requests may be worked on at once, if the next one is of the client c. The number
// is atOnce for a client without a request that is worked on and whose clock is not ahead of the virtual
// time. For other clients, the number is one less. So a client that seldom asks finds a free place at once.
// The caller holds q.mu.
func (q *queue) places(c *client) int {
	if c.working == 0 && c.clock <= q.now {
		return q.atOnce
	}
	return max(1, q.atOnce-1)
}

// start returns the virtual time at which the next request of a client can begin. The caller holds q.mu.
func (q *queue) start(c *client) int { return max(q.now, c.clock) }

// next begins the waiting request that is next in order, if there is one and there is a place for it. It is
// the first request of the client that can begin at the earliest virtual time; among clients with the same
// time, of the one that began to wait first. The caller holds q.mu.
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

// expected estimates how long one more request of the client c would wait. It counts the requests that would
// be begun before this one, and the request itself, assumes that each takes the mean duration, and divides
// the sum by the number of places (atOnce). The caller holds q.mu.
func (q *queue) expected(c *client) time.Duration {
	mine := q.start(c) + len(c.waiting)*q.usual
	before := len(c.waiting) + 1
	for _, other := range q.queued {
		if ahead := mine - q.start(other); other != c && ahead >= 0 {
			before += min(len(other.waiting), ahead/max(q.usual, 1)+1)
		}
	}
	return time.Duration(before) * q.mean / time.Duration(q.atOnce)
}

// makeRoom makes room in a full queue for a request of the client c. It refuses the latest request of the
// client with the most waiting requests, if that client has at least two more of them than c. It reports
// whether a request was refused. The caller holds q.mu.
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
