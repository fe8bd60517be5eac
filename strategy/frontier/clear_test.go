package frontier

import (
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/run"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// queues returns the keys of all queues, of any generation, and of the lists of their hosts.
func (f fixture) queues() []string {
	f.t.Helper()
	queues, err := f.rdb.Keys(f.t.Context(), f.key("q*")).Result()
	f.must(err)
	old, err := f.rdb.Keys(f.t.Context(), f.key("old*")).Result()
	f.must(err)
	return append(queues, old...)
}

// TestClear: a process dies after the script of Reset, so that the former queues are not deleted. The
// next Reset must delete them, too. This must also hold if Redis has lost the letters of the hosts.
func TestClear(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for _, lost := range []string{"", "filled"} {
			f := opened(t, rdb)
			for i := range 1100 { // more hosts than are cleared in one step
				f.admit(noon, entries(fmt.Sprint("host", i), 1)...)
			}
			heavy := entry("heavy", "x", 1)
			heavy.Weight = 200
			f.admit(noon, heavy)
			f.waitAgain(book.Stored, entry("b", "stored", 1))
			if lost != "" {
				f.must(rdb.Del(t.Context(), f.key(lost)).Err())
			}
			f.must(New(rdb, 3).run(t.Context(), resetScript, "dead:0", "dead").Err())
			if n := len(f.queues()); n < 1100 {
				t.Errorf("%d keys right after the script", n)
			}
			f.must(f.Reset(t.Context()))
			if left := f.queues(); len(left) > 0 {
				t.Errorf("lost %q: left %q", lost, left)
			}
		}
	})
}

// TestResume: the process of a rebuild dies, and another one goes on with the rebuild. That must fail if
// anything else has happened to the frontier meanwhile.
func TestResume(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for name, test := range map[string]struct {
			meanwhile func(f fixture, restore func())
			want      bool
		}{
			"nothing":               {func(fixture, func()) {}, true},
			"further calls":         {func(f fixture, _ func()) { f.admit(noon, entries("a", 4)[2:]...) }, true},
			"the rebuild ends":      {func(f fixture, _ func()) { f.must(f.Open(t.Context(), 1, "", nil)) }, false},
			"another rebuild":       {func(f fixture, _ func()) { f.must(New(rdb, 3).Reset(t.Context())) }, false},
			"Distrust":              {func(f fixture, _ func()) { f.must(f.Distrust(t.Context())) }, false},
			"Redis is lost":         {func(f fixture, _ func()) { f.must(rdb.FlushAll(t.Context()).Err()) }, false},
			"Redis is an old copy":  {func(_ fixture, restore func()) { restore() }, false},
			"a name without number": {func(f fixture, _ func()) { f.must(rdb.Set(t.Context(), f.key("rebuild"), "x", 0).Err()) }, false},
		} {
			f := fixture{New(rdb, 3), t}
			f.must(rdb.FlushAll(t.Context()).Err())
			if step := f.Step(); step != "" {
				t.Errorf("step %q before the rebuild", step)
			}
			f.must(f.Reset(t.Context()))
			old := snapshot(t, rdb)
			f.admit(noon, entries("a", 2)...)
			step := f.Step()
			test.meanwhile(f, func() { old(t.Context()) })

			next := fixture{New(rdb, 3), t}
			resumed, err := next.Resume(t.Context(), step)
			if err != nil || resumed != test.want {
				t.Errorf("%s: resumed %v, %v; want %v", name, resumed, err, test.want)
			}
			if !resumed {
				continue
			}
			next.admit(noon, entries("a", 6)...)
			if _, err := f.Admit(t.Context(), noon, entries("b", 1)); !errors.Is(err, ErrReset) {
				t.Errorf("%s: the first process admits: %v, want ErrReset", name, err)
			}
			next.must(next.Open(t.Context(), 1, "", nil))
			next.must(next.Built(t.Context(), ""))
			if n := next.counts().Waiting; n != 6 {
				t.Errorf("%s: %d wait, want 6", name, n)
			}
		}
	})
}

// TestResumeOtherLayout: a program with another layout has begun a rebuild and died. A program with this layout must begin
// anew, and not go on with it.
func TestResumeOtherLayout(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		for _, dead := range []string{"dead:0", "1000-dead:0"} {
			f.must(New(f.rdb, 3).run(t.Context(), resetScript, dead, "dead").Err())
			if resumed, err := New(f.rdb, 3).Resume(t.Context(), dead); resumed || err != nil {
				t.Errorf("%s: resumed %v, %v", dead, resumed, err)
			}
		}
	})
}

// TestFailed asks for failed URLs, in every state in which a URL that has failed may be.
func TestFailed(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		failed, again, leased, stored, waits := entry("a", "failed", 1), entry("b", "again", 1), entry("c", "leased", 1), entry("d", "stored", 1), entry("e", "waits", 1)
		f.admit(noon, waits)
		f.waitAgain(book.Failed, leased)
		f.lease(request(noon))
		f.lease(request(noon))
		f.waitAgain(book.Failed, again)
		f.must(f.Mark(t.Context(), []Known{{ID: failed.ID, Place: placeOf(failed), State: book.Failed}, {ID: stored.ID, Place: placeOf(stored), State: book.Stored}}))
		var urls []run.URL
		for _, e := range []Entry{failed, again, leased, stored, waits, entry("f", "unknown", 1)} {
			urls = append(urls, inRuns(e))
		}
		got, err := f.Failed(t.Context(), urls)
		f.must(err)
		for _, e := range []Entry{failed, again, leased} {
			if _, found := got[e.ID]; !found {
				t.Errorf("%s is not among the failed ones", e.URL)
			}
		}
		if len(got) != 3 {
			t.Errorf("%d failed, want 3", len(got))
		}
	})
}
