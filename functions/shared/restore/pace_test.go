package restore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// wantOpen checks when a URL of the host can first be leased. This must be at the given time after
// the start of the test, or at most two seconds later. wantOpen tries to lease one, and advances the
// clock until it succeeds: by a minute each time, and near the expected time by a second.
func (w *world) wantOpen(host string, after time.Duration) {
	w.t.Helper()
	want := functionstest.Start.Add(after)
	for {
		if at, found := w.asked(host); found {
			if at.Before(want) || at.After(want.Add(2*time.Second)) {
				w.t.Errorf("%s is asked at %v, want %v", host, at.Sub(functionstest.Start), after)
			}
			return
		}
		left := want.Sub(w.clock.Now())
		if left < -2*time.Second {
			w.t.Errorf("%s is not asked at %v", host, after)
			return
		}
		w.clock.Advance(min(time.Minute, max(time.Second, left-time.Second)))
	}
}

// asked leases batches of all frontiers, one after another, until a batch is for the given host. It
// returns the time from which requests of this batch may be sent. If nothing more can be leased,
// found is false.
func (w *world) asked(host string) (at time.Time, found bool) {
	w.t.Helper()
	for _, crawl := range w.inForce.Crawl.Partitions() {
		front := frontier.New(w.Redis, crawl)
		if _, err := front.Expire(w.t.Context(), w.clock.Now()); err != nil {
			w.t.Fatal(err)
		}
		for {
			l, ok, err := front.Lease(w.t.Context(), frontier.Request{
				Now: w.clock.Now(), Deadline: w.clock.Now().Add(3 * time.Hour), Max: 1, MaxBytes: 1 << 10, Connections: 1,
			})
			if err != nil {
				w.t.Fatal(err)
			}
			if ok && l.Host == host {
				return l.NotBefore, true
			}
			if !ok {
				break
			}
		}
	}
	return time.Time{}, false
}

// leaseOf leases a waiting batch of a crawl partition until a deadline. The deadline is given as the
// time from the start of the test.
func (w *world) leaseOf(crawl int, until time.Duration) frontier.Lease {
	w.t.Helper()
	l, ok, err := frontier.New(w.Redis, crawl).Lease(w.t.Context(), frontier.Request{
		Now: w.clock.Now(), Deadline: functionstest.Start.Add(until), Max: 1, MaxBytes: 1 << 10, Connections: 1,
	})
	if err != nil || !ok {
		w.t.Fatalf("leased %v, %v", ok, err)
	}
	return l
}

// TestPublishedWhileABatchIsOut checks that the host of a batch on lease gets no other request
// before the deadline, whatever settings are published meanwhile. If the host is moved to another
// frontier, it must get none as long as the lease might be renewed in the old one.
func TestPublishedWhileABatchIsOut(t *testing.T) {
	for name, publish := range map[string]func(w *world){
		"a takedown": func(w *world) {
			at, err := address.Parse("http://elsewhere.example/x")
			if err == nil {
				_, err = takedown.Forget(w.t.Context(), w.bucket, takedown.URL(at, w.clock.Now()))
			}
			if err != nil {
				w.t.Fatal(err)
			}
		},
		"a seed": func(w *world) {
			functionstest.Republish(w.t, w.bucket, w.inForce.Collection(functionstest.Collection), func(c *collection.Collection) {
				c.Seeds = append(c.Seeds, collection.Seed{URL: "http://three.example/", Scope: collection.Site, Depth: collection.Unlimited})
			})
		},
		"a strategy that gives the host to another": func(w *world) { w.publishCrawl(func(n int) int { return 1 - n }) },
		"a strategy of one partition":               func(w *world) { w.publishCrawl(func(int) int { return 1 }) },
		"nothing, but it is rebuilt": func(w *world) {
			if _, err := w.Rebuild(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				w := newWorld(t, rdb)
				w.run()
				out := w.leaseOf(0, 90*time.Second)
				if out.Host != "two.example" {
					t.Fatalf("leased %s", out.Host)
				}
				publish(w)
				var err error
				if w.inForce, err = settings.Read(t.Context(), w.bucket, w.clock.Now()); err != nil {
					t.Fatal(err)
				}
				w.run()
				until := 90 * time.Second
				if strings.HasPrefix(name, "a strategy") { // the host is moved
					until = batch.MaxTime
				}
				w.wantOpen("two.example", until)
			})
		})
	}
}

