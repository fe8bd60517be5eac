package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// site is a simulated crawl. Its maps stand for the bucket, from which a frontier can be rebuilt:
// they hold the URLs that were found, and for each stored URL the batch that stored it.
type site struct {
	fixture
	found  map[layout.Identity]Entry
	stored map[layout.Identity]layout.Version
	epoch  uint64
	now    time.Time
	leases []Lease // leases that have not ended

	rebuilds int
}

// newSite returns a site with some pages of three hosts. The URLs of one host have weights
// (priorities).
func newSite(t *testing.T, rdb *redis.Client) *site {
	t.Helper()
	s := &site{fixture: opened(t, rdb), found: map[layout.Identity]Entry{}, stored: map[layout.Identity]layout.Version{}, epoch: 1, now: noon}
	list := slices.Concat(entries("a", 5), entries("b", 5), weighed("c", 5, 200), []Entry{entry("a", "deep", 7), entry("b", "deep", 7)})
	for _, e := range list {
		s.found[e.ID] = e
	}
	s.admit(s.now, list...)
	return s
}

// rebuild rebuilds the frontier from what the site has recorded: the URLs that were found, and those
// that are stored.
func (s *site) rebuild() {
	s.t.Helper()
	s.rebuilds++
	s.epoch++
	rebuild := New(s.rdb, s.partition)
	s.must(rebuild.Reset(s.t.Context()))
	var known []Known
	var pending []Entry
	for id, e := range s.found {
		if v, done := s.stored[id]; done {
			known = append(known, Known{ID: id, Place: placeOf(e), Version: v, State: book.Stored, Tallies: []string{"h:docs:" + e.Host}})
		} else {
			pending = append(pending, e)
		}
	}
	s.must(rebuild.Mark(s.t.Context(), known))
	_, err := rebuild.Admit(s.t.Context(), s.now, pending)
	s.must(err)
	s.must(rebuild.Open(s.t.Context(), s.epoch, "", nil))
}

// turn does what one call of the functions schedule or pack does: it checks the frontier, rebuilds it
// if the check fails, and leases or settles a batch. It reports whether all URLs are stored.
func (s *site) turn() (done bool) {
	s.t.Helper()
	s.now = s.now.Add(2 * time.Second)
	err := s.Built(s.t.Context(), "")
	if errors.Is(err, ErrNotBuilt) {
		s.rebuild()
		err = s.Built(s.t.Context(), "")
	}
	s.must(err)
	if len(s.leases) == 2 {
		l := s.leases[0]
		s.leases = s.leases[1:]
		done := Settlement{Version: l.Version, Host: l.Host, Ended: s.now.Add(-time.Second), Failures: 1}
		for _, e := range l.Entries {
			r := result(e, book.Stored)
			r.Tallies = []string{"h:docs:" + e.Host}
			done.Outcomes = append(done.Outcomes, r)
			if l.Version.Compare(s.stored[e.ID]) > 0 {
				s.stored[e.ID] = l.Version
			}
		}
		s.settle(done)
		return false
	}
	_, err = s.Expire(s.t.Context(), s.now)
	s.must(err)
	r := request(s.now)
	r.Max, r.Deadline, r.Rooms = 2, s.now.Add(10*time.Second), map[string]int64{"docs": 100}
	lease, leased, err := s.Lease(s.t.Context(), r)
	if errors.Is(err, ErrNotBuilt) {
		return false
	}
	s.must(err)
	if leased {
		s.leases = append(s.leases, lease)
	}
	c, err := s.Counts(s.t.Context())
	s.must(err)
	return c.Waiting+c.Leased == 0 && s.Built(s.t.Context(), "") == nil
}

// finish crawls to the end, and checks that all pages are stored. Messages of failures begin with the
// given text.
func (s *site) finish(story string) {
	s.t.Helper()
	for turns := 0; !s.turn(); turns++ {
		if turns > 200 {
			c, _ := s.Counts(s.t.Context())
			s.t.Errorf("%s: the crawl stands, %+v", story, c)
			return
		}
	}
	if len(s.stored) != len(s.found) || s.counts().Stored != int64(len(s.found)) {
		s.t.Errorf("%s: %d of %d pages are stored, %+v", story, len(s.stored), len(s.found), s.counts())
	}
}

