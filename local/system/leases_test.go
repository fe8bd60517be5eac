package system

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/local/queue"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// leaseWorld is a frontier with leases, and a process that fetches the leased batches.
type leaseWorld struct {
	*leases
	t      *testing.T
	front  *frontier.Frontier
	system *System // a system with these leases, and without a store
}

func newLeaseWorld(t *testing.T) leaseWorld {
	rdb, queues, log := redistest.Embedded(t), newQueues(nil, nil), slog.New(slog.DiscardHandler)
	front := frontier.New(rdb, 0)
	if err := front.Open(t.Context(), 1, "settings", nil); err != nil {
		t.Fatal(err)
	}
	l := newLeases(rdb, "test", queues[task.Fetch], log)
	return leaseWorld{l, t, front, &System{Redis: rdb, Log: log, queues: queues, worker: "test", leases: l}}
}

// lease leases a batch of a new host for a second, and sends it to the queue of fetch.
func (w leaseWorld) lease(host string, deadline time.Duration) batch.Batch {
	w.t.Helper()
	now := time.Now()
	url := "http://" + host + "/"
	_, err := w.front.Admit(w.t.Context(), now, []frontier.Entry{{URL: url, ID: layout.IdentityOf(url), Host: host, Collection: "c"}})
	if err != nil {
		w.t.Fatal(err)
	}
	leased, found, err := w.front.Lease(w.t.Context(), frontier.Request{Now: now, Deadline: now.Add(time.Second), Max: 1, MaxBytes: 1000, Connections: 1})
	if err != nil || !found || leased.Host != host {
		w.t.Fatalf("leased %v of %q, %v", found, leased.Host, err)
	}
	b := batch.Batch{Version: leased.Version, Host: host, Deadline: now.Add(deadline)}
	body, err := json.Marshal(b)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.queue.Send(string(body), 0); err != nil {
		w.t.Fatal(err)
	}
	return b
}

