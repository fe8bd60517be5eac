package frontier

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// TestSuperseded asks at noon whether a program with another layout is there, which was there at another time.
func TestSuperseded(t *testing.T) {
	for name, test := range map[string]struct {
		layout string
		at     time.Time
		want   bool
	}{
		"older":              {"7", noon, false},
		"newer":              {"1000", noon, true},
		"newer, just alive":  {"1000", noon.Add(-layoutAge), true},
		"newer, gone":        {"1000", noon.Add(-layoutAge - time.Millisecond), false},
		"newer, clock ahead": {"1000", noon.Add(layoutAge), true},
		"newer, clock wrong": {"1000", noon.Add(layoutAge + time.Millisecond), false},
		"no number":          {"x", noon, false},
	} {
		t.Run(name, func(t *testing.T) {
			rdb := redistest.Embedded(t)
			if err := rdb.ZAdd(t.Context(), layoutsKey, redis.Z{Score: float64(test.at.UnixMilli()), Member: test.layout}).Err(); err != nil {
				t.Fatal(err)
			}
			if got, err := Superseded(t.Context(), rdb, noon); err != nil || got != test.want {
				t.Errorf("%t, %v, want %t", got, err, test.want)
			}
		})
	}
}

// TestSupersededFullRedis notes this layout twice in a Redis that has used up its memory: else older programs would soon
// rebuild the frontiers.
func TestSupersededFullRedis(t *testing.T) {
	rdb := redistest.Server(t) // the embedded Redis has no limit
	if err := rdb.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	for _, now := range []time.Time{noon, noon.Add(time.Minute)} {
		if superseded, err := Superseded(t.Context(), rdb, now); err != nil || superseded {
			t.Errorf("superseded %t, %v", superseded, err)
		}
		if noted := rdb.ZScore(t.Context(), layoutsKey, layoutVersion).Val(); noted != float64(now.UnixMilli()) {
			t.Errorf("%v is noted, want %v", noted, now.UnixMilli())
		}
	}
}