// keys returns all keys of a Redis.
func keys(t testing.TB, rdb redis.UniversalClient) []string {
	t.Helper()
	names, err := rdb.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// TestLostKey deletes each key of the frontier in turn, at several moments. The next Check must
// notice the loss; the loss of a queue may be noticed only when its host is leased. The crawl
// must end with all pages.
func TestLostKey(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		met := map[string]bool{}
		moments := racetest.Rounds([]int{0, 2, 5, 12}, []int{2, 5, 12})
		if redistest.IsEmbedded(t) {
			moments = moments[2:3]
		}
		for _, turns := range moments {
			for i := 0; ; i += racetest.Rounds(1, 9) {
				if err := rdb.FlushAll(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
				s := newSite(t, rdb)
				s.must(s.Learning(t.Context(), 2, "", "1a"))
				s.must(s.Hold(t.Context(), []Held{{Version: layout.Version{Epoch: 1, Token: 900}, Host: "elsewhere", Deadline: s.now.Add(time.Hour)}}))
				for range turns {
					s.turn()
				}
				all := keys(t, rdb)
				if i >= len(all) {
					break
				}
				key := strings.TrimPrefix(all[i], s.prefix())
				s.must(rdb.Del(t.Context(), all[i]).Err())
				kind, _, _ := strings.Cut(key, ":")
				met[kind] = true
				err := s.Built(t.Context(), "")
				if kind != "q" && !errors.Is(err, ErrNotBuilt) {
					t.Errorf("%s lost after %d turns: Built: %v, want ErrNotBuilt", key, turns, err)
				}
				s.finish(fmt.Sprintf("%s lost after %d turns", key, turns))
				if s.rebuilds == 0 {
					t.Errorf("%s lost after %d turns: nothing was rebuilt", key, turns)
				}
			}
		}
		for _, kind := range []string{"epoch", "settings", "learnt", "known", "counts", "tallies", "out", "q", "filled", "hosts", "next", "failures", "active", "closed", "leases", "lease", "frontier"} {
			if !met[kind] && racetest.Rounds(true, false) {
				t.Errorf("%s was not lost", kind)
			}
		}
	})
}

// TestLostMeanwhile: during a rebuild, Redis loses one of the frontier's keys. Then Open must fail at
// the end of the rebuild, or the method Built must say afterwards that the frontier is not built.
func TestLostMeanwhile(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		for _, lost := range []string{"known", "counts", "q:1:a", "filled", "hosts"} {
			rebuild := New(f.rdb, 3)
			f.must(rebuild.Reset(t.Context()))
			_, err := rebuild.Admit(t.Context(), noon, entries("a", 2))
			f.must(err)
			if lost == "q:1:a" {
				f.must(f.rdb.Del(t.Context(), queueKey(t, f.Frontier, "1", "a")).Err())
			}
			f.must(f.rdb.Del(t.Context(), f.key(lost)).Err())
			_, err = rebuild.Admit(t.Context(), noon, entries("a", 4)[2:])
			f.must(err)
			err = rebuild.Open(t.Context(), 1, "", nil)
			if err == nil {
				err = f.Built(t.Context(), "")
				if !errors.Is(err, ErrNotBuilt) {
					t.Errorf("%s lost during a rebuild: %v, want ErrNotBuilt", lost, err)
				}
			} else if !errors.Is(err, ErrReset) {
				t.Errorf("%s lost during a rebuild: Open: %v", lost, err)
			}
		}
	})
}

