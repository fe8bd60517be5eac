package queue_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/local/queue"
)

// TestSetWaitSeesWorkThatMoves counts down by messages that go to and fro
// between two queues: at no time are both empty before the end.
func TestSetWaitSeesWorkThatMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := queue.Set{"a": bubbleQueue(1), "b": bubbleQueue(1)}
		last := 99
		pass := func(to string) queue.Function {
			return func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
				n, err := strconv.Atoi(e.Records[0].Body)
				if err != nil || n == 0 {
					return events.SQSEventResponse{}, err
				}
				last = n - 1
				return events.SQSEventResponse{}, set.Send(ctx, to, []byte(strconv.Itoa(last)), time.Duration(n)*time.Millisecond)
			}
		}
		stopA := deliver(t, set["a"], queue.Mapping{Function: pass("b")})
		stopB := deliver(t, set["b"], queue.Mapping{Function: pass("a")})
		if err := set.Send(t.Context(), "a", []byte("99"), 0); err != nil {
			t.Fatal(err)
		}
		if err := set.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if last != 0 {
			t.Errorf("the set looked empty when %d hops were left", last)
		}
		if err := stopA(); err != nil {
			t.Error(err)
		}
		if err := stopB(); err != nil {
			t.Error(err)
		}
	})
}

func TestSetSendToNoQueue(t *testing.T) {
	err := queue.Set{}.Send(t.Context(), "fetch", []byte("x"), 0)
	if err == nil || err.Error() != "cannot send to queue fetch: there is none of that name" {
		t.Errorf("error %v", err)
	}
}

func TestChaosDoublesDelaysAndReorders(t *testing.T) {
	run := func(seed uint64) (order []string) {
		clock := &handClock{now: time.UnixMilli(0)}
		q := queue.New(queue.Options{
			Name: "index", Visibility: time.Minute, MaxReceives: 3, Clock: clock,
			Chaos: &queue.Chaos{Rand: rand.New(rand.NewPCG(seed, 0)), Double: 0.5, Delay: 10 * time.Second},
		})
		for n := range 100 {
			send(t, q, strconv.Itoa(n), 0)
		}
		early := q.Receive(1000)
		clock.pass(10 * time.Second)
		late := q.Receive(1000)
		if len(early) >= len(late) {
			t.Errorf("%d messages at once, %d within the delay", len(early), len(late))
		}
		for _, m := range append(early, late...) {
			order = append(order, m.Body)
			q.Delete(m.ReceiptHandle)
		}
		expectCounts(t, q, queue.Counts{})
		return order
	}
	order := run(1)
	if diff := cmp.Diff(order, run(1)); diff != "" {
		t.Errorf("the same seed gives another order:\n%s", diff)
	}
	times := map[string]int{}
	for _, body := range order {
		times[body]++
	}
	twice := len(order) - len(times)
	if len(times) != 100 || twice < 30 || twice > 70 {
		t.Errorf("%d of 100 messages came, %d of them twice", len(times), twice)
	}
	if slices.IsSortedFunc(order, func(a, b string) int { return len(a) - len(b) }) {
		t.Error("messages came in order")
	}
}
