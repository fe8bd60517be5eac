package limit

import (
	"maps"
	"net/netip"
	"time"
)

// maxClients is the number of clients that are remembered. When one more comes, clients without requests are
// forgotten (see forget). There are more than maxClients only while more than so many have requests that
// wait or are worked on, or answers that are being sent.
const maxClients = 16384

// burst is the number of seconds for which a client can save up requests. Example: with a Rate of 5, a
// client that has not asked for three seconds may send 15 requests at once.
const burst = 3

// bucket counts the requests that a client may send at a moment (token bucket). The number left was right at
// the time at. It grows by Options.Rate in a second, up to burst times Options.Rate.
type bucket struct {
	left float64
	at   time.Time
}

// spend takes one request from the bucket of the client from. It returns 0 if the bucket had one, and else
// the time after which the client may send the request; the request is then counted as refused.
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

// filled returns how many requests a bucket allows at the time now.
func (q *queue) filled(b bucket, now time.Time) float64 {
	return min(b.left+max(0, now.Sub(b.at).Seconds())*q.options.Rate, burst*q.options.Rate)
}

// client returns the record of the client from. For an unknown client it makes one, with a full bucket. The
// caller holds q.mu.
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

// forget removes clients that have no requests and no answers on their way. It begins with those for which
// being forgotten changes nothing: their bucket is full, and their clock is not ahead of the virtual time.
// If then more than three quarters of maxClients remain, it removes all other clients without requests, too.
// The caller holds q.mu.
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
