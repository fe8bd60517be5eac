package frontier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/run"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// mark gives the URLs of some entries a final state.
func (f fixture) mark(s book.State, list ...Entry) {
	f.t.Helper()
	var known []Known
	for _, e := range list {
		known = append(known, Known{ID: e.ID, Place: placeOf(e), Version: token(1), State: s, Tallies: []string{"c:docs"}})
	}
	f.must(f.Mark(f.t.Context(), known))
}

// retire moves the states of all finished URLs to a run, and returns how many were moved.
func (f fixture) retire() int {
	f.t.Helper()
	n, err := f.Retire(f.t.Context(), 0)
	f.must(err)
	return n
}

// finalHere returns the number of final states in Redis.
func (f fixture) finalHere() int64 {
	f.t.Helper()
	h, err := f.holding(f.t.Context())
	f.must(err)
	return h.final
}

// TestRetire moves finished URLs to a run. Redis then has only the others, and every method finds the states in the
// run.
func TestRetire(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		stored, failed, forgotten := entry("a", "stored", 1), entry("b", "failed", 1), entry("b", "forgotten", 1)
		waits, again, behind := entry("c", "waits", 1), entry("d", "again", 1), entry("e", "behind", 3)
		f.mark(book.Stored, stored, forgotten, again)
		f.mark(book.Failed, failed)
		f.renew(due(again, "", token(1)))
		f.admit(noon, waits, behind)
		f.mark(book.Skipped, behind) // its element stays in the queue
		counts, known := f.counts(), f.known()
		if n := f.retire(); n != 3 || f.finalHere() != 1 {
			t.Errorf("%d URLs retired and %d stayed, want 3 and 1", n, f.finalHere())
		}
		if here := redistest.Known(t, f.rdb, f.partition); len(here) != 3 {
			t.Errorf("Redis has %d URLs, want the 3 that are not finished", len(here))
		}
		check := func(when string) {
			t.Helper()
			f.must(f.Built(t.Context(), ""))
			if diff := cmp.Diff(counts, f.counts()); diff != "" {
				t.Errorf("%s: counts differ: %s", when, diff)
			}
			if diff := cmp.Diff(known, f.known()); diff != "" {
				t.Errorf("%s: known URLs differ: %s", when, diff)
			}
		}
		check("after Retire")
		decided, err := f.Decided(t.Context(), []run.URL{inRuns(stored), inRuns(failed)})
		if diff := cmp.Diff(map[layout.Identity]layout.Version{stored.ID: token(1)}, decided); err != nil || diff != "" {
			t.Errorf("decided: %v, %s", err, diff)
		}
		if got, err := f.Describe(t.Context(), addressOf(failed)); err != nil || got != "was decided by batch "+token(1).String() {
			t.Errorf("described as %q, %v", got, err)
		}
		if n := f.admit(noon, stored, failed); n != 0 {
			t.Errorf("%d finished URLs were admitted as new", n)
		}
		f.settle(Settlement{Version: token(1), Host: "a", Ended: noon, Outcomes: []Result{result(stored, book.Failed)}}) // repeated
		check("after late calls")
		if n := f.finalHere(); n != 3 {
			t.Errorf("%d finished URLs in Redis, want those 2 that were needed again, and the one that stayed", n)
		}
		f.must(f.Forget(t.Context(), map[layout.Identity]Removal{forgotten.ID: Remove, stored.ID: Remove}))
		delete(known, string(forgotten.ID[:]))
		delete(known, string(stored.ID[:]))
		counts.Stored -= 2
		check("after Forget")
		if n := f.admit(noon, forgotten); n != 1 {
			t.Errorf("%d admitted, want the URL that was forgotten", n)
		}
	})
}

