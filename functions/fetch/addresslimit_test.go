package fetch

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

func TestAddressLimits(t *testing.T) {
	var c addressLimits
	here, there := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	enter := func(ctx context.Context, a netip.Addr) func() {
		t.Helper()
		leave, err := c.enter(ctx, a, 1)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	var leave []func()
	for range maxPerAddress {
		leave = append(leave, enter(t.Context(), here))
	}
	if _, err := c.enter(impatient, here, 1); err == nil {
		t.Error("one too many was let in")
	}
	enter(t.Context(), there)()
	enter(impatient, netip.Addr{})()
	leave[0]()
	leave[0] = enter(t.Context(), here)
	for _, l := range leave {
		l()
	}
	if len(c.at) != 0 {
		t.Errorf("%d addresses are remembered where nobody is", len(c.at))
	}
}

// TestAddressIsShared checks how many requests to one address a process may send at the same time, if it
// shares the address with others.
func TestAddressIsShared(t *testing.T) {
	here := netip.MustParseAddr("192.0.2.1")
	for processes, want := range map[int]int{1: 8, 2: 4, 3: 2, 4: 2, 5: 1, 8: 1, 9: 1} {
		var c addressLimits
		full, cancel := context.WithCancel(t.Context())
		got := 0
		for ; got < 10; got++ {
			if got == want {
				cancel() // another request would wait
			}
			if _, err := c.enter(full, here, processes); err != nil {
				break
			}
		}
		if got != want {
			t.Errorf("%d processes: %d requests at the same time, want %d", processes, got, want)
		}
		cancel()
	}
}

// TestAddressIsNotCrowded requests pages of many hosts that share one IP address. Exactly
// maxPerAddress requests may run at the same time, from the second request to each host on. The server
// answers these only when all others have come, or wait to be sent.
func TestAddressIsNotCrowded(t *testing.T) {
	for name, batches := range map[string][][]string{"in one batch": {{"/1", "/2"}}, "in a later batch": {{"/1"}, {"/2"}}} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex // protects the counts
			present, most, full := 0, 0, make(chan struct{})
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/2" {
					return
				}
				mu.Lock()
				present++
				most = max(most, present)
				mu.Unlock()
				<-full
				mu.Lock()
				present--
				mu.Unlock()
			})
			var hosts []*world
			for range maxPerAddress + 4 {
				hosts = append(hosts, newWorld(t, handler))
			}
			limits := &hosts[0].limits
			users := func() (all int) {
				limits.mu.Lock()
				defer limits.mu.Unlock()
				for _, here := range limits.at {
					all += here.users
				}
				return all
			}
			go func() {
				for ; t.Context().Err() == nil; time.Sleep(time.Millisecond) {
					mu.Lock()
					come := present
					mu.Unlock()
					if come == len(hosts) || come == maxPerAddress && users() == len(hosts) {
						close(full)
						return
					}
				}
			}()
			token := uint64(0)
			for _, paths := range batches {
				var event events.SQSEvent
				for _, host := range hosts {
					b := host.batch(paths...)
					token++
					b.Version.Token, b.Host = token, host.server.Listener.Addr().String()
					event.Records = append(event.Records, record(t, b.Targets[0].URL, b))
				}
				response, err := hosts[0].Handle(t.Context(), event)
				if err != nil || len(response.BatchItemFailures) > 0 {
					t.Errorf("failed: %v, %v", response.BatchItemFailures, err)
				}
			}
			if most != maxPerAddress {
				t.Errorf("%d requests at once, want %d", most, maxPerAddress)
			}
			for range batches {
				for range hosts {
					key := layout.SpoolKey(3, layout.Version{Epoch: 1, Token: token})
					if _, err := hosts[0].bucket.Head(t.Context(), key); err != nil {
						t.Errorf("%s: %v", key, err)
					}
					token--
				}
			}
		})
	}
}

// TestLeaseEndsBeforeAddressIsFree lets the lease of a batch end while the batch waits for requests of others
// to its IP address. Then its request is not sent.
func TestLeaseEndsBeforeAddressIsFree(t *testing.T) {
	requests := 0
	w := newWorld(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	b := w.batch("/1")
	here := netip.MustParseAddr("127.0.0.1")
	w.limits.answered(b.Host, here)
	leave, err := w.limits.enter(t.Context(), here, maxPerAddress) // takes all places
	if err != nil {
		t.Fatal(err)
	}
	users := func() int {
		w.limits.mu.Lock()
		defer w.limits.mu.Unlock()
		return w.limits.at[here].users
	}
	var ended atomic.Bool
	w.Lease = func(context.Context, batch.Batch) time.Time {
		if ended.Load() {
			return time.Time{}
		}
		return b.Deadline
	}
	go func() {
		for users() < 2 && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		ended.Store(true)
		leave()
	}()
	if got := ends(w.run(t, b)); got[0].State != book.NotAsked || requests != 0 {
		t.Errorf("%d requests were sent after the end of the lease: %v", requests, got)
	}
}
