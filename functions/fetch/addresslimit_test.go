package fetch

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/layout"
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
// maxPerAddress requests may run at the same time. The server answers only when that many run, so
// that a further one would be noticed.
func TestAddressIsNotCrowded(t *testing.T) {
	var mu sync.Mutex // protects the counts
	present, most, full := 0, 0, make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/2" {
			return
		}
		mu.Lock()
		if present++; present == maxPerAddress && most < maxPerAddress {
			close(full)
		}
		most = max(most, present)
		mu.Unlock()
		<-full
		mu.Lock()
		present--
		mu.Unlock()
	})
	first := newWorld(t, handler)
	var event events.SQSEvent
	for i := range maxPerAddress + 4 {
		b := newWorld(t, handler).batch("/1", "/2")
		b.Version.Token += uint64(i)
		event.Records = append(event.Records, record(t, b.Targets[0].URL, b))
	}
	response, err := first.Handle(t.Context(), event)
	if err != nil || len(response.BatchItemFailures) > 0 {
		t.Errorf("failed: %v, %v", response.BatchItemFailures, err)
	}
	if most != maxPerAddress {
		t.Errorf("%d requests at once, want %d", most, maxPerAddress)
	}
	for _, r := range event.Records {
		var b batch.Batch
		if err := json.Unmarshal([]byte(r.Body), &b); err != nil {
			t.Fatal(err)
		}
		if _, err := first.bucket.Head(t.Context(), layout.SpoolKey(b.Storage, b.Version)); err != nil {
			t.Errorf("batch %s: %v", b.Version, err)
		}
	}
}