// TestRetireGroups retires thousands of URLs in many calls. There must be few runs, few requests for one URL, and
// all states must be right, also of those URLs that have changed since.
func TestRetireGroups(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		bucket := countblob.New(f.bucket)
		f.WithRuns(bucket)
		want := map[string]string{}
		for round := range 40 {
			list := entries(fmt.Sprintf("host%d.example", round%7), 30+round*3)
			var known []Known
			for _, e := range list {
				k := Known{ID: e.ID, Place: placeOf(e), Version: token(uint64(round)), State: book.Failed}
				known = append(known, k)
				want[string(e.ID[:])], _ = finalState(k.State, k.Version, k.Place.Site(), nil)
			}
			f.must(f.Mark(t.Context(), known))
			f.retire()
		}
		if diff := cmp.Diff(want, f.known()); diff != "" {
			t.Errorf("known URLs differ: %s", diff)
		}
		if n := len(redistest.Known(t, f.rdb, f.partition)); n != 0 {
			t.Errorf("Redis has %d URLs, want none", n)
		}
		text, err := f.readList(t.Context())
		f.must(err)
		list, err := parseList(text)
		f.must(err)
		objects, err := blob.List(t.Context(), f.bucket, layout.Runs)
		f.must(err)
		if len(list.Groups) > 8 || len(objects) != len(slices.Concat(list.Groups...)) {
			t.Errorf("%d groups, and %d runs in the bucket", len(list.Groups), len(objects))
		}
		before := bucket.Counts().Get
		if n := f.admit(noon, entry("host3.example", "7", 1)); n != 0 {
			t.Errorf("%d admitted, want none", n)
		}
		if gets := bucket.Counts().Get - before; gets <= int64(len(list.Groups)) || gets > 2*int64(len(list.Groups)) {
			t.Errorf("%d requests for one URL in %d groups", gets, len(list.Groups))
		}
		f.WithRunCache(new(RunCache))
		f.admit(noon, entry("host3.example", "8", 1))
		before = bucket.Counts().Get
		f.admit(noon, entry("host3.example", "9", 1))
		if gets := bucket.Counts().Get - before; gets > 0 {
			t.Errorf("%d requests for a URL whose neighbours were needed before", gets)
		}
		before = bucket.Counts().Get
		f.admit(noon, entry("host3.example", "7", 1))
		if gets := bucket.Counts().Get - before; gets > 0 {
			t.Errorf("%d requests for a URL that was needed just before", gets)
		}
	})
}

// meddling is a bucket that calls a function before each request to read or to create an object.
type meddling struct {
	blob.Bucket
	before func()
}

func (m meddling) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	m.before()
	return m.Bucket.Get(ctx, key, r)
}

func (m meddling) Create(ctx context.Context, key string, content []byte) error {
	m.before()
	return m.Bucket.Create(ctx, key, content)
}

// TestChangedMeanwhile: while the first run is written, a URL whose state is in it is forgotten, and another one gets
// a new state. Neither may get back its state from before.
func TestChangedMeanwhile(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list, changed := entries("a", 3), false
		f.mark(book.Stored, list...)
		other := fixture{New(f.rdb, f.partition).WithRuns(f.bucket), t}
		f.WithRuns(meddling{f.bucket, func() {
			if changed {
				return
			}
			changed = true
			other.must(other.Forget(t.Context(), map[layout.Identity]Removal{list[0].ID: Remove}))
			other.settle(Settlement{Version: token(2), Host: "a", Ended: noon, Outcomes: []Result{result(list[1], book.Failed)}})
		}})
		f.retire()
		failed, err := f.Failed(t.Context(), []run.URL{inRuns(list[0]), inRuns(list[1]), inRuns(list[2])})
		if diff := cmp.Diff(map[layout.Identity]layout.Version{list[1].ID: token(2)}, failed); err != nil || diff != "" {
			t.Errorf("failed: %v, %s", err, diff)
		}
		if n := f.admit(noon, list...); n != 1 {
			t.Errorf("%d admitted, want the URL that was forgotten", n)
		}
	})
}

// TestRetireMeanwhile: while one process looks up URLs in runs, another moves the states of just these URLs, which
// have changed, to a new run, and deletes the run before. The first process must not overlook them.
func TestRetireMeanwhile(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := entries("a", 20)
		f.mark(book.Stored, list[:10]...)
		f.retire()
		other, calls := fixture{New(f.rdb, f.partition).WithRuns(f.bucket), t}, 0
		f.WithRuns(meddling{f.bucket, func() {
			if calls++; calls%3 == 1 && calls < 9 {
				other.mark(book.Stored, list[10:]...)
				other.retire()
			}
		}})
		if n := f.admit(noon, list...); n > 10 {
			t.Errorf("%d admitted, want at most those that were unknown at the beginning", n)
		}
		f.must(f.Built(t.Context(), ""))
		if c := f.counts(); c.Stored != 20 || c.Waiting != c.Again {
			t.Errorf("%+v, want 20 URLs stored and none waiting for the first time", c)
		}
	})
}

