package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/local/queue"
)

// The tests of this file run in bubbles of testing/synctest, whose time passes
// when all goroutines wait.

func bubbleQueue(maxReceives int) (*queue.Queue, *grave) {
	dead := new(grave)
	return queue.New(queue.Options{
		Name: "pack", Visibility: time.Minute, MaxReceives: maxReceives,
		Dead: func(d message.DeadLetter) { *dead = append(*dead, d) },
	}), dead
}

// deliver starts Deliver with a mapping. It sets a log, a timeout of 10 s and a grace of 5 s in
// the mapping. Concurrency and batch size are 1 if the mapping does not set them. The returned
// function ends the delivery and returns the error of Deliver.
func deliver(t *testing.T, q *queue.Queue, m queue.Mapping) (stop func() error) {
	t.Helper()
	m.Concurrency, m.BatchSize = max(m.Concurrency, 1), max(m.BatchSize, 1)
	m.Log = slog.New(slog.DiscardHandler)
	m.Timeout, m.Grace = 10*time.Second, 5*time.Second
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- queue.Deliver(ctx, q, m) }()
	return func() error {
		cancel()
		return <-done
	}
}

// settle waits until the queue has no message any more that waits or is in flight.
func settle(t *testing.T, q *queue.Queue) {
	t.Helper()
	pass(time.Hour)
	expectCounts(t, q, queue.Counts{Dead: q.Counts().Dead})
}

func TestDeliverDeletesWhatTheFunctionTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := bubbleQueue(3)
		for _, body := range []string{"a", "b", "c"} {
			send(t, q, body, 0)
		}
		var batches [][]string
		stop := deliver(t, q, queue.Mapping{BatchSize: 2, Function: func(_ context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
			var bodies []string
			for _, m := range e.Records {
				bodies = append(bodies, m.Body)
			}
			batches = append(batches, bodies)
			return events.SQSEventResponse{}, nil
		}})
		settle(t, q)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([][]string{{"a", "b"}, {"c"}}, batches); diff != "" {
			t.Errorf("batches (-want +got):\n%s", diff)
		}
		expectCounts(t, q, queue.Counts{})
	})
}

// TestDeliverFailures delivers a batch of the messages "good" and "bad" to functions that fail
// in every possible way, and checks which of the two become dead letters, and with which
// reason.
func TestDeliverFailures(t *testing.T) {
	fail := func(id string) (events.SQSEventResponse, error) {
		return events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{{ItemIdentifier: id}}}, nil
	}
	tests := []struct {
		name     string
		function queue.Function
		want     map[string]string // reason of each dead letter, by its body
	}{
		{"one message", func(_ context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
			for _, m := range e.Records {
				if m.Body == "bad" {
					return fail(m.MessageId)
				}
			}
			return events.SQSEventResponse{}, nil
		}, map[string]string{"bad": "the function reported a failure"}},
		{"unknown message", func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			return fail("")
		}, map[string]string{"good": "no message of its batch", "bad": "no message of its batch"}},
		{"error", func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			return events.SQSEventResponse{}, errors.New("store is down")
		}, map[string]string{"good": "store is down", "bad": "store is down"}},
		{"panic", func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			panic("oh")
		}, map[string]string{"good": "panic: oh", "bad": "panic: oh"}},
		{"timeout", func(ctx context.Context, _ events.SQSEvent) (events.SQSEventResponse, error) {
			<-ctx.Done()
			<-time.After(time.Second) // ignores the end of its context
			return events.SQSEventResponse{}, nil
		}, map[string]string{"good": "timed out after 10s", "bad": "timed out after 10s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, graves := bubbleQueue(2)
				send(t, q, "good", 0)
				send(t, q, "bad", 0)
				stop := deliver(t, q, queue.Mapping{BatchSize: 10, Function: tt.function})
				settle(t, q)
				if err := stop(); err != nil {
					t.Error(err)
				}
				<-time.After(time.Minute) // lets abandoned functions end
				if len(*graves) != len(tt.want) {
					t.Errorf("%d dead letters, want %d", len(*graves), len(tt.want))
				}
				for _, d := range *graves {
					want := tt.want[d.Body]
					if want == "" || !strings.Contains(d.Reason, want) {
						t.Errorf("%q died of %q, want %q", d.Body, d.Reason, want)
					}
					if d.Receives != 2 {
						t.Errorf("%q died after %d receives, want 2", d.Body, d.Receives)
					}
				}
			})
		})
	}
}

func TestDeliverKeepsToItsConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := bubbleQueue(1)
		for range 9 {
			send(t, q, "x", 0)
		}
		release := make(chan struct{})
		stop := deliver(t, q, queue.Mapping{Concurrency: 4, Function: func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			<-release
			return events.SQSEventResponse{}, nil
		}})
		synctest.Wait()
		expectCounts(t, q, queue.Counts{InFlight: 4, Visible: 5})
		close(release)
		settle(t, q)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestDeliverEndsWithGrace(t *testing.T) {
	tests := []struct {
		name  string
		takes time.Duration // time that the running invocation takes after ctx has ended
		err   string
		want  queue.Counts
	}{
		{"in time", 4 * time.Second, "", queue.Counts{Visible: 1}},
		{"too slow", 6 * time.Second, "invocations given up because they still ran 5s after the end: 1", queue.Counts{Visible: 1, Delayed: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, _ := bubbleQueue(9)
				send(t, q, "running", 0)
				send(t, q, "waiting", 0)
				stop := deliver(t, q, queue.Mapping{Function: func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
					<-time.After(tt.takes)
					return events.SQSEventResponse{}, nil
				}})
				synctest.Wait()
				err := stop()
				if tt.err == "" && err != nil || tt.err != "" && (err == nil || err.Error() != tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				expectCounts(t, q, tt.want)
				<-time.After(time.Minute) // lets abandoned functions end
			})
		})
	}
}
