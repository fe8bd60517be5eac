package system

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
)

// TestIndexGivesWayOnceAMinute: Pages are fetched all the time, and index takes the time headStart for each
// message. It must handle two messages at once. Then it has worked for longer than it may without waiting,
// so it must wait for longestYield before the third message. After that it must handle messages without
// waiting, for as long as longestYield.
func TestIndexGivesWayOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := newQueues(nil, nil)
		if _, err := queues[task.Fetch].Send("a batch", 0); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var at []time.Duration
		index := yield(t.Context(), func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			at = append(at, time.Since(began))
			time.Sleep(headStart)
			return events.SQSEventResponse{}, nil
		}, queues)
		for range 4 {
			if _, err := index(t.Context(), events.SQSEvent{}); err != nil {
				t.Fatal(err)
			}
		}
		want := []time.Duration{0, headStart, 2*headStart + longestYield, 3*headStart + longestYield}
		if diff := cmp.Diff(want, at); diff != "" {
			t.Errorf("times at which messages were taken (-want +got):\n%s", diff)
		}
	})
}

// TestIndexGivesWayTogether: Pages are fetched all the time, and index has worked for longer than it may without
// waiting. Then there are three messages at the same time. It must handle all of them after one wait of longestYield.
func TestIndexGivesWayTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := newQueues(nil, nil)
		if _, err := queues[task.Fetch].Send("a batch", 0); err != nil {
			t.Fatal(err)
		}
		var began time.Time
		at := make(chan time.Duration, 3)
		index := yield(t.Context(), func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			if !began.IsZero() {
				at <- time.Since(began)
			}
			time.Sleep(2 * headStart)
			return events.SQSEventResponse{}, nil
		}, queues)
		if _, err := index(t.Context(), events.SQSEvent{}); err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		var calls sync.WaitGroup
		for range 3 {
			calls.Go(func() { _, _ = index(t.Context(), events.SQSEvent{}) })
		}
		calls.Wait()
		for range 3 {
			if waited := <-at; waited != longestYield {
				t.Errorf("a message was handled after %v, want %v", waited, longestYield)
			}
		}
	})
}

// TestIndexGoesOnAfterCrawl: Index has worked for longer than it may without waiting. It must wait until no
// pages have been fetched for the time calm, and then handle all further messages at once. When pages are
// fetched again, it must wait again.
func TestIndexGoesOnAfterCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := newQueues(nil, nil)
		if _, err := queues[task.Fetch].Send("a batch", 0); err != nil {
			t.Fatal(err)
		}
		var at []time.Time
		index := yield(t.Context(), func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			at = append(at, time.Now())
			time.Sleep(2 * headStart)
			return events.SQSEventResponse{}, nil
		}, queues)
		handle := func(messages int) {
			for range messages {
				if _, err := index(t.Context(), events.SQSEvent{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		began := time.Now()
		time.AfterFunc(time.Second, func() {
			for _, m := range queues[task.Fetch].Receive(1) {
				queues[task.Fetch].Delete(m.ReceiptHandle)
			}
		})
		handle(4)
		if waited := at[1].Sub(began); waited < time.Second || waited > time.Second+calm+yieldLook {
			t.Errorf("the second message was handled after %v, want the time calm after the end of the crawl", waited)
		}
		for i := 2; i < len(at); i++ {
			if took := at[i].Sub(at[i-1]); took != 2*headStart {
				t.Errorf("message %d was handled after %v, want %v", i, took, 2*headStart)
			}
		}
		if _, err := queues[task.Fetch].Send("a batch of another crawl", 0); err != nil {
			t.Fatal(err)
		}
		again := time.Now()
		handle(1)
		if waited := at[len(at)-1].Sub(again); waited < longestYield {
			t.Errorf("while pages are fetched again, a message was handled after %v, want %v", waited, longestYield)
		}
	})
}

// TestIndexStopsWaiting: Index waits while pages are fetched, when the system stops. It must stop waiting.
func TestIndexStopsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := newQueues(nil, nil)
		if _, err := queues[task.Fetch].Send("a batch", 0); err != nil {
			t.Fatal(err)
		}
		stopping, stop := context.WithCancel(t.Context())
		index := yield(stopping, func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			time.Sleep(2 * headStart)
			return events.SQSEventResponse{}, nil
		}, queues)
		if _, err := index(t.Context(), events.SQSEvent{}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		time.AfterFunc(time.Second, stop)
		if _, err := index(t.Context(), events.SQSEvent{}); !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
			t.Errorf("it waited for %v, and ended with %v", time.Since(began), err)
		}
	})
}

// TestIndexOfPoliteCrawlNeverWaits: Pages are fetched all the time, and every ten seconds there is a
// message for which index takes a quarter of a second. It must handle each message at once, because it works
// for only a fortieth of the time, less than one part in indexShare.
func TestIndexOfPoliteCrawlNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := newQueues(nil, nil)
		if _, err := queues[task.Fetch].Send("a batch", 0); err != nil {
			t.Fatal(err)
		}
		index := yield(t.Context(), func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			time.Sleep(250 * time.Millisecond)
			return events.SQSEventResponse{}, nil
		}, queues)
		for range 50 {
			began := time.Now()
			if _, err := index(t.Context(), events.SQSEvent{}); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took != 250*time.Millisecond {
				t.Fatalf("a message took %v, want a quarter of a second", took)
			}
			time.Sleep(10*time.Second - 250*time.Millisecond)
		}
	})
}
