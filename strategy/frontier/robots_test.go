package frontier

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func TestRobotsCache(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx := t.Context()
		cache := NewRobotsCache(rdb)
		put := func(origin string, r Robots) {
			t.Helper()
			if err := cache.Put(ctx, origin, r.Status, r.Body, r.Until); err != nil {
				t.Fatal(err)
			}
		}
		get := func(now time.Time, origins ...string) map[string]Robots {
			t.Helper()
			got, err := cache.Get(ctx, now, origins...)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		a := Robots{Status: 200, Body: []byte("User-agent: *\xff\nDisallow: /"), Until: at(10).UTC()}
		b := Robots{Status: 404, Until: at(20).UTC()}
		put("http://a", Robots{Status: 500, Until: at(99)})
		put("http://a", a)
		put("http://b:81", b)
		for _, test := range []struct {
			now     float64
			origins []string
			want    map[string]Robots
		}{
			{9, []string{"http://a", "http://c", "http://b:81"}, map[string]Robots{"http://a": a, "http://b:81": b}},
			{10, []string{"http://a", "http://b:81"}, map[string]Robots{"http://b:81": b}},
			{30, []string{"http://a", "http://b:81"}, map[string]Robots{}},
			{0, nil, map[string]Robots{}},
		} {
			if diff := cmp.Diff(test.want, get(at(test.now), test.origins...)); diff != "" {
				t.Errorf("at %v s: %s", test.now, diff)
			}
		}
		if ttl := rdb.PTTL(ctx, robotsKey("http://a")).Val(); ttl <= 0 || ttl > robotsKept {
			t.Errorf("Redis forgets it in %v, want within %v", ttl, robotsKept)
		}
		if err := cache.Put(ctx, "http://a", 200, make([]byte, maxRobots+1), at(1)); err == nil {
			t.Error("a body of more than 500 KiB was kept")
		}
	})
}
