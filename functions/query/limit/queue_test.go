package limit

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bench is a queue whose requests take as long as the test says. Its clock is that of synctest.
type bench struct {
	*testing.T
	*queue
	order []string // the requests in the order in which they were begun, if one is worked on at a time
}

func newBench(t *testing.T, atOnce int) *bench {
	return &bench{T: t, queue: newQueue(Options{Now: time.Now, After: time.After, Rate: 2}, atOnce, MaxWaiting)}
}

// ask sends a request of the client with the address from. The work on it takes the given time, and its effort is
// one unit for each microsecond of it. The parameter name names the request in the record of the test. ask returns
// as soon as the request waits, is worked on or is refused. The error of the request, or nil, is sent to the
// channel.
func (b *bench) ask(ctx context.Context, from, name string, took time.Duration) <-chan error {
	outcome := make(chan error, 1)
	go func() {
		admitted, err := b.enter(ctx, netip.MustParseAddr(from))
		if err == nil {
			if b.atOnce == 1 {
				b.order = append(b.order, name)
			}
			time.Sleep(took)
			admitted.leave(int(took.Microseconds()))
		}
		outcome <- err
	}()
	synctest.Wait()
	return outcome
}

// refusedFor returns the time after which a refused client may ask again.
func (b *bench) refusedFor(err error) time.Duration {
	b.Helper()
	refused, is := errors.AsType[*busy](err)
	if !is {
		b.Fatalf("the request was not refused: %v", err)
	}
	return refused.wait
}

// rest waits until all requests are answered.
func rest() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

const (
	flood  = "192.0.2.1"
	honest = "192.0.2.2"
)

func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1)
		for i := range 9 {
			b.ask(t.Context(), flood, fmt.Sprint("flood ", i), 20*time.Millisecond)
		}
		for i := range 2 {
			b.ask(t.Context(), honest, fmt.Sprint("honest ", i), 20*time.Millisecond)
		}
		rest()
		want := []string{"flood 0", "honest 0", "flood 1", "honest 1", "flood 2"}
		if diff := cmp.Diff(want, b.order[:5]); diff != "" {
			t.Errorf("order in which requests were begun (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(Counts{Admitted: 11, Waited: (1 + 10) * 5 * 20 * time.Millisecond}, b.counts()); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	})
}

func TestCostlyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1)
		for i := range 3 {
			b.ask(t.Context(), flood, fmt.Sprint("costly ", i), 100*time.Millisecond)
		}
		for i := range 4 {
			b.ask(t.Context(), honest, fmt.Sprint("cheap ", i), 10*time.Millisecond)
		}
		rest()
		want := []string{"costly 0", "cheap 0", "cheap 1", "cheap 2", "cheap 3", "costly 1", "costly 2"}
		if diff := cmp.Diff(want, b.order); diff != "" {
			t.Errorf("order in which requests were begun (-want +got):\n%s", diff)
		}
	})
}

func TestPlaceForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 3)
		for range 4 {
			b.ask(t.Context(), flood, "", time.Second)
		}
		if diff := cmp.Diff(Counts{Admitted: 2, Working: 2, Waiting: 2}, b.counts()); diff != "" {
			t.Errorf("with one client (-want +got):\n%s", diff)
		}
		b.ask(t.Context(), honest, "", time.Second)
		if diff := cmp.Diff(Counts{Admitted: 3, Working: 3, Waiting: 2}, b.counts()); diff != "" {
			t.Errorf("with another client (-want +got):\n%s", diff)
		}
		rest()
	})
}

func TestRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1)
		b.mean = 300 * time.Millisecond
		for range 4 {
			b.ask(t.Context(), flood, "", 300*time.Millisecond)
		}
		if wait := b.refusedFor(<-b.ask(t.Context(), flood, "", 0)); wait != 1200*time.Millisecond {
			t.Errorf("the client may ask again after %v, want the time until its turn, 1.2s", wait)
		}
		if err := <-b.ask(t.Context(), honest, "", 0); err != nil {
			t.Errorf("a client that has not asked before: %v", err)
		}
		rest()
	})
}

func TestRefusedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1)
		b.ask(t.Context(), flood, "", 5*time.Second)
		began := time.Now()
		b.refusedFor(<-b.ask(t.Context(), honest, "", 0))
		if waited := time.Since(began); waited != MaxWait {
			t.Errorf("the request waited %v, want %v", waited, MaxWait)
		}
		if diff := cmp.Diff(Counts{Admitted: 1, Refused: 1, Working: 1, Waited: MaxWait}, b.counts()); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
		rest()
	})
}

func TestHungUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1)
		b.ask(t.Context(), flood, "first", 100*time.Millisecond)
		ctx, hangUp := context.WithCancel(t.Context())
		gone := b.ask(ctx, honest, "gone", 0)
		hangUp()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("the request that hung up ended with %v", err)
		}
		if diff := cmp.Diff(Counts{Admitted: 1, Working: 1}, b.counts()); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
		rest()
		if slices.Contains(b.order, "gone") {
			t.Error("the request that hung up was worked on")
		}
		if len(b.queued) > 0 {
			t.Errorf("%d clients wait", len(b.queued))
		}
	})
}

func TestFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1)
		b.mean = time.Millisecond
		b.ask(t.Context(), flood, "", 500*time.Millisecond)
		var floods []<-chan error
		for range MaxWaiting {
			floods = append(floods, b.ask(t.Context(), flood, "", 0))
		}
		b.refusedFor(<-b.ask(t.Context(), flood, "", 0))
		other := b.ask(t.Context(), honest, "", 0)
		b.refusedFor(<-floods[MaxWaiting-1]) // has made room for the other client
		if n := b.counts().Waiting; n != MaxWaiting {
			t.Errorf("%d requests wait, want %d", n, MaxWaiting)
		}
		if err := <-other; err != nil {
			t.Errorf("the other client: %v", err)
		}
		for _, outcome := range floods[:MaxWaiting-1] {
			if err := <-outcome; err != nil {
				t.Fatalf("a request that waited: %v", err)
			}
		}
	})
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1)
		from := netip.MustParseAddr(honest)
		for i := range 6 {
			if wait := b.spend(from); wait != 0 {
				t.Fatalf("request %d of a burst has to wait %v", i, wait)
			}
		}
		if wait := b.spend(from); wait != 500*time.Millisecond {
			t.Errorf("the request after the burst has to wait %v, want 500ms", wait)
		}
		time.Sleep(500 * time.Millisecond)
		if wait := b.spend(from); wait != 0 {
			t.Errorf("the request after the wait has to wait %v", wait)
		}
		for range 100 {
			if wait := b.spend(netip.MustParseAddr("::1")); wait != 0 {
				t.Fatalf("a client of the same machine has to wait %v", wait)
			}
		}
	})
}

func TestTableIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1)
		b.ask(t.Context(), honest, "", time.Hour)
		slow := netip.MustParseAddr(honest)
		for range 5 {
			b.spend(slow)
		}
		from := netip.MustParseAddr("2001:db8::")
		for range 3 * maxClients {
			b.spend(from)
			from = from.Next()
			if len(b.clients) > maxClients {
				t.Fatalf("%d clients are remembered, want at most %d", len(b.clients), maxClients)
			}
		}
		if b.spend(slow); b.spend(slow) == 0 {
			t.Error("a client with a request in work was forgotten")
		}
		time.Sleep(time.Hour)
	})
}
