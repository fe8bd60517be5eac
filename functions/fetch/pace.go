package fetch

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
)

// pace tells when a host may be asked next, from how it answered so far. Its
// failures go on from batch to batch; what else is to be waited for between two
// is in the ledger of the first.
type pace struct {
	last     time.Time     // end of the last answer, zero before it
	slow     time.Duration // what answers take of late
	failures int           // answers in a row, those of batches before included, that were none, or said that it is too much
	rest     time.Time     // nothing is asked before it
}

// next returns when the pause after the last answer ends. Who waits at all
// waits at least as long as answers take, so that a host that is slow, of us
// or others, has half of its time for others.
func (p *pace) next(delay time.Duration) time.Time {
	if p.last.IsZero() {
		return time.Time{}
	}
	if delay > 0 {
		delay = max(delay, p.slow)
	}
	return latest(p.rest, p.last.Add(delay))
}

// heard learns from an answer. After the n-th failure in a row the host rests
// for 2^(n-1) seconds, up to an hour, or for as long as it asks.
func (p *pace) heard(a answer) {
	p.last = a.ended
	if a.status != 0 {
		took := a.ended.Sub(a.began)
		if p.slow > 0 {
			took = (p.slow + took) / 2
		}
		p.slow = took
	}
	busy := a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable
	if !busy && !a.silent() {
		p.failures = 0
		return
	}
	pause := min(time.Second<<min(p.failures, 30), maxBackoff)
	p.failures++
	if busy {
		pause = max(pause, retryAfter(a))
	}
	p.rest = latest(p.rest, a.ended.Add(pause))
}

// note writes into a ledger what the batches after this one must know.
func (p *pace) note(l *spool.Ledger) {
	l.Slow, l.Failures = p.slow, uint16(min(p.failures, math.MaxUint16))
	if !p.rest.IsZero() {
		l.Rest = notBefore(p.rest)
	}
}

// notBefore returns the first whole millisecond that is no earlier.
func notBefore(t time.Time) time.Time { return millisecond(t.Add(time.Millisecond - 1)) }

// silent reports whether the host gave no answer that is HTTP, and might later.
func (a answer) silent() bool {
	return a.status == 0 && a.err != nil && judge(a.err).state == book.Retry
}

// retryAfter returns how long a host asks to be left alone (RFC 9110, 10.2.3),
// at most maxRest; 0 if it does not, or not in a way that can be read.
func retryAfter(a answer) time.Duration {
	value := strings.TrimSpace(a.header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(maxRest/time.Second))) * time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(0, date.Sub(a.ended)), maxRest)
}
