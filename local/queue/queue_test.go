package queue_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/local/queue"
)

// pass lets time pass. The tests run in a bubble of testing/synctest, whose clock only moves
// while all goroutines sleep.
var pass = time.Sleep

// grave collects the dead letters of a queue.
type grave []message.DeadLetter

func newQueue(maxReceives int) (*queue.Queue, *grave) {
	dead := new(grave)
	return queue.New(queue.Options{
		Name: "fetch", Visibility: 30 * time.Second, MaxReceives: maxReceives,
		Dead: func(d message.DeadLetter) { *dead = append(*dead, d) },
	}), dead
}

func send(t *testing.T, q *queue.Queue, body string, delay time.Duration) {
	t.Helper()
	if _, err := q.Send(body, delay); err != nil {
		t.Fatal(err)
	}
}

func receiveOne(t *testing.T, q *queue.Queue) events.SQSMessage {
	t.Helper()
	batch := q.Receive(1)
	if len(batch) != 1 {
		t.Fatalf("received %d messages, want 1; counts %+v", len(batch), q.Counts())
	}
	return batch[0]
}

func expectCounts(t *testing.T, q *queue.Queue, want queue.Counts) {
	t.Helper()
	if diff := cmp.Diff(want, q.Counts()); diff != "" {
		t.Fatalf("counts (-want +got):\n%s", diff)
	}
}

func TestMessageHasWhatLambdaGives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := newQueue(3)
		sent := time.Now()
		send(t, q, "hello", 0)
		pass(time.Second)
		want := events.SQSMessage{
			MessageId:     "fetch-1",
			ReceiptHandle: "fetch-1/1/1",
			Body:          "hello",
			Md5OfBody:     "5d41402abc4b2a76b9719d911017c592",
			Attributes: map[string]string{
				"ApproximateReceiveCount": "1",
				"SentTimestamp":           strconv.FormatInt(sent.UnixMilli(), 10),
			},
			EventSource:    "aws:sqs",
			EventSourceARN: "arn:aws:sqs:local:000000000000:fetch",
			AWSRegion:      "local",
		}
		if diff := cmp.Diff(want, receiveOne(t, q)); diff != "" {
			t.Errorf("message (-want +got):\n%s", diff)
		}
	})
}

func TestLifeOfAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := newQueue(3)
		send(t, q, "a", 2*time.Second)
		expectCounts(t, q, queue.Counts{Delayed: 1})
		pass(2*time.Second - 1)
		if got := q.Receive(1); got != nil {
			t.Fatalf("received %v before the delay was over", got)
		}
		pass(1)
		expectCounts(t, q, queue.Counts{Visible: 1})
		m := receiveOne(t, q)
		expectCounts(t, q, queue.Counts{InFlight: 1})
		if got := q.Receive(1); got != nil {
			t.Fatalf("received %v, which is in flight", got)
		}
		q.Delete(m.ReceiptHandle)
		expectCounts(t, q, queue.Counts{})
	})
}

func TestVisibilityTimeoutBringsAMessageBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, dead := newQueue(2)
		send(t, q, "a", 0)
		first := receiveOne(t, q)
		pass(30 * time.Second)
		expectCounts(t, q, queue.Counts{Visible: 1})
		second := receiveOne(t, q)
		if second.MessageId != first.MessageId || second.Attributes["ApproximateReceiveCount"] != "2" {
			t.Errorf("second receive = %+v", second)
		}

		// The first receiver's handle is no longer valid.
		q.Delete(first.ReceiptHandle)
		q.Fail(first.ReceiptHandle, "late")
		expectCounts(t, q, queue.Counts{InFlight: 1})

		pass(30 * time.Second)
		if got := q.Receive(1); got != nil {
			t.Fatalf("received %v a third time", got)
		}
		expectCounts(t, q, queue.Counts{Dead: 1})
		want := grave{{
			Queue: "fetch", Message: "fetch-1", Body: "a", At: time.Now(), Receives: 2,
			Reason: "its function died without a word: the message was neither deleted nor given back within 30s",
		}}
		if diff := cmp.Diff(want, *dead); diff != "" {
			t.Errorf("dead letters (-want +got):\n%s", diff)
		}
	})
}

func TestFailureBacksOffThenDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, dead := newQueue(12)
		send(t, q, "a", 0)
		for n := range 11 {
			m := receiveOne(t, q)
			q.Fail(m.ReceiptHandle, fmt.Sprintf("failure %d", n))
			backoff := min(100*time.Millisecond<<n, 30*time.Second)
			pass(backoff - 1)
			expectCounts(t, q, queue.Counts{Delayed: 1})
			pass(1)
		}
		q.Fail(receiveOne(t, q).ReceiptHandle, "the last")
		expectCounts(t, q, queue.Counts{Dead: 1})
		want := grave{{Queue: "fetch", Message: "fetch-1", Body: "a", Reason: "the last", At: time.Now(), Receives: 12}}
		if diff := cmp.Diff(want, *dead); diff != "" {
			t.Errorf("dead letters (-want +got):\n%s", diff)
		}
	})
}

func TestReceiveTakesTheLongestDueFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := newQueue(3)
		send(t, q, "third", 3*time.Second)
		send(t, q, "first", time.Second)
		send(t, q, "second", time.Second)
		send(t, q, "not yet", time.Minute)
		pass(5 * time.Second)
		var got []string
		for _, m := range append(q.Receive(2), q.Receive(10)...) {
			got = append(got, m.Body)
		}
		if diff := cmp.Diff([]string{"first", "second", "third"}, got); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestSendRefuses(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"empty", "", "cannot send to queue fetch: the body is empty"},
		{"long", strings.Repeat("x", message.MaxBody+1), "cannot send to queue fetch: a body of 262145 bytes is over the limit of 262144"},
		{"no UTF-8", "\xff", "cannot send to queue fetch: the body is not UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, _ := newQueue(1)
			if _, err := q.Send(tt.body, 0); err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			expectCounts(t, q, queue.Counts{})
		})
	}
}

func TestLongDelayIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := newQueue(1)
		send(t, q, "a", time.Hour)
		pass(message.MaxDelay)
		expectCounts(t, q, queue.Counts{Visible: 1})
	})
}

// A queue calls Options.Dead for each of its dead letters. This function may use the queue: here it
// sends the message again.
func TestDeadMayBeSentAgain(t *testing.T) {
	var q *queue.Queue
	q = queue.New(queue.Options{Name: "fetch", Visibility: time.Minute, MaxReceives: 1, Dead: func(d message.DeadLetter) {
		if d.Reason == "first" {
			send(t, q, d.Body, 0)
		}
	}})
	send(t, q, "a", 0)
	q.Fail(receiveOne(t, q).ReceiptHandle, "first")
	q.Fail(receiveOne(t, q).ReceiptHandle, "second")
	expectCounts(t, q, queue.Counts{Dead: 2})
}
