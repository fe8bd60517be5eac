package pack

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func TestSettleTwice(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb, nil)
		functionstest.Admit(t, rdb, w.inForce, site+"stored", site+"failed", site+"retry", site+"not-asked")
		w.clock.Advance(time.Millisecond) // the other host's turn comes later
		if err := rdb.ZAdd(t.Context(), "f:{0}:hosts", redis.Z{Score: float64(w.clock.Now().UnixMilli()), Member: "other." + host}).Err(); err != nil {
			t.Fatal(err)
		}
		lease, _ := w.lease()
		if lease.Host != host || len(lease.Entries) != 4 {
			t.Fatalf("leased %+v", lease)
		}
		l := w.ledger(1,
			functionstest.Outcome(t, lease.Version, site+"stored", book.Stored),
			functionstest.Outcome(t, lease.Version, site+"failed", book.Failed),
			functionstest.Outcome(t, lease.Version, site+"retry", book.Retry),
			functionstest.Outcome(t, lease.Version, site+"not-asked", book.NotAsked),
		)
		l.Batch = lease.Version
		l.Links = []book.Link{
			functionstest.Link(t, site+"stored", site+"new", 2),
			functionstest.Link(t, site+"stored", site+"failed", 2),
			functionstest.Link(t, site+"stored", "http://elsewhere.example/", 2),
		}
		w.spool(l)
		want := frontier.Counts{Waiting: 4, Stored: 1, Failed: 1}
		for range 2 {
			if err := w.Settle(t.Context(), layout.SpoolKey(0, l.Batch)); err != nil {
				t.Fatal(err)
			}
			got := functionstest.Counts(t, rdb, 0)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("frontier (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]layout.Version{l.Batch}, functionstest.Inbox(t, rdb, 0)); diff != "" {
				t.Errorf("inbox (-want +got):\n%s", diff)
			}
		}
		wantSent := []functionstest.Message{
			{Queue: task.Schedule, Body: `{"crawl":0}`},
			{Queue: task.Pack, Body: `{"storage":0}`, Delay: w.Limits.Age},
			{Queue: task.Schedule, Body: `{"crawl":0}`},
		}
		if diff := cmp.Diff(wantSent, w.sender.Take()); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

// TestLinksOfAnotherPartition settles a batch of crawl partition 0 with a link to a URL of
// partition 1. The URL must be added to the frontier of partition 1, and schedule must get one task
// for each of these partitions.
func TestLinksOfAnotherPartition(t *testing.T) {
	w := embedded(t)
	store := memblob.New()
	w.inForce = functionstest.Publish(t, store, 2, nil, "http://one.example/", "http://two.example/")
	w.Bucket, w.Settings.Bucket = store, store
	functionstest.Open(t, w.Redis, w.inForce, 2)
	l := w.ledger(1, functionstest.Outcome(t, version(1), "http://two.example/", book.Stored))
	l.Links = []book.Link{functionstest.Link(t, "http://two.example/", "http://one.example/", 1)}
	functionstest.Put(t, store, spoolKey(1), functionstest.Spool(t, l))
	w.settle(1)
	if got := functionstest.Counts(t, w.Redis, 1).Waiting; got != 1 {
		t.Errorf("%d wait in partition 1, want 1", got)
	}
	told := make(map[string]bool)
	for _, m := range w.sender.Take() {
		told[m.Queue+m.Body] = true
	}
	if !told[`schedule{"crawl":0}`] || !told[`schedule{"crawl":1}`] {
		t.Errorf("told %v, want schedule of both partitions", told)
	}
}

