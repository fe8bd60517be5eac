package schedule

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// queues runs schedule, and returns the names of the queues to which it sent messages.
func (w *world) queues() (queues []string) {
	w.t.Helper()
	if err := w.Run(w.t.Context(), task.Lease{}); err != nil {
		w.t.Fatal(err)
	}
	for _, m := range w.sender.Take() {
		queues = append(queues, m.Queue)
	}
	return queues
}

func (w *world) expectQueues(when string, want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.queues()); diff != "" {
		w.t.Errorf("%s: messages to (-want +got):\n%s", when, diff)
	}
}

// TestAsksForSweep loses the contents of Redis. It checks that a sweep is requested at once, to
// rebuild the frontier, but not at each run, and that nothing is leased meanwhile.
func TestAsksForSweep(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb, nil)
		w.admit(3, "")
		if err := rdb.Del(t.Context(), "f:{0}:counts").Err(); err != nil {
			t.Fatal(err)
		}
		w.expectQueues("counts lost", task.Sweep)
		w.expectQueues("a moment later")
		w.clock.Advance(task.AskAgain)
		w.expectQueues("still not rebuilt", task.Sweep)
		if err := rdb.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		w.expectQueues("all lost", task.Sweep)
		w.admit(1, "")
		w.expectQueues("half built")
	})
}

// TestWaitsForOtherFrontiers checks that nothing is leased, and no expired lease ended, as long as the frontier of another
// crawl partition is not built. Otherwise the URLs of a batch with a link to that partition, which cannot be settled
// meanwhile, would be requested again and again.
func TestWaitsForOtherFrontiers(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	w.admit(3, "")
	w.expectQueues("all are built", task.Fetch)
	w.admit(3, "?more")
	split := func(newest rules.Document, unused int) ([]rules.Rule, error) {
		at := w.parse(site).Place.SiteRange() // the site stays in partition 0
		return newest.Split(0, unused, at.To)
	}
	if _, err := rules.Change(t.Context(), w.bucket(), rules.Crawl, w.clock.Now(), split); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(batch.MaxTime + time.Second)
	w.expectQueues("partition 1 is not built", task.Sweep)
	if leases, err := frontier.New(w.Redis, 0).Leases(t.Context()); err != nil || len(leases) != 1 {
		t.Errorf("leases %v, %v; want one", leases, err)
	}
	other := frontier.New(w.Redis, 1)
	if err := other.Open(t.Context(), 2, "other settings", nil); err != nil {
		t.Fatal(err)
	}
	w.expectQueues("partition 1 is built", task.Fetch)
	w.clock.Advance(batch.MaxTime + time.Second)
	if err := other.Distrust(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.expectQueues("partition 1 is invalidated", task.Sweep)
}

// TestDroppedPartition: for a partition that the strategy does not have, nothing is leased, and no sweep is asked for, which
// would not build its frontier. On AWS the clock of a partition ticks on after it was joined with another.
func TestDroppedPartition(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	front := frontier.New(w.Redis, 1)
	for _, built := range []bool{false, true} {
		if built {
			if err := front.Open(t.Context(), 1, "earlier settings", nil); err != nil {
				t.Fatal(err)
			}
			a := w.parse(site)
			if _, err := front.Admit(t.Context(), w.clock.Now(), []frontier.Entry{{URL: a.URL, ID: a.ID, Host: a.Host, Collection: functionstest.Collection}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Run(t.Context(), task.Lease{Crawl: 1}); err != nil {
			t.Error(err)
		}
		if sent := w.sender.Take(); len(sent) > 0 {
			t.Errorf("built %v: sent %v", built, sent)
		}
	}
}

// TestOlderRedis replaces the contents of Redis by a complete but older state. It checks that
// nothing is leased until the frontier is rebuilt.
func TestOlderRedis(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	w.admit(3, "")
	w.expectQueues("before", task.Fetch)
	if err := w.Redis.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	front := frontier.New(w.Redis, 0)
	// marked as built, as it was
	if err := front.Open(t.Context(), 1, w.inForce.Fingerprint(), nil); err != nil {
		t.Fatal(err)
	}
	w.admit(3, "")
	w.expectQueues("older", task.Sweep)
	if err := front.Built(t.Context(), w.inForce.Fingerprint()); !errors.Is(err, frontier.ErrNotBuilt) {
		t.Errorf("Built: %v, want ErrNotBuilt", err)
	}
	if err := front.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := front.Open(t.Context(), 2, w.inForce.Fingerprint(), nil); err != nil {
		t.Fatal(err)
	}
	w.admit(3, "")
	w.expectQueues("rebuilt", task.Fetch)
}

// TestTopicBatchesAreShort checks that a batch with new links of a collection with a topic has only
// as many URLs as can be fetched in a few seconds, with the delays of the collection and of
// robots.txt. Other batches must have their usual size.
func TestTopicBatchesAreShort(t *testing.T) {
	for name, test := range map[string]struct {
		topic  bool
		delay  time.Duration
		robots string
		want   int
	}{
		"no topic":                    {want: 100},
		"no delay":                    {topic: true, want: 10},
		"a delay":                     {topic: true, delay: time.Second, want: 3},
		"a long delay":                {topic: true, delay: time.Minute, want: 1},
		"a delay asked for by robots": {topic: true, robots: "User-agent: *\nCrawl-delay: 2\n", want: 2},
	} {
		w := newWorld(t, redistest.Server(t), func(c *collection.Collection) {
			c.Delay = collection.Duration(test.delay)
			if test.topic {
				c.Topic = &collection.Topic{Words: []string{"words"}}
			}
		})
		if test.robots != "" {
			if err := frontier.NewRobotsCache(w.Redis).Put(t.Context(), "http://a.example", 200, []byte(test.robots), w.clock.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		w.admit(120, "")
		if diff := cmp.Diff([]int{test.want}, sizes(w.run())); diff != "" {
			t.Errorf("%s: URLs of batches (-want +got):\n%s", name, diff)
		}
	}
}
