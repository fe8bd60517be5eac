package fetch

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

func TestTurns(t *testing.T) {
	var all turns
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	enter := func(host string, connections int) *pace {
		t.Helper()
		last, _, err := all.enter(t.Context(), host, connections)
		if err != nil {
			t.Fatal(err)
		}
		return last
	}
	first := enter("a", 2)
	if second := enter("a", 2); first != nil || second != nil {
		t.Errorf("paces %v, %v before a turn has ended", first, second)
	}
	if _, _, err := all.enter(impatient, "a", 2); err == nil {
		t.Error("a third batch has its turn beside two")
	}
	enter("b", 1)

	entered := make(chan *pace)
	go func() { entered <- enter("a", 1) }() // the collections allow fewer connections now
	pauseEnd := start.Add(time.Minute)
	all.leave("a", pace{failures: 1, rest: pauseEnd}, pauseEnd, start)
	all.leave("a", pace{failures: 2}, start, start)
	if last := <-entered; last == nil || last.failures != 2 || !last.rest.Equal(pauseEnd) {
		t.Errorf("the pace is %+v, want the failures of the batch before, and the pause that another one was asked for", last)
	}
	all.leave("b", pace{}, start, start)
	all.leave("a", pace{}, start, start)
	if all.at["a"] == nil || len(all.at) != 1 {
		t.Errorf("known hosts: %v, want only the one that must not be requested yet", all.at)
	}
	enter("b", 1)
	all.leave("b", pace{}, start, pauseEnd)
	if len(all.at) != 0 {
		t.Errorf("known hosts: %v, want none", all.at)
	}
}

// TestPaceOfTheBatchBefore fetches a batch that was leased before the host of another batch said that it is
// overloaded. Its request must wait as long as the host has asked for, and its failure counts as the next one.
func TestPaceOfTheBatchBefore(t *testing.T) {
	w := newWorld(t, busy(503, "20"))
	before, ahead := w.batch("/1"), w.batch("/2")
	ahead.Version.Token++
	w.run(t, before)
	l := w.run(t, ahead).Ledger
	if diff := cmp.Diff([]time.Duration{20 * time.Second}, w.clock.slept); diff != "" {
		t.Errorf("waited (-want +got):\n%s", diff)
	}
	if l.Failures != 2 || !l.Rest.Equal(start.Add(40*time.Second)) {
		t.Errorf("%d failures, no request before %v; want two, and one 40 s after the start", l.Failures, l.Rest)
	}
}

// TestPaceIsHandedOn fetches three batches of a host that were all leased before the first was settled. The host
// asks for a pause that is longer than all of them. The second batch requests nothing; the third must not either.
func TestPaceIsHandedOn(t *testing.T) {
	requests := 0
	w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		requests++
		busy(503, "3600")(rw, r)
	}))
	for i := range 3 {
		b := w.batch("/1")
		b.Version.Token += uint64(i)
		if l := w.run(t, b).Ledger; l.Failures != 1 || !l.Rest.Equal(start.Add(time.Hour)) {
			t.Errorf("batch %d: %d failures, no request before %v; want one, and an hour after the start", i, l.Failures, l.Rest)
		}
	}
	if requests != 1 {
		t.Errorf("%d requests, want 1", requests)
	}
}

// TestCrawlDelayOfTheBatchBefore fetches two batches that were leased before the robots.txt was known. The
// second must keep the Crawl-delay from its first request on.
func TestCrawlDelayOfTheBatchBefore(t *testing.T) {
	w := newWorld(t, site(respond(200, "", "User-agent: *\nCrawl-delay: 3\n")))
	for i := range 2 {
		b := w.batch("/1")
		b.Version.Token += uint64(i)
		b.Robots = []string{w.server.URL}
		w.run(t, b)
	}
	if diff := cmp.Diff([]time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second}, w.clock.slept); diff != "" {
		t.Errorf("waited (-want +got):\n%s", diff)
	}
}

// TestTurnDoesNotCome has a batch whose host is requested for another one until the time of the batch is over.
// Nothing may be requested for it, and its URLs must not count as requested.
func TestTurnDoesNotCome(t *testing.T) {
	w := newWorld(t, http.NotFoundHandler())
	b := w.batch("/1")
	if _, _, err := w.turns.enter(t.Context(), b.Host, 1); err != nil {
		t.Fatal(err)
	}
	b.Deadline = start.Add(w.Limits.Margin + time.Millisecond)
	if diff := cmp.Diff([]end{{book.NotAsked, ""}}, ends(w.run(t, b))); diff != "" {
		t.Error(diff)
	}
}