// snapshot copies the contents of a Redis, as it would store them on disk, and returns a
// function that restores them.
func snapshot(t testing.TB, rdb redis.UniversalClient) (restore func(context.Context)) {
	t.Helper()
	var calls []func(context.Context) error
	for _, key := range keys(t, rdb) {
		ctx := t.Context()
		switch kind := rdb.Type(ctx, key).Val(); kind {
		case "string":
			value := rdb.Get(ctx, key).Val()
			calls = append(calls, func(ctx context.Context) error { return rdb.Set(ctx, key, value, 0).Err() })
		case "hash":
			fields := rdb.HGetAll(ctx, key).Val()
			calls = append(calls, func(ctx context.Context) error { return rdb.HSet(ctx, key, fields).Err() })
		case "list":
			items := rdb.LRange(ctx, key, 0, -1).Val()
			calls = append(calls, func(ctx context.Context) error { return rdb.RPush(ctx, key, items).Err() })
		case "zset":
			members := rdb.ZRangeWithScores(ctx, key, 0, -1).Val()
			calls = append(calls, func(ctx context.Context) error { return rdb.ZAdd(ctx, key, members...).Err() })
		case "set":
			members := rdb.SMembers(ctx, key).Val()
			calls = append(calls, func(ctx context.Context) error { return rdb.SAdd(ctx, key, members).Err() })
		default:
			t.Fatalf("%s is a %s", key, kind)
		}
	}
	return func(ctx context.Context) {
		t.Helper()
		if err := rdb.FlushAll(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		for _, call := range calls {
			if err := call(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestOlderRedis: each lease and each rebuild raises the version that Check returns. If Redis is
// then replaced by an older copy of itself, Check returns no error, but a lower version.
func TestOlderRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := newSite(t, rdb)
		seen, err := s.Check(t.Context(), "")
		s.must(err)
		for _, event := range []string{"lease", "lease", "rebuild", "lease", "rebuild"} {
			restore := snapshot(t, rdb)
			before := seen
			if event == "lease" {
				s.now = s.now.Add(time.Second)
				s.lease(request(s.now))
			} else {
				s.rebuild()
			}
			if seen, err = s.Check(t.Context(), ""); err != nil || seen.Compare(before) <= 0 {
				t.Errorf("after a %s: %v, %v, want more than %v", event, seen, err, before)
			}
			now := snapshot(t, rdb)
			restore(t.Context())
			if older, err := s.Check(t.Context(), ""); err != nil || older.Compare(seen) >= 0 {
				t.Errorf("before a %s: %v, %v, want less than %v", event, older, err, seen)
			}
			now(t.Context())
		}
	})
}

// TestOtherLayout: a frontier that was built by another version of the program counts as not
// built, and a rebuild deletes all its keys.
func TestOtherLayout(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		s := newSite(t, rdb)
		first := map[string]any{ // in the layout of the version before
			"epoch": "1", "settings": "", "rebuild": "x:3", "missed": "1",
		}
		s.must(rdb.FlushAll(t.Context()).Err())
		for name, value := range first {
			s.must(rdb.Set(t.Context(), s.key(name), value, 0).Err())
		}
		e := entry("gone", "x", 1)
		element, err := e.element("")
		s.must(err)
		s.must(rdb.HSet(t.Context(), s.key("known"), string(e.ID[:]), "w\x00\x01\x00\x00\x00").Err())
		s.must(rdb.HSet(t.Context(), s.key("counts"), "w", 1).Err())
		s.must(rdb.RPush(t.Context(), s.key("q:1:gone"), element).Err())
		s.must(rdb.ZAdd(t.Context(), s.key("hosts"), redis.Z{Score: 1, Member: "gone"}).Err())

		for what, call := range map[string]func() error{
			"Built": func() error { return s.Built(t.Context(), "") },
			"Epoch": func() error { _, err := s.Epoch(t.Context()); return err },
			"Lease": func() error { _, _, err := s.Lease(t.Context(), request(noon)); return err },
			"Admit": func() error { _, err := s.Under("").Admit(t.Context(), noon, []Entry{e}); return err },
		} {
			if err := call(); !errors.Is(err, ErrNotBuilt) {
				t.Errorf("%s of another layout: %v, want ErrNotBuilt", what, err)
			}
		}
		s.finish("another layout")
		for _, key := range keys(t, rdb) {
			if strings.Contains(key, "gone") || strings.HasSuffix(key, "missed") {
				t.Errorf("%s is left", key)
			}
		}
	})
}