// TestListChangedMeanwhile: while one goroutine looks up an unknown URL in runs, another one with the same RunCache stores
// it. The state moves to a new run, of which the RunCache then has learnt. The first goroutine must not go on with what
// it has found in the runs before, or the URL would be requested again.
func TestListChangedMeanwhile(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := entries("a", 9)
		sought, others := list[4], slices.Concat(list[:4], list[5:])
		f.mark(book.Stored, others...)
		f.retire()
		var cache RunCache
		other, changed := fixture{New(f.rdb, f.partition).WithRuns(f.bucket).WithRunCache(&cache), t}, false
		f.WithRunCache(&cache).WithRuns(meddling{f.bucket, func() {
			if changed {
				return
			}
			changed = true
			other.mark(book.Stored, sought)
			other.retire()
			other.admit(noon, others...)
		}})
		if n := f.admit(noon, sought); n != 0 || !changed {
			t.Errorf("%d admitted, want none: the URL is stored", n)
		}
		if c := f.counts(); c.Stored != 9 || c.Waiting != 0 {
			t.Errorf("%+v, want 9 URLs stored and none waiting", c)
		}
	})
}

// TestRetireKilled kills Retire at each call of the bucket, before and after the call. The frontier knows the same as
// before, and the next Retire moves what is left.
func TestRetireKilled(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
			f := opened(t, rdb)
			f.must(f.rdb.FlushDB(t.Context()).Err())
			f.must(f.Open(t.Context(), 1, "", nil))
			list := entries("a", 30)
			f.mark(book.Stored, list[:10]...)
			f.retire()
			f.mark(book.Stored, list[10:]...)
			known, whole := f.known(), f.bucket
			_, err := New(f.rdb, f.partition).WithRuns(faultblob.New(whole, decide)).Retire(t.Context(), 0)
			if diff := cmp.Diff(known, f.known()); diff != "" {
				t.Errorf("known URLs differ: %s", diff)
			}
			if err != nil {
				f.retire()
			}
			if diff := cmp.Diff(known, f.known()); diff != "" || f.finalHere() != 0 {
				t.Errorf("%d finished URLs in Redis, and known URLs differ: %s", f.finalHere(), diff)
			}
			f.must(f.Built(t.Context(), ""))
		})
	})
}

// TestLostRun: a run is deleted or damaged. The call that needs it changes nothing, and the frontier counts as not
// built.
func TestLostRun(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		for name, harm := range map[string]func(key string, content []byte) error{
			"deleted": func(key string, _ []byte) error { return f.bucket.Delete(t.Context(), key) },
			"damaged": func(key string, content []byte) error {
				content[9] ^= 1
				return f.bucket.Replace(t.Context(), key, content)
			},
		} {
			f.must(f.Reset(t.Context()))
			f.must(f.Open(t.Context(), 1, "", nil))
			f.mark(book.Stored, entries("a", 30)...)
			f.retire()
			objects, err := blob.List(t.Context(), f.bucket, layout.RunPrefix(f.partition))
			f.must(err)
			content, err := f.bucket.Get(t.Context(), objects[0].Key, blob.Range{})
			f.must(err)
			f.must(harm(objects[0].Key, content))
			counts := f.counts()
			if _, err := f.Admit(t.Context(), noon, entries("a", 40)); !errors.Is(err, ErrNotBuilt) {
				t.Errorf("%s: %v, want ErrNotBuilt", name, err)
			}
			if diff := cmp.Diff(counts, f.counts()); diff != "" {
				t.Errorf("%s: counts differ: %s", name, diff)
			}
			if err := f.Built(t.Context(), ""); !errors.Is(err, ErrNotBuilt) {
				t.Errorf("%s: Built: %v, want ErrNotBuilt", name, err)
			}
			f.must(f.bucket.Delete(t.Context(), objects[0].Key))
		}
	})
}

