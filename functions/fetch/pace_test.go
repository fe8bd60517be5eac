package fetch

import (
	"context"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"":                                  0,
		"0":                                 0,
		" 120 ":                             2 * time.Minute,
		"86401":                             24 * time.Hour,
		"18446744073709551615":              24 * time.Hour,
		"18446744073709551616":              0,
		"-1":                                0,
		"1.5":                               0,
		"soon":                              0,
		"Fri, 02 Jan 2026 03:05:05 GMT":     time.Minute,
		"Friday, 02-Jan-26 03:05:05 GMT":    time.Minute,
		"Fri Jan  2 03:05:05 2026":          time.Minute,
		"Fri, 02 Jan 2026 03:03:05 GMT":     0,
		"Fri, 31 Dec 9999 23:59:59 GMT":     24 * time.Hour,
		"Fri, 02 Jan 2026 03:05:05 +0000":   0,
		strings.Repeat("9", maxHeader):      0,
		"Fri, 02 Jan 2026 03:05:05 GMT, 10": 0,
	} {
		a := answer{header: http.Header{"Retry-After": {value}}, ended: start}
		if got := retryAfter(a); got != want {
			t.Errorf("Retry-After %.40q: %s, want %s", value, got, want)
		}
	}
}

// busy returns a handler that answers with a status and the header Retry-After.
func busy(status int, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", after)
		w.WriteHeader(status)
	}
}