// TestSettleWaitsForTheFrontier checks that nothing is settled in a frontier of other settings or in one that is lost, and
// that a sweep is asked for, but not by each attempt.
func TestSettleWaitsForTheFrontier(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	w.sender.Take()
	refuses := func(want error, messages ...string) {
		t.Helper()
		if err := w.Settle(t.Context(), spoolKey(1)); !errors.Is(err, want) {
			t.Errorf("Settle: %v, want %v", err, want)
		}
		if inbox := functionstest.Inbox(t, w.Redis, 0); inbox != nil {
			t.Errorf("in the inbox: %v", inbox)
		}
		var sent []string
		for _, m := range w.sender.Take() {
			sent = append(sent, m.Queue+m.Body)
		}
		if diff := cmp.Diff(messages, sent); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	}
	if err := frontier.New(w.Redis, 0).Open(t.Context(), 2, "other settings", nil); err != nil {
		t.Fatal(err)
	}
	refuses(frontier.ErrNotBuilt, "sweep{}")
	refuses(frontier.ErrNotBuilt)
	if err := w.Redis.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	refuses(frontier.ErrNotBuilt, "sweep{}")
}

// atScript is a hook of the Redis client. Before the n-th Lua script runs, it calls a function.
type atScript struct {
	n  int
	do func()
}

func (h *atScript) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *atScript) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h *atScript) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		if c.Name() == "evalsha" {
			if h.n--; h.n == 0 {
				h.do()
			}
		}
		return next(ctx, c)
	}
}

// TestSettingsChangeMeanwhile rebuilds the frontier under other settings while Settle runs, just
// before it adds the links or the outcomes of a batch. Settle must fail then. The new frontier must
// get nothing that Settle has decided under the old settings.
func TestSettingsChangeMeanwhile(t *testing.T) {
	for script, name := range map[int]string{1: "before its links", 2: "before its outcomes"} {
		redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
			w := newWorld(t, rdb, nil)
			l := w.stored(1)
			l.Links = []book.Link{functionstest.Link(t, site+"1", site+"forgotten", 1)}
			w.spool(l)
			settling := rdb.WithTimeout(time.Minute)
			settling.AddHook(&atScript{n: script, do: func() {
				front := frontier.New(rdb, 0)
				if err := front.Reset(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := front.Open(t.Context(), 2, "other settings", nil); err != nil {
					t.Fatal(err)
				}
			}})
			w.Redis = settling
			if err := w.Settle(t.Context(), spoolKey(1)); !errors.Is(err, frontier.ErrNotBuilt) {
				t.Errorf("%s: Settle: %v, want ErrNotBuilt", name, err)
			}
			if diff := cmp.Diff(frontier.Counts{}, functionstest.Counts(t, rdb, 0)); diff != "" {
				t.Errorf("%s: frontier (-want +got):\n%s", name, diff)
			}
			for _, waiting := range w.waiting() {
				if waiting.Settled {
					t.Errorf("%s: it counts as settled", name)
				}
			}
		})
	}
}

// TestSettingsOfAnotherPartition settles a batch with links into another crawl partition, whose
// frontier was built under older settings. Settle must fail and add nothing there.
func TestSettingsOfAnotherPartition(t *testing.T) {
	w := embedded(t)
	store := memblob.New()
	w.inForce = functionstest.Publish(t, store, 2, nil, "http://one.example/", "http://two.example/")
	w.Bucket, w.Settings.Bucket = store, store
	functionstest.Open(t, w.Redis, w.inForce, 2)
	if err := frontier.New(w.Redis, 1).Open(t.Context(), 3, "other settings", nil); err != nil {
		t.Fatal(err)
	}
	l := w.ledger(1, functionstest.Outcome(t, version(1), "http://two.example/", book.Stored))
	l.Links = []book.Link{functionstest.Link(t, "http://two.example/", "http://one.example/", 1)}
	functionstest.Put(t, store, spoolKey(1), functionstest.Spool(t, l))
	if err := w.Settle(t.Context(), spoolKey(1)); !errors.Is(err, frontier.ErrNotBuilt) {
		t.Errorf("Settle: %v, want ErrNotBuilt", err)
	}
	if got := functionstest.Counts(t, w.Redis, 1).Waiting; got != 0 {
		t.Errorf("%d wait in partition 1, want none", got)
	}
}

