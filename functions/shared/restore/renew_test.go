package restore

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// again leases all waiting URLs of a crawl partition. It returns the entries of those URLs that
// were requested before and wait for another request. The key is the URL.
func (w *world) again(crawl int) map[string]frontier.Entry {
	w.t.Helper()
	all := make(map[string]frontier.Entry)
	for {
		leased, ok, err := frontier.New(w.Redis, crawl).Lease(w.t.Context(), frontier.Request{
			Now: w.clock.Now(), Deadline: w.clock.Now().Add(time.Hour), Max: 100, MaxBytes: 1 << 20, Connections: 100,
		})
		if err != nil {
			w.t.Fatal(err)
		}
		if !ok {
			return all
		}
		for _, e := range leased.Entries {
			if e.Last != nil {
				all[e.URL] = e
			}
		}
	}
}

// free ends all leases at their deadlines, without a settlement: it lets their time run out.
func (w *world) free() {
	w.t.Helper()
	for _, crawl := range w.inForce.Crawl.Partitions() {
		if _, err := frontier.New(w.Redis, crawl).Expire(w.t.Context(), w.clock.Now().Add(2*time.Hour)); err != nil {
			w.t.Fatal(err)
		}
	}
}

func urlsOf(entries map[string]frontier.Entry) []string {
	var all []string
	for url := range entries {
		all = append(all, url)
	}
	slices.Sort(all)
	return all
}

// kept returns the outcome of a request for a URL. Like the outcome for a stored page, it has an ETag,
// a Last-Modified and a digest. The token is the number of the batch to which the request belonged.
// The exponent says how long the page is expected to stay valid. The last parameter is the time of the
// request, counted from the start of the test.
func kept(t testing.TB, token uint64, url string, state book.State, exponent int16, after time.Duration) book.Outcome {
	t.Helper()
	o := functionstest.Outcome(t, version(token), url, state)
	o.Exponent, o.Depth, o.Time, o.ETag, o.Modified, o.Digest = exponent, 1, o.Time.Add(after), `"tag"`, "then", 7
	return o
}