// TestRetireFromFullRedis: Redis has no free memory. Retire works all the same, and then there is some.
func TestRetireFromFullRedis(t *testing.T) {
	f := opened(t, redistest.Server(t))
	f.mark(book.Stored, entries("a", 9000)...)
	const less = 64 << 10 // Redis may free a buffer of this size meanwhile; the 9000 states take more than 400 KB
	f.must(f.rdb.ConfigSet(t.Context(), "maxmemory", fmt.Sprint(memory(t, f.rdb, "used_memory")-less)).Err())
	if _, err := f.Admit(t.Context(), noon, entries("b", 1)); !redis.IsOOMError(errors.Unwrap(err)) {
		t.Errorf("%v, want Redis to be full", err)
	}
	if n := f.retire(); n != 9000 {
		t.Errorf("%d URLs retired, want 9000", n)
	}
	f.must(f.rdb.ConfigSet(t.Context(), "maxmemory", "0").Err())
	f.must(f.Built(t.Context(), ""))
}

// TestRetireFew: Retire reads and moves nothing as long as few final states could be moved.
func TestRetireFew(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		retire := func(most int64, want int) {
			t.Helper()
			if n, err := f.Retire(t.Context(), most); err != nil || n != want {
				t.Errorf("%d URLs retired, %v, want %d", n, err, want)
			}
		}
		behind := entries("behind", 8)
		f.admit(noon, behind...)
		f.mark(book.Failed, behind...) // their elements stay in a queue
		f.mark(book.Stored, entries("a", 12)...)
		retire(20, 0)
		retire(19, 12)
		f.mark(book.Stored, entries("b", 9)...)
		retire(9, 0) // those that stayed do not count
		retire(8, 9)
		f.admit(noon, entries("c", 800)...)
		f.mark(book.Stored, entries("d", 40)...)
		retire(8, 0) // to find them, all other states must be read
		f.mark(book.Stored, entries("e", 40)...)
		retire(8, 80)
	})
}

// TestClearRuns deletes only old runs that the frontier does not need, and none during a rebuild.
func TestClearRuns(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.mark(book.Stored, entries("a", 30)...)
		f.retire()
		keep, foreign := slices.Collect(maps.Keys(f.retired())), layout.RunPrefix(f.partition)+"notes"
		unneeded := layout.RunKey(f.partition, strings.Repeat("0", 32))
		for _, key := range []string{unneeded, foreign} {
			f.must(f.bucket.Create(t.Context(), key, []byte("x")))
		}
		found := func() (left []string) {
			objects, err := blob.List(t.Context(), f.bucket, layout.Runs)
			f.must(err)
			for _, object := range objects {
				if object.Key == unneeded || object.Key == foreign {
					left = append(left, object.Key)
				}
			}
			return left
		}
		f.must(f.ClearRuns(t.Context(), time.Unix(0, 0)))
		if diff := cmp.Diff([]string{unneeded, foreign}, found()); diff != "" {
			t.Errorf("what is young: %s", diff)
		}
		f.must(f.ClearRuns(t.Context(), time.Unix(1<<40, 0)))
		if diff := cmp.Diff([]string{foreign}, found()); diff != "" {
			t.Errorf("what is old: %s", diff)
		}
		if n := len(f.retired()); n != len(keep) {
			t.Errorf("%d states in runs, want %d", n, len(keep))
		}
		f.must(f.bucket.Create(t.Context(), unneeded, []byte("x")))
		f.must(f.Reset(t.Context()))
		f.must(f.ClearRuns(t.Context(), time.Unix(1<<40, 0)))
		if diff := cmp.Diff([]string{unneeded, foreign}, found()); diff != "" {
			t.Errorf("while it is rebuilt: %s", diff)
		}
	})
}

// TestFewRead: without runs, nothing is read or written in the bucket.
func TestFewRead(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		bucket := countblob.New(memblob.New())
		f.WithRuns(bucket)
		f.admit(noon, entries("a", 30)...)
		f.settle(settlement(f.lease(request(noon)), noon, book.Stored))
		f.must(f.Forget(t.Context(), map[layout.Identity]Removal{entry("a", "1", 1).ID: Remove}))
		if c := bucket.Counts(); c.Get+c.List+c.Put > 0 {
			t.Errorf("%+v, want no requests", c)
		}
	})
}

