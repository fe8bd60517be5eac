package system

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/stream"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

// TestClocksTickOnce lets the clocks of two workers tick at the same time. The functions must get the
// messages of one tick. In the next period the clocks tick again, before these messages are received: only schedule
// must get more.
func TestClocksTickOnce(t *testing.T) {
	t.Parallel()
	s := open(t, options(t)) // has published one crawl partition
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for _, process := range []string{"one", "two", "next period"} {
			if process == "next period" {
				for _, function := range task.Queues {
					if err := rdb.Del(t.Context(), "lease:clock "+function).Err(); err != nil {
						t.Fatal(err)
					}
				}
			}
			w := &Worker{redis: rdb, sender: stream.NewSender(rdb), settings: s.Settings, process: process, log: slog.New(slog.DiscardHandler)}
			for _, c := range w.clocks() {
				if err := c.tick(t.Context()); err != nil {
					t.Errorf("clock of %s: %v", c.function, err)
				}
			}
		}
		for function, want := range map[string]int{task.Schedule: 2, task.Sweep: 1, task.Rank: 1, task.Watch: 1} {
			q := stream.New(rdb, stream.Options{Name: function, MaxReceives: 1, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
			if batch := q.Await(t.Context(), 10); len(batch) != want {
				t.Errorf("%s got %d messages, want %d", function, len(batch), want)
			}
		}
	})
}

// openWorker opens a worker on the bucket of a system and a Redis elsewhere.
func openWorker(t *testing.T, s *System, rdb *redis.Client, o WorkerOptions) *Worker {
	t.Helper()
	o.Options = Options{S3: s.store.url, Redis: "redis://" + rdb.Options().Addr, Getenv: s.store.getenv}
	o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	w, err := OpenWorker(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// TestWorkersShareAddresses runs two workers that fetch and one that does not. Those that fetch must count one
// another, so that they share the limit of requests to one IP address, until one of them has ended.
func TestWorkersShareAddresses(t *testing.T) {
	t.Parallel()
	s, rdb := open(t, options(t)), redistest.Embedded(t)
	first := openWorker(t, s, rdb, WorkerOptions{Run: []string{task.Fetch}})
	if w := openWorker(t, s, rdb, WorkerOptions{Run: []string{task.Pack}}); w.parts(t.Context()).processes != nil {
		t.Error("a worker that does not fetch counts those that do")
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	second := openWorker(t, s, rdb, WorkerOptions{Run: []string{task.Fetch}})
	go func() { ended <- second.Run(ctx) }()
	for members := 0; members == 0; {
		var err error
		if members, err = lease.Members(t.Context(), rdb, fetchers, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	processes := func() int {
		t.Helper()
		if err := first.fetcher.join(t.Context()); err != nil {
			t.Fatal(err)
		}
		return first.parts(t.Context()).processes()
	}
	if n := processes(); n != 2 {
		t.Errorf("%d processes fetch, want 2", n)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if n := processes(); n != 1 {
		t.Errorf("%d processes fetch after one has ended, want 1", n)
	}
}

// TestWorkerEndsAtOnce tells a worker to end before it has begun: that is no error.
func TestWorkerEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := openWorker(t, open(t, options(t)), redistest.Embedded(t), WorkerOptions{Run: []string{task.Pack}})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := w.Run(ctx); err != nil {
		t.Error(err)
	}
}

// TestWorkerStopsFetching asks for the end of a lease as fetch does: it must be in the past when the worker stops,
// so that fetch sends no more requests also to hosts for which it does not wait.
func TestWorkerStopsFetching(t *testing.T) {
	t.Parallel()
	w := openWorker(t, open(t, options(t)), redistest.Embedded(t), WorkerOptions{Run: []string{task.Fetch}})
	stopping, stop := context.WithCancel(t.Context())
	defer stop()
	until, b := w.parts(stopping).lease, batch.Batch{Deadline: time.Now().Add(time.Minute)}
	if got := until(t.Context(), b); !got.Equal(b.Deadline) {
		t.Errorf("the lease lasts until %v, want the deadline %v", got, b.Deadline)
	}
	stop()
	if got := until(t.Context(), b); !got.IsZero() {
		t.Errorf("while the worker stops, the lease lasts until %v", got)
	}
}

// TestWorkerTakesDeadLetters opens a worker with queues of SQS and one with queues in Redis. The sweep of the first
// one must take what SQS gave up, as it does in Lambda.
func TestWorkerTakesDeadLetters(t *testing.T) {
	t.Parallel()
	s, rdb := open(t, options(t)), redistest.Embedded(t)
	const prefix = "https://sqs.eu-central-1.amazonaws.com/1/prod-"
	w := openWorker(t, s, rdb, WorkerOptions{Run: []string{task.Sweep}, Queues: prefix})
	if q, is := w.parts(t.Context()).dead.(*message.DeadLetterQueue); !is || q.URL != prefix+"dead" || q.Prefix != "prod-" || q.Store.Bucket == nil {
		t.Errorf("dead letters are taken from %+v", w.parts(t.Context()).dead)
	}
	if w := openWorker(t, s, rdb, WorkerOptions{Run: []string{task.Sweep}}); w.parts(t.Context()).dead != nil {
		t.Error("dead letters are taken from SQS, though the queues are in Redis")
	}
}

// TestEvery calls a function that fails for the same reason twice, then for another, succeeds, and fails again: all but
// the second failure must be logged.
func TestEvery(t *testing.T) {
	t.Parallel()
	full, lost := errors.New("it is full"), errors.New("it is lost")
	results := []error{full, full, lost, nil, lost}
	ctx, stop := context.WithCancel(t.Context())
	var said bytes.Buffer
	every(ctx, time.Millisecond, func(context.Context) (result error) {
		if len(results) == 0 {
			stop()
			return nil
		}
		result, results = results[0], results[1:]
		return result
	}, slog.New(slog.NewTextHandler(&said, nil)))
	var logged []string
	for line := range strings.Lines(said.String()) {
		_, reason, _ := strings.Cut(strings.TrimSpace(line), "error=")
		logged = append(logged, reason)
	}
	if want := []string{`"it is full"`, `"it is lost"`, `"it is lost"`}; !slices.Equal(logged, want) {
		t.Errorf("logged %q, want %q", logged, want)
	}
}

// TestServerOf finds the servers of queues by what their URLs begin with.
func TestServerOf(t *testing.T) {
	t.Parallel()
	for queues, want := range map[string]string{
		"https://sqs.eu-central-1.amazonaws.com/123456789012/S-": "https://sqs.eu-central-1.amazonaws.com",
		"http://127.0.0.1:9324/queue/S-":                         "http://127.0.0.1:9324",
		"S-":                                                     "",
		"sqs.eu-central-1.amazonaws.com/123456789012/S-":         "",
		"https:///123456789012/S-":                               "",
		"redis://127.0.0.1:6379":                                 "",
		"http://127.0.0.1:9324 /S-":                              "",
	} {
		got, err := serverOf(queues)
		if _, wrong := errors.AsType[WrongOption](err); got != want || wrong != (want == "") {
			t.Errorf("%s: %q, %v, want %q", queues, got, err, want)
		}
	}
}
