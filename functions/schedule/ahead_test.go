package schedule

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// TestAhead checks how many batches of each host are leased at a time, and that one that is settled makes room
// for one more.
func TestAhead(t *testing.T) {
	hosts := []string{"http://a.example/", "http://b.example/", "http://c.example/"}
	delay := func(c *collection.Collection) { c.Delay = collection.Duration(time.Second) }
	topic := func(c *collection.Collection) {
		c.Topic = &collection.Topic{Threshold: collection.DefaultThreshold, Words: []string{"word"}}
	}
	eight := func(c *collection.Collection) { c.HostConnections = 8 }
	share := func(own, processes int) func() (int, int) { return func() (int, int) { return own, processes } }
	for name, test := range map[string]struct {
		hosts  int
		ahead  bool
		change func(*collection.Collection)
		share  func() (own, processes int)
		want   map[string]int
	}{
		"not allowed":         {1, false, nil, nil, map[string]int{"a.example": 1}},
		"the only host":       {1, true, nil, nil, map[string]int{"a.example": 2}},
		"of many connections": {1, true, eight, nil, map[string]int{"a.example": 9}},
		"a delay":             {1, true, delay, nil, map[string]int{"a.example": 1}},
		"a topic":             {1, true, topic, nil, map[string]int{"a.example": 1}},
		"the only process":    {1, true, nil, share(1, 1), map[string]int{"a.example": 2}},
		"not of this process": {1, true, nil, share(0, 1), map[string]int{"a.example": 1}},
		"other hosts":         {3, true, nil, nil, map[string]int{"a.example": 1, "b.example": 1, "c.example": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, redistest.Server(t), test.change)
			w.Limits.Ahead, w.Share = test.ahead, test.share
			var urls []string
			for i := range 1100 {
				urls = append(urls, fmt.Sprint(hosts[i%test.hosts], i))
			}
			functionstest.Admit(t, w.Redis, w.inForce, urls...)
			w.clock.Advance(2 * time.Second)
			got := make(map[string]int)
			batches := w.run()
			for _, b := range batches {
				got[b.Host]++
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("batches by host (-want +got):\n%s", diff)
			}
			w.settle(batches[0])
			if next := w.run(); len(next) != 1 {
				t.Errorf("%d batches after one is settled, want 1", len(next))
			}
		})
	}
}

// TestAheadOfALimit leases batches ahead of a batch whose pages may reach a limit. What would exceed the
// limit then must wait until that batch is settled. It must not be denied, because pages of the batch may fail.
func TestAheadOfALimit(t *testing.T) {
	for limit, want := range map[int64][]int{99: {99}, 100: {100}, 130: {100, 30}, 500: {100, 100}} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			w := newWorld(t, redistest.Server(t), func(c *collection.Collection) { c.HostPages = limit })
			w.Limits.Ahead = true
			w.admit(300, "")
			for range 2 {
				batches := w.run()
				if diff := cmp.Diff(want, sizes(batches)); diff != "" {
					t.Fatalf("leased (-want +got):\n%s", diff)
				}
				if got := w.counts().Leased; got != int64(100*len(want)) {
					t.Errorf("%d URLs are leased for %v", got, want)
				}
				for _, b := range batches {
					for i := range b.Targets {
						b.Targets[i].Denied = "it cannot be had"
					}
					w.settle(b)
				}
				w.admit(600, "?more")
			}
		})
	}
}