// teach commits a book with the outcomes and tells the frontiers (queues in Redis) of them, as the
// function pack does.
func (w *world) teach(p layout.Partition, outcomes ...book.Outcome) {
	w.t.Helper()
	b := book.Book{Outcomes: outcomes}
	for _, o := range outcomes {
		b.Links = append(b.Links, functionstest.Link(w.t, one, o.URL, 1))
	}
	functionstest.Learn(w.t, w.bucket, p, b)
	for crawl := range 2 {
		var before []frontier.Known
		for _, o := range outcomes {
			if (crawl == 1) == (o.URL[:len(one)] == one) {
				before = append(before, frontier.Known{ID: o.Identity(), Place: o.Place, State: o.State, Version: o.Version})
			}
		}
		if err := frontier.New(w.Redis, crawl).Mark(w.t.Context(), before); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestRenew checks that URLs that are due are requested again, by a sweep and by a rebuild, and
// that no other URLs are. The due URLs do not count as pending.
func TestRenew(t *testing.T) {
	const day = 24 * time.Hour
	missing := kept(t, 56, one+"missing", book.Unchanged, -2, 0)
	missing.Reason, missing.Status = "http 404", 404
	sitemap := kept(t, 57, one+"map.xml", book.Skipped, 0, 0)
	sitemap.Reason = membership.Sitemap
	alias := kept(t, 59, one+"alias", book.Skipped, 3, 0)
	alias.Reason = membership.Canonical
	outcomes := []book.Outcome{
		alias, kept(t, 51, one+"daily", book.Stored, 0, 0), kept(t, 52, one+"weekly", book.Stored, 3, 0), missing, sitemap,
		kept(t, 53, one+"twice", book.Stored, 0, 0), kept(t, 58, one+"twice", book.Unchanged, 1, time.Hour),
		kept(t, 54, one+"skipped", book.Skipped, 0, 0), kept(t, 55, one+"gone", book.Failed, 0, 0),
	}
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for _, rebuilt := range []bool{false, true} {
			if err := rdb.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, rdb)
			w.teach(0, outcomes...)
			w.run()
			for _, step := range []struct {
				after time.Duration
				want  []string
			}{
				{time.Minute, nil},
				{day / 4, []string{one + "missing"}},
				{day - time.Hour, nil},
				{day, []string{one + "daily", one + "map.xml"}},
				{2 * day, nil},
				{2*day + time.Hour, []string{one + "twice"}},
				{9 * day, []string{one + "alias", one + "weekly"}},
			} {
				w.clock.Advance(functionstest.Start.Add(step.after).Sub(w.clock.Now()))
				pending := w.frontier(1).Pending
				if rebuilt {
					if _, err := w.Rebuild(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				w.run()
				if rebuilt {
					w.free()
				}
				if diff := cmp.Diff(pending, w.frontier(1).Pending); diff != "" {
					t.Errorf("after %v pending (-before +after):\n%s", step.after, diff)
				}
				got := w.again(1)
				if rebuilt { // after a rebuild, also URLs that were due before and have no new outcome
					for _, url := range step.want {
						if _, found := got[url]; !found {
							t.Errorf("rebuilt after %v: %s does not wait", step.after, url)
						}
					}
				} else if diff := cmp.Diff(step.want, urlsOf(got)); diff != "" {
					t.Errorf("after %v wait again (-want +got):\n%s", step.after, diff)
				}
				if e, found := got[one+"missing"]; found && !rebuilt {
					want := frontier.Entry{
						URL: e.URL, ID: layout.IdentityOf(e.URL), Host: "one.example", Depth: 1, Exponent: -2, Collection: functionstest.Collection,
						Last: &batch.Look{Time: functionstest.Start, ETag: `"tag"`, Modified: "then", Digest: 7, Missing: true, Collections: []string{functionstest.Collection}},
					}
					if diff := cmp.Diff(want, e); diff != "" {
						t.Errorf("entry (-want +got):\n%s", diff)
					}
				}
				if e, found := got[one+"alias"]; found && e.Last.Digest != 0 {
					t.Errorf("the alias is compared with what it was: %+v", e.Last)
				}
				if e, found := got[one+"map.xml"]; found && (!e.Sitemap || e.Last.Missing) {
					t.Errorf("the sitemap is %+v", e)
				}
			}
		}
	})
}

// TestRenewWhatLeadsNowhere has a redirect and an alias that lead to the same page. After both were
// requested, a request for this page fails. The redirect and the alias must then be requested once
// more. This must hold for a sweep that looks for due URLs, and for a rebuild of the frontier.
func TestRenewWhatLeadsNowhere(t *testing.T) {
	leading := func(token uint64, url, reason string) book.Outcome {
		o := kept(t, token, url, book.Skipped, 3, 0)
		o.Reason, o.Detail, o.Digest = reason, "to "+one+"gone", 0
		return o
	}
	for _, rebuilt := range []bool{false, true} {
		w := newWorld(t, redistest.Server(t))
		step := func(want ...string) {
			t.Helper()
			w.clock.Advance(25 * time.Hour)
			if rebuilt {
				if _, err := w.Rebuild(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			w.run()
			if rebuilt {
				w.free()
			}
			got := w.again(1)
			delete(got, one+"stored")
			if diff := cmp.Diff(want, urlsOf(got)); diff != "" {
				t.Errorf("rebuilt %v: wait again (-want +got):\n%s", rebuilt, diff)
			}
		}
		w.teach(0, leading(51, one+"alias", membership.Canonical), leading(52, one+"moved", membership.Redirect),
			leading(60, one+"later", membership.Redirect), kept(t, 53, one+"gone", book.Stored, 6, 0))
		w.run()
		step()
		failed := kept(t, 55, one+"gone", book.Failed, 0, time.Hour)
		w.teach(0, failed)
		settled := frontier.Known{ID: failed.Identity(), Place: failed.Place, Version: failed.Version, State: failed.State}
		if err := frontier.New(w.Redis, 1).Mark(t.Context(), []frontier.Known{settled}); err != nil { // pack settles before it commits
			t.Fatal(err)
		}
		step(one+"alias", one+"moved")
		w.teach(0, leading(56, one+"alias", membership.Canonical), leading(57, one+"moved", membership.Redirect))
		step()
	}
}

// TestRenewedAndScheduled checks that all pages of a collection are requested again when its
// setting Renew asks for that, and when its schedule says so.
func TestRenewedAndScheduled(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	c := w.inForce.Collection(functionstest.Collection)
	w.inForce = functionstest.Republish(t, w.bucket, c, func(c *collection.Collection) { c.Schedule = "every 6h" })
	w.run()
	w.teach(0, kept(t, 51, one+"a", book.Stored, 6, 0), kept(t, 52, two+"b", book.Unchanged, 6, 0))
	both := func(when string, want ...string) {
		t.Helper()
		w.run()
		got := append(urlsOf(w.again(0)), urlsOf(w.again(1))...)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	both("at once")
	w.clock.Advance(2*time.Hour - time.Second)
	both("before midnight")
	w.clock.Advance(time.Second)
	both("at midnight", one+"a", two+"b") // the page in the spool is found once it is packed
	w.inForce = functionstest.Republish(t, w.bucket, c, func(c *collection.Collection) { c.Schedule, c.Renew = "once", w.clock.Now() })
	w.run()
	w.free()
	both("renewed", one+"a", two+"b", two+"page")
	w.teach(0, kept(t, 61, one+"a", book.Stored, 6, 3*time.Hour), kept(t, 62, two+"b", book.Unchanged, 6, 3*time.Hour))
	w.clock.Advance(1000 * time.Hour)
	both("looked at since")
}

// TestRenewThatFails checks that a failed search for due URLs is repeated.
func TestRenewThatFails(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	w.teach(0, kept(t, 51, one+"a", book.Stored, 0, 0))
	w.run()
	w.clock.Advance(24 * time.Hour)
	fail := true
	w.Bucket = faultblob.New(w.bucket, func(c faultblob.Call) faultblob.Fault {
		if fail && c.Op == faultblob.Get && len(c.Key) > 5 && c.Key[:5] == "books" {
			return faultblob.Before
		}
		return faultblob.None
	})
	if err := w.sweep(); !errors.Is(err, blob.ErrRetryable) {
		t.Errorf("sweep: %v", err)
	}
	fail = false
	w.run()
	if got := urlsOf(w.again(1)); !slices.Equal(got, []string{one + "a"}) {
		t.Errorf("wait again: %v", got)
	}
}
