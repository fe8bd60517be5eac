package queue_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/local/queue"
)

func TestSetSends(t *testing.T) {
	a, _ := newQueue(1)
	b, _ := newQueue(1)
	if err := (queue.Set{"a": a, "b": b}).Send(t.Context(), "b", []byte("x"), time.Minute); err != nil {
		t.Fatal(err)
	}
	expectCounts(t, a, queue.Counts{})
	expectCounts(t, b, queue.Counts{Delayed: 1})
}

func TestSetSendToNoQueue(t *testing.T) {
	err := queue.Set{}.Send(t.Context(), "fetch", []byte("x"), 0)
	if err == nil || err.Error() != "cannot send to queue fetch: there is none of that name" {
		t.Errorf("error %v", err)
	}
}

func TestChaosDoublesDelaysAndReorders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(seed uint64) (order []string) {
			q := queue.New(queue.Options{
				Name: "index", Visibility: time.Minute, MaxReceives: 3,
				Chaos: &queue.Chaos{Rand: rand.New(rand.NewPCG(seed, 0)), Double: 0.5, Delay: 10 * time.Second},
			})
			for n := range 100 {
				send(t, q, strconv.Itoa(n), 0)
			}
			early := q.Receive(1000)
			pass(10 * time.Second)
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
	})
}