// TestRest requests pages of a host that says in different ways that it is overloaded: for a while
// it must not be requested again.
func TestRest(t *testing.T) {
	second := time.Second
	retry := func(reason string) end { return end{book.Retry, reason} }
	notAsked, failed := end{book.NotAsked, ""}, end{book.Failed, "http 404"}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		slept   []time.Duration
		ends    []end
	}{
		"too many requests":  {respond(429, "", ""), []time.Duration{second, 2 * second}, []end{retry("http 429"), retry("http 429"), retry("http 429")}},
		"unavailable":        {respond(503, "", ""), []time.Duration{second, 2 * second}, []end{retry("http 503"), retry("http 503"), retry("http 503")}},
		"no answer":          {raw(""), []time.Duration{second, 2 * second}, []end{retry("connection"), retry("connection"), retry("connection")}},
		"for as long as":     {busy(429, "20"), []time.Duration{20 * second, 20 * second}, []end{retry("http 429"), retry("http 429"), retry("http 429")}},
		"for longer than us": {busy(503, "3600"), nil, []end{retry("http 503"), notAsked, notAsked}},
		"of a page":          {busy(404, "20"), nil, []end{failed, failed, failed}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.handler)
			if diff := cmp.Diff(c.ends, ends(w.run(t, w.batch("/1", "/2", "/3")))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.slept, w.clock.slept); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPaceIsCarried checks that the ledger (the results of a batch) passes on the pace of the host
// to the host's next batches: the time until which the host must not be requested, and the number
// of its failures in a row.
func TestPaceIsCarried(t *testing.T) {
	type carried struct {
		Rest     time.Time
		Failures uint16
	}
	after := func(d time.Duration) time.Time { return start.Add(d) }
	for name, c := range map[string]struct {
		handler  http.HandlerFunc
		failures uint16
		paths    []string
		want     carried
	}{
		"the first failure":    {busy(503, "120"), 0, []string{"/1"}, carried{after(2 * time.Minute), 1}},
		"one more":             {busy(429, ""), 6, []string{"/1"}, carried{after(64 * time.Second), 7}},
		"no answer":            {raw(""), 2, []string{"/1"}, carried{after(4 * time.Second), 3}},
		"the budget is used":   {busy(503, "120"), 12, []string{"/1"}, carried{after(time.Hour), 13}},
		"as many as there are": {busy(503, ""), math.MaxUint16, []string{"/1"}, carried{after(time.Hour), math.MaxUint16}},
		"one good answer":      {busy(404, ""), 9, []string{"/1"}, carried{time.Time{}, 0}},
		"nothing was asked":    {busy(200, ""), 9, nil, carried{time.Time{}, 9}},
	} {
		w := newWorld(t, c.handler)
		b := w.batch(c.paths...)
		b.Failures = c.failures
		l := w.run(t, b).Ledger
		if diff := cmp.Diff(c.want, carried{l.Rest, l.Failures}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, o := range l.Outcomes {
			want := book.Pace{Rest: l.Rest, Failures: l.Failures}
			if c.failures > 0 && l.Failures == 0 { // the host has answered again
				want.Rest = l.Ended
			}
			if diff := cmp.Diff(want, o.Pace); diff != "" {
				t.Errorf("%s: on record is (-want +got):\n%s", name, diff)
			}
		}
	}
}

// TestCrawlDelayIsOnRecord checks that outcomes have the Crawl-delay of robots.txt if it is longer
// than the collection's own delay.
func TestCrawlDelayIsOnRecord(t *testing.T) {
	for robots, want := range map[string]time.Duration{"User-agent: *\nCrawl-delay: 7\n": 7 * time.Second, "User-agent: *\nCrawl-delay: 1\n": 0, "": 0} {
		w := newWorld(t, site(respond(200, "text/plain", robots)))
		w.publish(t, collection.Collection{Name: "c", Delay: collection.Duration(time.Second)})
		b := w.batch("/1", "/2")
		b.Robots, b.DelayMillis = []string{w.server.URL}, 1000
		for _, o := range w.run(t, b).Ledger.Outcomes {
			if o.Pace != (book.Pace{Delay: want}) {
				t.Errorf("%q: %+v, want a delay of %v", robots, o.Pace, want)
			}
		}
	}
}

// TestSlowIsCarried checks that the ledger (the results of a batch) passes on how long the host
// takes to answer. The time from which the host may be requested must be rounded up to a
// millisecond, never down.
func TestSlowIsCarried(t *testing.T) {
	p := pace{slow: 3 * time.Second, failures: 1, rest: start.Add(time.Nanosecond)}
	var got spool.Ledger
	p.note(&got)
	want := spool.Ledger{Slow: 3 * time.Second, Failures: 1, Rest: start.Add(time.Millisecond)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPace(t *testing.T) {
	const second = time.Second
	at := func(s int) time.Time { return start.Add(time.Duration(s) * second) }
	var p pace
	if !p.next(second).IsZero() {
		t.Errorf("the first request waits until %s", p.next(second))
	}
	for i, step := range []struct {
		answer answer
		delay  time.Duration
		want   time.Time
	}{
		// pause as long as the answer took
		{answer{status: 200, began: at(0), ended: at(8)}, 2 * second, at(16)},
		// the average of the last answers is six seconds
		{answer{status: 200, began: at(10), ended: at(14)}, 2 * second, at(20)},
		{answer{status: 404, began: at(20), ended: at(20)}, 10 * second, at(30)}, // the delay is longer
		// without a delay there is no pause
		{answer{status: 200, began: at(30), ended: at(37)}, 0, at(37)},
		// first failure
		{answer{err: http.ErrSchemeMismatch, began: at(40), ended: at(40)}, 0, at(41)},
		// second failure
		{answer{status: 429, began: at(50), ended: at(50)}, 0, at(52)},
		{answer{status: 200, began: at(60), ended: at(60)}, 0, at(60)}, // no failure
		// not a failure of the host: it was not requested
		{answer{err: errPort, began: at(70), ended: at(70)}, 0, at(70)},
		{answer{err: http.ErrSchemeMismatch, began: at(80), ended: at(80)}, 5 * second, at(85)}, // the delay is longer
	} {
		p.observe(step.answer)
		if got := p.next(step.delay); !got.Equal(step.want) {
			t.Errorf("answer %d: asked next after %s, want %s", i, got.Sub(start), step.want.Sub(start))
		}
	}
	for range 100 {
		p.observe(answer{status: 503, began: start, ended: start})
	}
	if rest := p.next(0).Sub(start); rest != maxBackoff {
		t.Errorf("the host rests for %s, want %s", rest, maxBackoff)
	}
}

// TestLeaseEnds checks that a batch whose lease ends while it is fetched is not requested further, and
// that its pages are stored. A lease that is renewed meanwhile does not end.
func TestLeaseEnds(t *testing.T) {
	for name, test := range map[string]struct {
		renewed int // number of calls of Lease that find the lease renewed
		want    []end
	}{
		"never renewed": {0, []end{{book.NotAsked, ""}, {book.NotAsked, ""}, {book.NotAsked, ""}}},
		"renewed once":  {1, []end{{book.Stored, ""}, {book.NotAsked, ""}, {book.NotAsked, ""}}},
		"renewed":       {3, []end{{book.Stored, ""}, {book.Stored, ""}, {book.Stored, ""}}},
	} {
		w := newWorld(t, respond(http.StatusOK, "text/html", "<title>Page</title>"))
		b := w.batch("/1", "/2", "/3")
		b.DelayMillis = 2000
		calls, until := 0, start
		w.Lease = func(_ context.Context, got batch.Batch) time.Time {
			if calls++; calls <= test.renewed {
				until = w.clock.Now().Add(time.Second)
			}
			if got.Version != b.Version {
				t.Errorf("%s: asked for the lease of %s, want %s", name, got.Version, b.Version)
			}
			return until
		}
		if diff := cmp.Diff(test.want, ends(w.run(t, b))); diff != "" {
			t.Errorf("%s: ends (-want +got):\n%s", name, diff)
		}
	}
}
