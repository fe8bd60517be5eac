package schedule

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func TestBatch(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb, func(c *collection.Collection) { c.Delay = collection.Duration(250 * time.Millisecond) })
		w.admit(1, "?q=<&>")
		want := []batch.Batch{{
			Version: layout.Version{Epoch: 1, Token: 1}, Host: "a.example",
			NotBefore: functionstest.Start, Deadline: functionstest.Start.Add(w.Limits.Time), DelayMillis: 250,
			Robots: []string{"http://a.example"},
			Targets: []batch.Target{{
				URL: "http://a.example/0?q=%3C&%3E", Depth: 1, Collections: []string{functionstest.Collection},
			}},
		}}
		if diff := cmp.Diff(want, w.run()); diff != "" {
			t.Errorf("batch (-want +got):\n%s", diff)
		}
		if again := w.run(); again != nil {
			t.Errorf("the same URL is leased again: %+v", again)
		}
	})
}

func TestBatchesAreBounded(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*collection.Collection)
		urls   int
		query  string
		want   []int // number of targets in each batch, each leased when the one before is settled
	}{
		{"by number", nil, 230, "", []int{100, 100, 30}},
		{"by bytes", nil, 40, "?" + strings.Repeat(`&\`, 1000), []int{32, 8}},
		{"by time", func(c *collection.Collection) { c.Delay = collection.Duration(time.Second) }, 60, "", []int{40, 20}},
		{"by a long delay", func(c *collection.Collection) { c.Delay = collection.Duration(5 * time.Minute) }, 1, "", []int{1}},
		{"by the pages at which to stop", func(c *collection.Collection) { c.Pages = 130 }, 230, "", []int{100, 30}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, redistest.Server(t), test.change)
			w.admit(test.urls, test.query)
			var got []int
			for batches := w.run(); len(batches) > 0; batches = w.run() {
				got = append(got, sizes(batches)...)
				for _, b := range batches {
					w.settle(b)
				}
				w.clock.Advance(time.Second)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFirstBatches checks the sizes of the first batches of a new crawl. A batch has as many URLs as can
// be requested within five seconds, or as many as were decided before, if these are more, but never more
// than a full batch.
func TestFirstBatches(t *testing.T) {
	for _, test := range []struct {
		delay time.Duration
		want  []int // number of targets in each batch of the only host, each leased when the one before is settled
	}{
		{0, []int{10, 10, 20, 40, 80, 100, 40}},
		{time.Second, []int{3, 3, 6, 12, 24, 40, 40, 40, 40, 40, 40, 12}},
		{20 * time.Second, []int{1, 1, 2, 2, 2, 2, 2, 2}},
	} {
		w := newCrawl(t, redistest.Server(t), func(c *collection.Collection) { c.Delay = collection.Duration(test.delay) })
		urls, got := 0, []int(nil)
		for _, n := range test.want {
			urls += n
		}
		w.admit(urls, "")
		for batches := w.run(); len(batches) > 0; batches = w.run() {
			got = append(got, sizes(batches)...)
			for _, b := range batches {
				w.settle(b)
			}
			w.clock.Advance(test.delay)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("delay %v: targets (-want +got):\n%s", test.delay, diff)
		}
	}
}

func TestConnections(t *testing.T) {
	for connections, want := range map[int][]int{1: {100}, 2: {100, 100}, 9: {100, 100, 50}} {
		w := newWorld(t, redistest.Server(t), func(c *collection.Collection) { c.HostConnections = connections })
		w.admit(250, "")
		if diff := cmp.Diff(want, sizes(w.run())); diff != "" {
			t.Errorf("%d connections (-want +got):\n%s", connections, diff)
		}
	}
}

// TestFetches checks that a collection's connections limit how many batches are leased at a time,
// over all hosts.
func TestFetches(t *testing.T) {
	w := newWorld(t, redistest.Server(t), func(c *collection.Collection) { c.Connections, c.HostConnections = 2, 9 })
	w.admit(350, "")
	first := w.run()
	if diff := cmp.Diff([]int{100, 100}, sizes(first)); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	w.settle(first[0])
	if diff := cmp.Diff([]int{100}, sizes(w.run())); diff != "" {
		t.Errorf("after one has ended (-want +got):\n%s", diff)
	}
}

// TestManyFetches checks that the collection's connections, and not Limits.Batches, limit how many
// batches are leased at a time, even if Limits.Batches is lower.
func TestManyFetches(t *testing.T) {
	w := newWorld(t, redistest.Server(t), func(c *collection.Collection) { c.Connections = 7 })
	w.Limits.Batches = 3
	for i := range 9 {
		functionstest.Admit(t, w.Redis, w.inForce, fmt.Sprintf("http://%d.a.example/", i))
	}
	if batches := w.run(); len(batches) != 7 {
		t.Errorf("%d batches are out, want 7", len(batches))
	}
}

// TestRest has a host that answers 503 and must then be left alone for two minutes. No batch of the
// host may be leased until shortly before these minutes end. The next batch must say how many
// requests to the host have failed in a row. A good answer sets this number to 0.
func TestRest(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb, nil)
		w.admit(1, "")
		failures := uint16(0)
		for round, answer := range []string{"503", "503", "200", "503"} {
			batches := w.run()
			if len(batches) != 1 || batches[0].Failures != failures || batches[0].NotBefore.After(w.clock.Now()) {
				t.Fatalf("round %d at %s: %+v, want one batch with %d failures", round, w.clock.Now(), batches, failures)
			}
			b := batches[0]
			s := frontier.Settlement{Version: b.Version, Host: b.Host, Ended: w.clock.Now()}
			if answer == "503" {
				failures++
				s.Rest = w.clock.Now().Add(2 * time.Minute)
			} else {
				failures = 0
			}
			s.Failures = failures
			for _, target := range b.Targets {
				at := w.parse(target.URL)
				s.Outcomes = append(s.Outcomes, frontier.Result{ID: at.ID, Place: at.Place, State: book.Retry})
			}
			if _, err := frontier.New(w.Redis, 0).Settle(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if answer == "200" {
				continue
			}
			w.clock.Advance(2*time.Minute - horizon - time.Millisecond)
			if batches := w.run(); batches != nil {
				t.Fatalf("round %d: asked while it rests: %+v", round, batches)
			}
			w.clock.Advance(horizon + time.Millisecond)
		}
	})
}

func TestBatchesInFlight(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	w.Limits.Batches = 3
	for i := range 5 {
		functionstest.Admit(t, w.Redis, w.inForce, fmt.Sprintf("http://%d.a.example/", i))
	}
	first := w.run()
	if len(first) != 3 {
		t.Fatalf("%d batches are out, want 3", len(first))
	}
	w.settle(first[0])
	if next := w.run(); len(next) != 1 {
		t.Errorf("%d batches after one was settled, want 1", len(next))
	}
}

// TestBatchThatIsNotSent makes the sending of a batch fail, and checks that its lease is short, so
// that its URLs are soon leased again.
func TestBatchThatIsNotSent(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	w.admit(2, "")
	refused := errors.New("refused")
	w.sender.Fail(refused)
	if err := w.Run(t.Context(), task.Lease{}); !errors.Is(err, refused) {
		t.Fatalf("Run: %v, want %v", err, refused)
	}
	w.sender.Fail(nil)
	w.clock.Advance(unsent)
	if batches := w.run(); batches != nil {
		t.Errorf("within the lease: %+v", batches)
	}
	w.clock.Advance(time.Millisecond)
	batches := w.run()
	if len(batches) != 1 || len(batches[0].Targets) != 2 || batches[0].Version.Token < 2 {
		t.Errorf("after the lease: %+v, want both URLs in a new batch", batches)
	}
}

// TestBatchThatIsSent checks when the lease of a batch that was sent ends: at the batch's deadline, or
// earlier if it is to be renewed.
func TestBatchThatIsSent(t *testing.T) {
	for _, until := range []time.Duration{batch.MaxTime, 5 * time.Second} {
		w := newWorld(t, redistest.Server(t), nil)
		w.Limits.Lease = until
		w.admit(2, "")
		batches := w.run()
		if len(batches) != 1 || !batches[0].Deadline.Equal(w.clock.Now().Add(w.Limits.Time)) {
			t.Fatalf("%+v, want one batch with the time of batches", batches)
		}
		w.clock.Advance(until)
		if batches := w.run(); batches != nil {
			t.Errorf("within the lease: %+v", batches)
		}
		w.clock.Advance(time.Millisecond)
		if batches := w.run(); len(batches) != 1 {
			t.Errorf("after the lease: %+v, want another batch", batches)
		}
	}
}

// TestShares checks the sizes of batches that share a number of leased URLs.
func TestShares(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	w.Limits.URLs = 200
	for host := range 8 {
		var urls []string
		for i := range 200 {
			urls = append(urls, fmt.Sprintf("http://h%d.a.example/%d", host, i))
		}
		functionstest.Admit(t, w.Redis, w.inForce, urls...)
	}
	batches := w.run()
	if diff := cmp.Diff([]int{100, 50, 25, 12, 6, 3, 3, 3}, sizes(batches)); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	w.settle(batches[0])
	if diff := cmp.Diff([]int{(200 - 102) / 2}, sizes(w.run())); diff != "" {
		t.Errorf("targets of the host whose batch has ended (-want +got):\n%s", diff)
	}
}

// TestFewestShares: no more batches are leased than reach the limit of URLs if each has the fewest URLs.
func TestFewestShares(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	w.Limits.URLs = 20
	for host := range 8 {
		functionstest.Admit(t, w.Redis, w.inForce, fmt.Sprintf("http://h%d.a.example/", host))
	}
	if got, want := len(w.run()), 20/fewest; got != want {
		t.Errorf("%d batches are leased, want %d", got, want)
	}
}

// TestBatchesOfShortLeases checks how many URLs a batch has when leases last 15 seconds and are renewed.
func TestBatchesOfShortLeases(t *testing.T) {
	for delay, want := range map[time.Duration]int{0: 100, 100 * time.Millisecond: 100, time.Second: 15, 10 * time.Second: 1, time.Minute: 1} {
		w := newWorld(t, redistest.Server(t), func(c *collection.Collection) { c.Delay = collection.Duration(delay) })
		w.Limits.Lease = 15 * time.Second
		w.admit(120, "")
		if diff := cmp.Diff([]int{want}, sizes(w.run())); diff != "" {
			t.Errorf("delay of %v: targets (-want +got):\n%s", delay, diff)
		}
	}
}

func TestHandle(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	w.admit(1, "")
	response, err := w.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "bad", Body: "?"}, {MessageId: "good", Body: `{"crawl":0}`},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []events.SQSBatchItemFailure{{ItemIdentifier: "bad"}}
	if diff := cmp.Diff(want, response.BatchItemFailures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if batches := w.sent(); len(batches) != 1 {
		t.Errorf("%d batches, want 1", len(batches))
	}
}
