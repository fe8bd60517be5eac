package stream

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func init() { logging.Disable() }

// newQueue returns the queue "fetch" in a Redis, and the dead letters that it makes. Its messages give up
// after three receives.
func newQueue(t *testing.T, rdb redis.UniversalClient, visibility time.Duration) (*Queue, *[]message.DeadLetter) {
	var dead []message.DeadLetter
	return New(rdb, Options{
		Name: "fetch", MaxReceives: 3, MaxBackoff: time.Minute, Visibility: visibility, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Dead: func(d message.DeadLetter) bool {
			dead = append(dead, d)
			return true
		},
	}), &dead
}

// received is what a test looks at in a message.
type received struct{ body, receives string }

// next awaits one message.
func next(t *testing.T, q *Queue) (received, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	batch := q.Await(ctx, 1)
	if len(batch) != 1 {
		t.Fatalf("%d messages, want one", len(batch))
	}
	return received{batch[0].Body, batch[0].Attributes["ApproximateReceiveCount"]}, batch[0].ReceiptHandle
}

// left returns how many messages are in the stream and among the delayed ones.
func left(t *testing.T, rdb redis.UniversalClient) (stream, delayed int64) {
	t.Helper()
	stream, err := rdb.XLen(t.Context(), "bucketsearch:queue:{fetch}").Result()
	if err != nil {
		t.Fatal(err)
	}
	if delayed, err = rdb.ZCard(t.Context(), "bucketsearch:queue:{fetch}:delayed").Result(); err != nil {
		t.Fatal(err)
	}
	return stream, delayed
}

// TestQueue follows messages through the states of the package comment.
func TestQueue(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		q, dead := newQueue(t, rdb, time.Minute)
		send := func(body string, delay time.Duration) {
			t.Helper()
			if err := NewSender(rdb).Send(t.Context(), "fetch", []byte(body), delay); err != nil {
				t.Fatal(err)
			}
		}
		want := func(want received) string {
			t.Helper()
			got, receipt := next(t, q)
			if got != want {
				t.Fatalf("received %v, want %v", got, want)
			}
			return receipt
		}
		waiting := func(want int) {
			t.Helper()
			if n, err := Waiting(t.Context(), rdb, "fetch"); err != nil || n != want {
				t.Errorf("%d messages wait, %v, want %d", n, err, want)
			}
		}
		waiting(0)
		const late = "late:\n\x00\"{}"
		send(late, time.Millisecond)
		send(late, time.Millisecond) // a message of its own, with the same body
		send("early", 0)
		if stream, delayed := left(t, rdb); stream != 1 || delayed != 2 {
			t.Errorf("%d and %d delayed messages, want 1 and 2", stream, delayed)
		}
		for got := 0; got < 3; got++ {
			m, receipt := next(t, q)
			if m.receives != "1" || m.body != late && m.body != "early" {
				t.Errorf("received %v", m)
			}
			q.Delete(receipt)
			q.Delete(receipt)         // does nothing
			q.Fail(receipt, "failed") // nor does this
		}
		send("bad", 0)
		waiting(1)
		receipt := want(received{"bad", "1"})
		waiting(0)
		q.Fail(receipt, "first")
		if stream, delayed := left(t, rdb); stream != 0 || delayed != 1 {
			t.Errorf("after a failure: %d and %d delayed messages, want 0 and 1", stream, delayed)
		}
		q.Fail(want(received{"bad", "2"}), "second")
		q.Fail(want(received{"bad", "3"}), "third")
		if stream, delayed := left(t, rdb); stream+delayed != 0 {
			t.Errorf("at the end: %d and %d delayed messages", stream, delayed)
		}
		if len(*dead) != 1 {
			t.Fatalf("%d dead letters", len(*dead))
		}
		letter := (*dead)[0]
		letter.At, letter.Message = time.Time{}, ""
		if diff := cmp.Diff(message.DeadLetter{Queue: "fetch", Body: "bad", Reason: "third", Receives: 3}, letter); diff != "" {
			t.Errorf("dead letter (-want +got):\n%s", diff)
		}
	})
}