// publishCrawl publishes a copy of the present crawl strategy (rules that divide URLs among crawl
// partitions) in which the partitions are renumbered. The given function returns the new number for
// an old one.
func (w *world) publishCrawl(number func(int) int) {
	w.t.Helper()
	next := w.inForce.Crawl
	next.Version, next.From, next.Rules = next.Version+1, w.clock.Now(), slices.Clone(next.Rules)
	for i := range next.Rules {
		next.Rules[i].Partition = number(next.Rules[i].Partition)
	}
	if err := rules.Publish(w.t.Context(), w.bucket, next); err != nil {
		w.t.Fatal(err)
	}
}

// pause stores an outcome (the record of a request) by which the second site asks for a pause. The
// outcome goes to the spool if spooled is true, else to a book.
func (w *world) pause(p book.Pace, spooled bool) {
	w.t.Helper()
	o := functionstest.Outcome(w.t, version(20), two+"busy", book.Retry)
	o.Pace, o.Attempts = p, 1
	if !spooled {
		functionstest.Learn(w.t, w.bucket, 0, book.Book{Outcomes: []book.Outcome{o}, Links: []book.Link{functionstest.Link(w.t, two, two+"busy", 1)}})
		return
	}
	l := spool.Ledger{Batch: version(20), Ended: functionstest.Start, Outcomes: []book.Outcome{o}}
	functionstest.Put(w.t, w.bucket, layout.SpoolKey(0, l.Batch), functionstest.Spool(w.t, l))
}

// TestPausesOutliveRedis checks that pauses for which a site has asked are kept when Redis is lost.
func TestPausesOutliveRedis(t *testing.T) {
	rest := book.Pace{Rest: functionstest.Start.Add(time.Hour), Failures: 4}
	for _, test := range []struct {
		name          string
		pace          book.Pace
		spooled, told bool
		want          time.Duration
	}{
		{"Retry-After in a book", rest, false, false, time.Hour},
		{"Retry-After in the spool", rest, true, false, time.Hour},
		{"Crawl-delay, nothing is out", book.Pace{Delay: 30 * time.Second}, false, true, 30 * time.Second},
		{"Crawl-delay, anything may be out", book.Pace{Delay: 30 * time.Second}, false, false, batch.MaxTime + 30*time.Second},
		{"nothing, nothing is out", book.Pace{}, false, true, 0},
		{"nothing, anything may be out", book.Pace{}, false, false, batch.MaxTime},
	} {
		t.Run(test.name, func(t *testing.T) {
			rdb := redistest.Server(t)
			w := newWorld(t, rdb)
			w.run()
			w.pause(test.pace, test.spooled)
			if err := rdb.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			if test.told {
				if err := frontier.Tell(t.Context(), rdb, nil); err != nil {
					t.Fatal(err)
				}
			}
			w.run()
			w.wantOpen("two.example", test.want)
		})
	}
}

// TestOutWhenRedisIsLost clears Redis while a batch is leased, lets the frontier be rebuilt, and
// then settles the batch, which says when the batch's last request ended. From this time on, and not
// earlier, another URL of the host may be leased. The test has two rounds: in the first, the lease
// is entered into Redis again after the clearing; in the second, it is not.
func TestOutWhenRedisIsLost(t *testing.T) {
	rdb := redistest.Server(t)
	w := newWorld(t, rdb)
	w.run()
	out := w.leaseOf(0, 90*time.Second)
	for _, told := range []bool{true, false} {
		if err := rdb.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if told {
			held := frontier.Held{Version: out.Version, Host: out.Host, Deadline: out.Deadline}
			if err := frontier.Tell(t.Context(), rdb, map[int][]frontier.Held{0: {held}}); err != nil {
				t.Fatal(err)
			}
		}
		w.run()
		began := w.clock.Now()
		if _, err := frontier.New(rdb, 0).Settle(t.Context(), frontier.Settlement{Version: out.Version, Host: out.Host, Ended: began.Add(5 * time.Second)}); err != nil {
			t.Fatal(err)
		}
		w.wantOpen("two.example", began.Add(5*time.Second).Sub(functionstest.Start))
	}
}

// TestTheFirstEpochWaitsForNobody checks that the first crawl of a bucket begins at once, though
// Redis has no record of earlier requests.
func TestTheFirstEpochWaitsForNobody(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.run()
	w.wantOpen("two.example", 0)
}