// TestSettledInTheInbox checks that the inbox marks a batch as settled only when its outcomes are
// in the frontier.
func TestSettledInTheInbox(t *testing.T) {
	w := embedded(t)
	w.spool(w.stored(1))
	rdb := redistest.Server(t)
	w.Redis = rdb
	functionstest.Open(t, rdb, w.inForce, 1)
	functionstest.Admit(t, rdb, w.inForce, "http://other."+host+"/")
	w.packed(1000)
	rdb.AddHook(&atScript{n: 2, do: func() {
		if waiting := w.waiting(); len(waiting) != 1 || waiting[0].Settled {
			t.Errorf("while its outcomes are settled, there waits %+v", waiting)
		}
	}})
	w.settle(1)
	if waiting := w.waiting(); len(waiting) != 1 || !waiting[0].Settled {
		t.Errorf("at the end there waits %+v", waiting)
	}
}

// waiting returns the batches in the inbox, which wait to be packed.
func (w *world) waiting() []frontier.Waiting {
	w.t.Helper()
	list, err := frontier.NewInbox(w.Redis, 0).List(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// TestFailureFromBeforeAgain has a collection whose field Again is a time: URLs that failed before
// this time must be tried again. The test settles one failure from before the time, and a later
// one. Only the first URL must wait for another request.
func TestFailureFromBeforeAgain(t *testing.T) {
	w := newWorld(t, redistest.Server(t), func(c *collection.Collection) { c.Again = functionstest.Start.Add(time.Second) })
	functionstest.Admit(t, w.Redis, w.inForce, site+"old", site+"new")
	late := functionstest.Outcome(t, version(1), site+"new", book.Failed)
	late.Time = functionstest.Start.Add(time.Second)
	w.spool(w.ledger(1, functionstest.Outcome(t, version(1), site+"old", book.Failed), late))
	w.settle(1)
	if got := functionstest.Counts(t, w.Redis, 0); got.Waiting != 2 || got.Failed != 1 {
		t.Errorf("%+v, want only the new failure to be final", got)
	}
}

func TestRobotsThatCannotBeHad(t *testing.T) {
	w := embedded(t)
	for status, wantRest := range map[int]bool{0: true, 503: true, 429: true, 200: false, 404: false} {
		rest, err := w.keepRobots(t.Context(), spool.Ledger{Robots: []spool.Robots{
			{Origin: "http://" + host, Status: status, Body: []byte("User-agent: *\nCrawl-delay: 7\n"), Fetched: w.clock.Now()},
		}})
		if err != nil || rest.IsZero() == wantRest {
			t.Errorf("status %d: rest until %v, %v", status, rest, err)
		}
		cached, err := frontier.NewRobotsCache(w.Redis).Get(t.Context(), w.clock.Now(), "http://"+host)
		if err != nil || len(cached) == 1 == wantRest {
			t.Errorf("status %d: cached %v, %v", status, cached, err)
		}
		w.Redis.FlushAll(t.Context())
	}
}

// TestPaceOfAHost checks for how long a host is not requested after a batch. It is the longest of
// these: the delay in the settings; the delay of robots.txt, even if another batch fetched it; the
// duration of answers; and the time that the host asks for.
func TestPaceOfAHost(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		delay, crawlDelay, slow, rest time.Duration
		failures                      uint16
		want                          time.Duration
	}{
		"nothing":                    {},
		"the delay":                  {delay: 3 * second, crawlDelay: second, slow: second, rest: second, want: 3 * second},
		"the delay of robots.txt":    {delay: 3 * second, crawlDelay: 7 * second, slow: second, want: 7 * second},
		"as long as answers take":    {delay: second, slow: 5*second + 1, want: 5*second + time.Millisecond},
		"as long, with robots.txt":   {crawlDelay: second, slow: 5 * second, want: 5 * second},
		"slow, but there is no wait": {slow: 5 * second},
		"Retry-After":                {delay: second, slow: 2 * second, rest: 120 * second, failures: 4, want: 120 * second},
	} {
		w := newWorld(t, redistest.Server(t), func(s *collection.Collection) { s.Delay = collection.Duration(c.delay) })
		functionstest.Admit(t, w.Redis, w.inForce, site+"1", site+"2")
		ours := func() (lease frontier.Lease, leased bool) { // the other host may have its turn first
			for range 2 {
				if lease, leased = w.lease(); lease.Host == host {
					return lease, leased
				}
			}
			return frontier.Lease{}, false
		}
		first, _ := ours()
		l := w.ledger(1,
			functionstest.Outcome(t, first.Version, site+"1", book.Stored), functionstest.Outcome(t, first.Version, site+"2", book.NotAsked))
		l.Batch, l.Slow, l.Failures = first.Version, c.slow, c.failures
		if c.rest > 0 {
			l.Rest = w.clock.Now().Add(c.rest)
		}
		body := fmt.Appendf(nil, "User-agent: *\nCrawl-delay: %g\n", c.crawlDelay.Seconds())
		if err := frontier.NewRobotsCache(w.Redis).Put(t.Context(), "http://"+host, 200, body, w.clock.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		w.spool(l)
		if err := w.Settle(t.Context(), layout.SpoolKey(0, l.Batch)); err != nil {
			t.Fatal(err)
		}
		if c.want > 0 {
			w.clock.Advance(c.want - time.Millisecond)
			if lease, leased := ours(); leased {
				t.Errorf("%s: leased too early: %+v", name, lease)
			}
			w.clock.Advance(time.Millisecond)
		}
		if next, leased := ours(); !leased || next.Failures != c.failures {
			t.Errorf("%s: leased %v with %d failures after %s, want %d", name, leased, next.Failures, c.want, c.failures)
		}
	}
}

// TestTallies checks that stored pages count towards the limits of their collections: each page
// once, and only while it is stored.
func TestTallies(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		w := newWorld(t, rdb, func(c *collection.Collection) { c.HostPages, c.PatternPages = 10, 10 })
		page, err := address.Parse(site + "1")
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, limit := range w.inForce.Limits(functionstest.Collection, page) {
			names = append(names, limit.Tally)
		}
		expect := func(want ...int64) {
			t.Helper()
			got, err := frontier.New(rdb, 0).Tallies(t.Context(), names)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("tallies (-want +got):\n%s%v", diff, err)
			}
		}
		expect(0, 0)
		w.spool(w.ledger(1,
			functionstest.Outcome(t, version(1), site+"1", book.Stored), functionstest.Outcome(t, version(1), site+"2", book.Unchanged),
			functionstest.Outcome(t, version(1), site+"words", book.Stored), functionstest.Outcome(t, version(1), site+"3", book.Skipped),
			functionstest.Outcome(t, version(1), site+"4", book.Failed)))
		w.settle(1, 1)
		expect(3, 2)
		w.spool(w.ledger(2, functionstest.Outcome(t, version(2), site+"1", book.Failed), functionstest.Outcome(t, version(2), site+"2", book.Stored)))
		w.settle(2, 1, 2)
		expect(2, 1)
	})
}

// TestSettleWithoutSpool settles a batch that waits in the inbox, but has no spool object any more.
// This happens if the batch was packed, and Redis then came back with older contents. The batch
// must leave the inbox.
func TestSettleWithoutSpool(t *testing.T) {
	w := embedded(t)
	if err := frontier.NewInbox(w.Redis, 0).Add(t.Context(), frontier.Waiting{Batch: version(1)}); err != nil {
		t.Fatal(err)
	}
	w.settle(1)
	if inbox := functionstest.Inbox(t, w.Redis, 0); inbox != nil || w.sender.Take() != nil {
		t.Errorf("something was done; inbox %v", inbox)
	}
	if err := w.Settle(t.Context(), "spool/notes.txt"); err == nil {
		t.Error("a foreign object was settled")
	}
}
