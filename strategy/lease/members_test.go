package lease

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// TestMembers lets members join and leave a group in steps. Each has the member, the time in seconds, and
// the number of members that Join must return; 0 means that the member leaves.
func TestMembers(t *testing.T) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for i, step := range []struct {
			member       string
			second, want int
		}{
			{"a", 0, 1},
			{"a", 1, 1}, // until 11
			{"b", 2, 2}, // until 12
			{"c", 10, 3},
			{"c", 11, 2}, // a's membership has ended
			{"a", 11, 3},
			{"b", 11, 0},
			{"a", 11, 2},
			{"b", 30, 1}, // those of a and c have ended
		} {
			l := New(rdb, step.member)
			if step.want == 0 {
				if err := l.Leave(t.Context(), "g"); err != nil {
					t.Fatal(err)
				}
				continue
			}
			got, err := l.Join(t.Context(), "g", noon.Add(time.Duration(step.second)*time.Second), 10*time.Second)
			if err != nil || got != step.want {
				t.Errorf("step %d: %d members, %v, want %d", i, got, err, step.want)
			}
		}
		for second, want := range map[int]int{39: 1, 40: 0} {
			if n, err := Members(t.Context(), rdb, "g", noon.Add(time.Duration(second)*time.Second)); err != nil || n != want {
				t.Errorf("%d members after %d s, %v, want %d", n, second, err, want)
			}
		}
		if n, err := New(rdb, "a").Join(t.Context(), "other", noon, time.Second); err != nil || n != 1 {
			t.Errorf("%d members of another group, %v, want 1", n, err)
		}
	})
}
