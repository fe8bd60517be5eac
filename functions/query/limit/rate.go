package limit

import (
	"maps"
	"net/netip"
	"time"
)

// maxClients is the number of clients that are remembered. When there are more, those that do nothing at
// present are forgotten, first those that forgetting gives no advantage. There are more clients only as far as
// that many have requests in the queue or answers on their way.
const maxClients = 16384

// burst is the number of seconds for which a client may save up requests that it did not send.
const burst = 3

// bucket counts the requests that a client may send at a time (token bucket). The number grows by Options.Rate
// in a second, up to burst times that.
type bucket struct {
	left float64
	at   time.Time
}

// spend counts a request of a client. It returns 0 if the client may send it now, or else the time after which
// it may.
func (q *queue) spend(from netip.Addr) time.Duration {
	if q.options.Rate <= 0 || from.IsLoopback() {
		return 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	b := &q.client(from).bucket
	now := q.options.Now()
	b.left, b.at = q.filled(*b, now), now
	if b.left < 1 {
		q.Refused++
		return time.Duration((1 - b.left) / q.options.Rate * float64(time.Second))
	}
	b.left--
	return 0
}

// filled returns how many requests a bucket allows at a moment.
func (q *queue) filled(b bucket, now time.Time) float64 {
	return min(b.left+max(0, now.Sub(b.at).Seconds())*q.options.Rate, burst*q.options.Rate)
}

// client returns what is remembered of a client, which is nothing yet if it is new. The caller holds q.mu.
func (q *queue) client(from netip.Addr) *client {
	if c, found := q.clients[from]; found {
		return c
	}
	if len(q.clients) >= maxClients {
		q.forget()
	}
	c := &client{bucket: bucket{burst * q.options.Rate, q.options.Now()}}
	q.clients[from] = c
	return c
}

// forget removes clients that do nothing at present: those that gain nothing by it, as their bucket is full and
// their clock is not ahead. If less than a quarter of all are such clients, it removes all that do nothing. The
// caller holds q.mu.
func (q *queue) forget() {
	now := q.options.Now()
	isIdle := func(c *client) bool { return len(c.waiting)+c.working+c.sending == 0 }
	maps.DeleteFunc(q.clients, func(_ netip.Addr, c *client) bool {
		return isIdle(c) && c.clock <= q.now && q.filled(c.bucket, now) >= burst*q.options.Rate
	})
	if len(q.clients) > maxClients*3/4 {
		maps.DeleteFunc(q.clients, func(_ netip.Addr, c *client) bool { return isIdle(c) })
	}
}