// TestRunDamagedAgain: a run is damaged, and the frontier is rebuilt. The same states then go into a run with the same
// name, in whose place the damaged object stands.
func TestRunDamagedAgain(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := entries("a", 30)
		f.mark(book.Stored, list...)
		f.retire()
		objects, err := blob.List(t.Context(), f.bucket, layout.RunPrefix(f.partition))
		f.must(err)
		f.must(f.bucket.Replace(t.Context(), objects[0].Key, []byte("damaged")))
		f.must(f.Reset(t.Context()))
		f.must(f.Open(t.Context(), 2, "", nil))
		f.mark(book.Stored, list...)
		if n := f.retire(); n != len(list) {
			t.Errorf("%d URLs retired, want %d", n, len(list))
		}
		if n := f.admit(noon, list...); n != 0 {
			t.Errorf("%d finished URLs were admitted as new", n)
		}
	})
}

// TestUnqueueUnknown: to take URLs from the queues that the frontier does not know, or that are finished, no run is
// read: the states of URLs in queues are in Redis.
func TestUnqueueUnknown(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		list := entries("a", 30)
		f.mark(book.Stored, list[:20]...)
		f.retire()
		f.admit(noon, list[20])
		bucket, urls := countblob.New(f.bucket), map[layout.Identity]Removal{}
		f.WithRuns(bucket)
		for _, e := range list {
			urls[e.ID] = Unqueue
		}
		counts := f.counts()
		counts.Waiting--
		f.must(f.Forget(t.Context(), urls))
		if diff := cmp.Diff(counts, f.counts()); diff != "" {
			t.Errorf("counts differ: %s", diff)
		}
		if c := bucket.Counts(); c.Get != 0 {
			t.Errorf("%d requests, want none", c.Get)
		}
		urls[list[0].ID], urls[list[1].ID] = Remove, Remove
		counts.Stored -= 2
		f.must(f.Forget(t.Context(), urls))
		if diff := cmp.Diff(counts, f.counts()); diff != "" {
			t.Errorf("counts differ: %s", diff)
		}
	})
}

// TestMergedFrom: which groups are merged with a new one, by their numbers of URLs.
func TestMergedFrom(t *testing.T) {
	for _, test := range []struct {
		groups []int
		urls   int
		want   int
		why    string
	}{
		{nil, 10, 0, "there is none"},
		{[]int{100, 20}, 10, 1, "the last is at most twice as large, the one before is not"},
		{[]int{60, 20}, 10, 0, "both, one after another"},
		{[]int{100, 21}, 10, 2, "the last is too large"},
		{[]int{950, 500}, 490, 1, "both together are more than 1000"},
		{[]int{950, 500}, 501, 2, "even the last is too much"},
	} {
		var groups [][]listedRun
		for _, urls := range test.groups {
			groups = append(groups, []listedRun{{URLs: urls / 2}, {URLs: urls - urls/2}})
		}
		if got := mergedFrom(groups, test.urls, 1000); got != test.want {
			t.Errorf("groups %v and %d URLs: merged from group %d, want %d: %s", test.groups, test.urls, got, test.want, test.why)
		}
	}
}

// commands counts the commands that are sent to Redis.
type commands struct{ n int }

func (c *commands) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *commands) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (c *commands) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.n++
		return next(ctx, cmd)
	}
}

// TestRunCache: a frontier with the cache of another knows the list of runs, and needs one command where the other had
// to read the list first. When another process has changed the list, both read it once.
func TestRunCache(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		f.mark(book.Stored, entries("a", 30)...)
		f.retire()
		f.admit(noon, entries("a", 30)...) // now all are in Redis, too
		sent, cache := new(commands), new(RunCache)
		f.rdb.(*redis.Client).AddHook(sent)
		admit := func(want int) {
			t.Helper()
			another := fixture{New(f.rdb, f.partition).WithRuns(f.bucket).WithRunCache(cache), t}
			before := sent.n
			if n := another.admit(noon, entries("a", 30)...); n != 0 || sent.n-before != want {
				t.Errorf("%d commands, want %d; %d admitted, want none", sent.n-before, want, n)
			}
		}
		admit(3)
		admit(1)
		f.mark(book.Stored, entries("b", 9)...)
		f.retire()
		admit(4) // the states are in a run again: it is read
		admit(1)
	})
}
