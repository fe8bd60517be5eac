package lease

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

var noon = time.UnixMilli(1_800_000_000_000)

// TestLease takes, renews and releases the lease on one name in steps: each has the holder, the
// operation, the time in seconds, and whether it must succeed.
func TestLease(t *testing.T) {
	steps := []struct {
		holder, does string
		second       int
		want         bool
	}{
		{"a", "acquire", 0, true},
		{"b", "acquire", 0, false},
		{"a b", "acquire", 0, false},
		{"a", "acquire", 1, true}, // repeated, as after a lost reply; the lease ends at 11
		{"b", "acquire", 10, false},
		{"b", "renew", 10, false},
		{"a", "renew", 10, true}, // the lease ends at 20
		{"b", "acquire", 19, false},
		{"b", "release", 19, true}, // b does not hold the lease
		{"b", "acquire", 19, false},
		{"b", "acquire", 20, true},
		{"a", "renew", 21, false},
		{"a", "release", 21, true},
		{"a", "acquire", 21, false},
		{"b", "renew", 40, true}, // the lease has ended, but nobody has taken it
		{"b", "release", 41, true},
		{"b", "renew", 41, false},
		{"a", "acquire", 41, true},
		{"b", "acquire", 32, false}, // the clock of b is a little behind
		{"b", "acquire", 30, true},  // too far behind: the lease counts as one of a wrong clock, and is free
	}
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const ttl = 10 * time.Second
		ctx, name := t.Context(), "rank 0003"
		for i, s := range steps {
			leases, now := New(rdb, s.holder), noon.Add(time.Duration(s.second)*time.Second)
			held := Lease{Name: name, Until: now.Add(ttl)}
			got, ok, err := held, true, error(nil)
			switch s.does {
			case "acquire":
				got, ok, err = leases.Acquire(ctx, name, now, ttl)
			case "renew":
				got, ok, err = leases.Renew(ctx, held, now, ttl)
			case "release":
				err = leases.Release(ctx, held)
			}
			if err != nil || ok != s.want {
				t.Fatalf("step %d, %+v: %v, %v", i, s, ok, err)
			}
			if diff := cmp.Diff(held, got); ok && diff != "" {
				t.Fatalf("step %d, %+v: %s", i, s, diff)
			}
		}
		if left := rdb.PTTL(ctx, key(name)).Val(); left <= ttl || left > ttl+retention {
			t.Errorf("Redis forgets the lease in %v, want within %v", left, ttl+retention)
		}
		if _, ok, err := New(rdb, "z").Acquire(ctx, "another", noon, ttl); !ok || err != nil {
			t.Errorf("another name: %v, %v", ok, err)
		}
	})
}

func TestOneOfManyAcquires(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		var got atomic.Int32
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				_, ok, err := New(rdb, string(rune('A'+i))).Acquire(t.Context(), "x", noon, time.Minute)
				if err != nil {
					t.Error(err)
				}
				if ok {
					got.Add(1)
				}
			})
		}
		group.Wait()
		if n := got.Load(); n != 1 {
			t.Errorf("%d holders acquired it, want 1", n)
		}
	})
}

// TestFullRedis takes and renews leases of a Redis that has used up its memory: the sweep, which makes room, needs them.
func TestFullRedis(t *testing.T) {
	rdb := redistest.Server(t) // the embedded Redis has no limit
	if err := rdb.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	l := New(rdb, "a")
	held, ok, err := l.Acquire(t.Context(), "sweep", noon, time.Minute)
	if err != nil || !ok {
		t.Fatalf("acquire: %t, %v", ok, err)
	}
	if _, ok, err := l.Renew(t.Context(), held, noon, time.Minute); err != nil || !ok {
		t.Errorf("renew: %t, %v", ok, err)
	}
	if _, ok, err := New(rdb, "b").Acquire(t.Context(), "sweep", noon, time.Minute); err != nil || ok {
		t.Errorf("another acquires what is held: %t, %v", ok, err)
	}
}

func TestErrors(t *testing.T) {
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1, DialerRetries: 1})
	defer rdb.Close()
	ctx, leases := t.Context(), New(rdb, "a")
	_, _, acquire := leases.Acquire(ctx, "x", noon, time.Minute)
	_, _, renew := leases.Renew(ctx, Lease{Name: "x"}, noon, time.Minute)
	_, _, never := leases.Acquire(ctx, "x", noon, 0)
	for _, test := range []struct {
		err    error
		starts string
		cause  string
	}{
		{acquire, "cannot acquire lease x: ", "connection refused"},
		{renew, "cannot renew lease x: ", "connection refused"},
		{leases.Release(ctx, Lease{Name: "x"}), "cannot release lease x: ", "connection refused"},
		{never, "cannot acquire lease x: ", "not positive"},
	} {
		if test.err == nil || !strings.HasPrefix(test.err.Error(), test.starts) || !strings.Contains(test.err.Error(), test.cause) {
			t.Errorf("error %v, want %s… %s", test.err, test.starts, test.cause)
		}
	}
}