// TestDeadWorkers lets workers die that handle a message. It must come to others, and count its receives;
// when it has killed too many of them, it must become a dead letter.
func TestDeadWorkers(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		if err := NewSender(rdb).Send(t.Context(), "fetch", []byte("killer"), 0); err != nil {
			t.Fatal(err)
		}
		for _, receives := range []string{"1", "2", "3"} {
			q, _ := newQueue(t, rdb, 50*time.Millisecond)
			if got, _ := next(t, q); got != (received{"killer", receives}) {
				t.Fatalf("received %v, want it for the %s. time", got, receives)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		q, dead := newQueue(t, rdb, 50*time.Millisecond)
		bury := q.options.Dead
		q.options.Dead = func(d message.DeadLetter) bool {
			cancel()
			return bury(d)
		}
		if batch := q.Await(ctx, 1); len(batch) != 0 {
			t.Errorf("received %v", batch)
		}
		if len(*dead) != 1 || (*dead)[0].Receives != 4 || !strings.HasPrefix((*dead)[0].Reason, "its function died without a word") {
			t.Errorf("dead letters %+v", *dead)
		}
		if stream, delayed := left(t, rdb); stream+delayed != 0 {
			t.Errorf("%d and %d delayed messages are left", stream, delayed)
		}
	})
}

// TestKeep handles a message for longer than its visibility, while another worker waits for messages.
func TestKeep(t *testing.T) {
	rdb := redistest.Server(t) // the embedded Redis counts each claim as a receive
	const visibility = 2 * time.Second
	busy, _ := newQueue(t, rdb, visibility)
	if err := NewSender(rdb).Send(t.Context(), "fetch", []byte("long"), 0); err != nil {
		t.Fatal(err)
	}
	_, receipt := next(t, busy)
	keeping, stop := context.WithCancel(t.Context())
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		busy.Keep(keeping)
	}()
	idle, _ := newQueue(t, rdb, visibility)
	waiting, cancel := context.WithTimeout(t.Context(), 2*visibility)
	defer cancel()
	if batch := idle.Await(waiting, 1); len(batch) > 0 {
		t.Errorf("another worker has received %v", batch)
	}
	stop()
	<-kept
	if got, _ := next(t, idle); got != (received{"long", "2"}) {
		t.Errorf("after its worker has died: %v", got)
	}
	busy.Delete(receipt) // the slow worker is done after all
	if stream, _ := left(t, rdb); stream != 0 {
		t.Error("the message is not deleted")
	}
}

// TestFullRedis receives messages from a Redis that has used up its memory, and sends one to an empty queue: else nothing
// would ever make room.
func TestFullRedis(t *testing.T) {
	rdb := redistest.Server(t) // the embedded Redis has no limit
	q, _ := newQueue(t, rdb, time.Minute)
	send := func() error { return NewSender(rdb).Send(t.Context(), "fetch", []byte("x"), time.Millisecond) }
	for range 2 {
		if err := send(); err != nil {
			t.Fatal(err)
		}
	}
	_, receipt := next(t, q)
	q.Delete(receipt)
	if err := send(); err != nil {
		t.Fatal(err)
	}
	if err := rdb.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if send() == nil {
		t.Error("the full Redis takes another message")
	}
	for range 2 {
		_, receipt := next(t, q)
		q.Fail(receipt, "no room")
		_, receipt = next(t, q)
		q.Delete(receipt)
	}
	if stream, delayed := left(t, rdb); stream+delayed != 0 {
		t.Errorf("%d and %d delayed messages are left", stream, delayed)
	}
	if err := send(); err != nil {
		t.Errorf("the empty queue: %v", err)
	}
	if send() == nil {
		t.Error("the full Redis takes a second message")
	}
}

// TestSendLimits sends messages that a queue refuses.
func TestSendLimits(t *testing.T) {
	rdb := redistest.Embedded(t)
	s := NewSender(rdb)
	s.most = 2
	for _, delay := range []time.Duration{0, time.Hour} {
		if err := s.Send(t.Context(), "fetch", []byte("x"), delay); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Send(t.Context(), "fetch", []byte("x"), 0); !errors.Is(err, errFull) {
		t.Errorf("a third message: %v", err)
	}
	if err := s.Send(t.Context(), "pack", make([]byte, message.MaxBody+1), 0); err == nil || !strings.Contains(err.Error(), "is over the limit") {
		t.Errorf("a body that is too long: %v", err)
	}
}

// TestLostRedis empties Redis below a waiting worker: it must receive what is sent afterwards.
func TestLostRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		q, _ := newQueue(t, rdb, time.Minute)
		for range 2 {
			if err := NewSender(rdb).Send(t.Context(), "fetch", []byte("x"), 0); err != nil {
				t.Fatal(err)
			}
			_, receipt := next(t, q)
			q.Delete(receipt)
			if err := rdb.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