func (w leaseWorld) mustRenew() {
	w.t.Helper()
	if err := w.renew(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// left returns for how long the lease of a batch lasts, as the frontier says; 0 if it has ended.
func (w leaseWorld) left(b batch.Batch) time.Duration {
	w.t.Helper()
	all, err := w.front.Held(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, h := range all {
		if h.Version == b.Version {
			return time.Until(h.Deadline)
		}
	}
	return 0
}

func (w leaseWorld) settle(b batch.Batch) {
	w.t.Helper()
	id := layout.IdentityOf("http://" + b.Host + "/")
	outcome := frontier.Result{ID: id, Place: layout.PlaceOf(b.Host, id), State: book.Stored}
	_, err := w.front.Settle(w.t.Context(), frontier.Settlement{Version: b.Version, Host: b.Host, Ended: time.Now(), Outcomes: []frontier.Result{outcome}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestLeasesAreRenewed renews the leases of batches in each state in which a process has batches.
func TestLeasesAreRenewed(t *testing.T) {
	w := newLeaseWorld(t)
	short := w.lease("short.example", 10*time.Second)
	waits := w.lease("waits.example", time.Minute)
	w.mustRenew()
	if left := w.left(waits); left < leaseTime-5*time.Second || left > leaseTime {
		t.Errorf("the lease of a batch that waits lasts %v, want %v", left, leaseTime)
	}
	if left := w.left(short); left > 10*time.Second {
		t.Errorf("a lease lasts %v, beyond the deadline of its batch", left)
	}
	for range 2 {
		w.queue.Delete(w.queue.Receive(1)[0].ReceiptHandle) // both are fetched
	}
	for _, b := range []batch.Batch{short, waits} {
		if _, err := w.front.Extend(t.Context(), b.Version, time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	w.settle(short)
	w.mustRenew()
	if left := w.left(waits); left < 5*time.Second {
		t.Errorf("the lease of a batch that is fetched and not settled lasts %v", left)
	}
	if len(w.held) != 1 {
		t.Errorf("%d leases are kept, want that of the batch that is not settled", len(w.held))
	}
}

// TestUntil asks for the ends of leases as fetch does.
func TestUntil(t *testing.T) {
	w := newLeaseWorld(t)
	b := w.lease("a.example", time.Minute)
	if left := time.Until(w.until(t.Context(), b)); left < leaseTime-5*time.Second || left > leaseTime {
		t.Errorf("at first the lease lasts %v, want %v", left, leaseTime)
	}
	w.settle(b)
	if until := w.until(t.Context(), b); until.IsZero() {
		t.Error("the end of the lease is noticed without a request to Redis")
	}
	w.mustRenew()
	if until := w.until(t.Context(), b); !until.IsZero() {
		t.Errorf("the lease has ended, and lasts until %v", until)
	}
	stopping, stop := context.WithCancel(t.Context())
	until := untilStop(stopping, w.leases.until)
	b = w.lease("b.example", time.Minute)
	if until(t.Context(), b).IsZero() {
		t.Error("the lease ends before the system stops")
	}
	stop()
	if !until(t.Context(), b).IsZero() {
		t.Error("requests are sent while the system stops")
	}
}

// TestUntilDuringRenewal asks for the end of a lease while its first renewal, by the clock, is under way.
func TestUntilDuringRenewal(t *testing.T) {
	w := newLeaseWorld(t)
	b := w.lease("a.example", time.Minute)
	asked := false
	w.leases.redis.(*redis.Client).AddHook(beforeCommand(func() {
		if !asked {
			asked = true
			if until := w.until(t.Context(), b); until.IsZero() {
				t.Error("the lease seems to have ended, so that nothing of the batch is requested")
			}
		}
	}))
	w.mustRenew()
	if !asked {
		t.Error("the lease was not renewed")
	}
}

// beforeCommand is a hook of a Redis client: it is called before each command.
type beforeCommand func()

func (beforeCommand) DialHook(next redis.DialHook) redis.DialHook { return next }

func (before beforeCommand) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		before()
		return next(ctx, c)
	}
}

func (beforeCommand) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestGiveBack gives back a batch that waits and one that failed, but not one whose outcomes may still come,
// also if pack does not end in time.
func TestGiveBack(t *testing.T) {
	w := newLeaseWorld(t)
	fetched, failed, waits := w.lease("fetched.example", time.Minute), w.lease("failed.example", time.Minute), w.lease("waits.example", time.Minute)
	w.mustRenew()
	w.queue.Delete(w.queue.Receive(1)[0].ReceiptHandle)
	w.queue.Fail(w.queue.Receive(1)[0].ReceiptHandle, "interrupted")
	if _, err := w.system.queues[task.Pack].Send("{}", 0); err != nil { // what pack has to do takes longer than grace
		t.Fatal(err)
	}
	limited, cancel := context.WithTimeout(t.Context(), time.Second) // less than grace
	defer cancel()
	w.system.giveBack(limited)
	for b, want := range map[*batch.Batch]bool{&fetched: true, &failed: false, &waits: false} {
		if got := w.left(*b) > 0; got != want {
			t.Errorf("the batch of %s is leased: %v, want %v", b.Host, got, want)
		}
	}
	if c, err := w.front.Counts(t.Context()); err != nil || c.Waiting != 2 {
		t.Errorf("%d URLs wait, %v, want the 2 that were given back", c.Waiting, err)
	}
	if n, err := w.member.Join(t.Context(), fetchers, time.Now(), time.Second); err != nil || n != 1 {
		t.Errorf("%d processes, %v, want 1", n, err)
	}
}

// TestFetchedBatchIsNoShare: a batch that is fetched does not count toward the share of its process while
// another, which came into the queue with it, is still being fetched.
func TestFetchedBatchIsNoShare(t *testing.T) {
	w := newLeaseWorld(t)
	w.lease("fast.example", time.Minute)
	w.lease("slow.example", time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	fetch := func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		for _, m := range event.Records {
			if strings.Contains(m.Body, "slow") {
				<-ctx.Done()
			}
		}
		return events.SQSEventResponse{}, nil
	}
	var delivering sync.WaitGroup
	delivering.Go(func() {
		_ = queue.Deliver(ctx, w.queue, queue.Mapping{
			Function: fetch, Concurrency: 2, BatchSize: w.system.together(task.Fetch), Timeout: time.Minute, Log: w.log,
		})
	})
	defer delivering.Wait()
	defer cancel()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if own, _ := w.share(); own == 1 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("a batch counts that is fetched")
		}
	}
}

// TestAtOnce: as many batches are fetched at the same time as may be leased.
func TestAtOnce(t *testing.T) {
	for _, test := range []struct{ partitions, connections, want int }{{1, 0, 256}, {7, 0, 896}, {7, 300, 300}, {9, 0, maxFetches}} {
		inForce := new(settings.Settings)
		inForce.Crawl = rules.Even(rules.Crawl, test.partitions, time.Now())
		inForce.Collections = []collection.Collection{{Name: "c", Connections: test.connections}}
		if got := new(System).atOnce(task.Fetch, inForce); got != test.want {
			t.Errorf("%d partitions, connections %d: %d fetches, want %d", test.partitions, test.connections, got, test.want)
		}
	}
}

// TestClockTicksOnce lets two processes send the messages of a clock: each sends one at first, and then one
// of them in each period.
func TestClockTicksOnce(t *testing.T) {
	w := newLeaseWorld(t)
	other := &System{Redis: w.system.Redis, worker: "other"}
	sent := 0
	send := func(context.Context) error {
		sent++
		return nil
	}
	a, b := w.system.once("sweep", time.Hour, send), other.once("sweep", time.Hour, send)
	for i, step := range []struct {
		tick func(context.Context) error
		want int
	}{{a, 1}, {b, 2}, {b, 2}, {a, 2}} {
		if err := step.tick(t.Context()); err != nil || sent != step.want {
			t.Errorf("step %d: %d messages, %v, want %d", i, sent, err, step.want)
		}
	}
}

// TestSweepsDoNotPileUp lets the clock of sweep tick while its messages are not received, and then while one is in
// flight.
func TestSweepsDoNotPileUp(t *testing.T) {
	w := newLeaseWorld(t)
	queue := w.system.queues[task.Sweep]
	ticks := func(want int) {
		t.Helper()
		for range 2 {
			if err := w.system.sweepNext(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(queue.Bodies()); got != want {
			t.Errorf("%d messages, want %d", got, want)
		}
	}
	ticks(1)
	queue.Receive(1)
	ticks(2)
}
