package rangecache

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const limit = 100

// fill adds entries with the given keys, each of cost 10. As long as the total cost exceeds the
// limit, it removes the victim: the entry to evict next.
func fill(l *lru[int, string], keys ...int) {
	for _, k := range keys {
		l.add(k, "", 10)
		for l.used() > limit {
			victim, _ := l.victim()
			l.remove(victim)
		}
	}
}

// left returns the keys in the order in which they would be evicted.
func left(l *lru[int, string]) (keys []int) {
	for victim, found := l.victim(); found; victim, found = l.victim() {
		keys = append(keys, victim)
		l.remove(victim)
	}
	return keys
}

func TestVictims(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(l *lru[int, string])
		want []int
	}{
		{"in order of coming", func(l *lru[int, string]) { fill(l, 1, 2, 3) }, []int{1, 2, 3}},
		{"over the limit", func(l *lru[int, string]) { fill(l, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) }, []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		{"what was used again stays longest", func(l *lru[int, string]) { fill(l, 1, 2, 3); l.get(1, limit) }, []int{2, 3, 1}},
		{"a scan leaves it", func(l *lru[int, string]) {
			fill(l, 1, 2)
			l.get(1, limit)
			fill(l, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21)
		}, []int{13, 14, 15, 16, 17, 18, 19, 20, 21, 1}},
		{"only four fifths are protected", func(l *lru[int, string]) {
			fill(l, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
			for k := 1; k <= 10; k++ {
				l.get(k, limit)
			}
			fill(l, 11)
		}, []int{2, 11, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"one that is too large leaves first", func(l *lru[int, string]) {
			fill(l, 1)
			l.get(1, limit)
			l.add(2, "", limit)
		}, []int{2, 1}},
		{"again", func(l *lru[int, string]) { fill(l, 1, 2, 1) }, []int{2, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLRU[int, string]()
			c.do(l)
			if diff := cmp.Diff(c.want, left(l)); diff != "" {
				t.Errorf("victims (-want +got):\n%s", diff)
			}
			if l.used() != 0 {
				t.Errorf("%d used by nothing", l.used())
			}
		})
	}
}

// After any sequence of calls, an lru returns the values that were added and not removed, and
// counts the sum of their costs correctly.
func TestLRUAddsUp(t *testing.T) {
	random, l := rand.New(rand.NewPCG(1, 2)), newLRU[int, int]()
	held := map[int]int{}
	for step := range 50_000 {
		key := random.IntN(5_000)
		switch random.IntN(3) {
		case 0:
			l.add(key, step, int64(key%7))
			held[key] = step
		case 1:
			value, found := l.get(key, limit)
			want, wanted := held[key]
			if value != want || found != wanted {
				t.Fatalf("step %d: got %d, %v; want %d, %v", step, value, found, want, wanted)
			}
		default:
			for range random.IntN(4) {
				if victim, found := l.victim(); found {
					l.remove(victim)
					delete(held, victim)
				}
			}
		}
		if step%1_000 == 0 || len(held) < 3 {
			var sum int64
			for key := range held {
				sum += int64(key % 7)
			}
			if len(l.entries) != len(held) || l.used() != sum {
				t.Fatalf("step %d: %d entries of %d, want %d of %d", step, len(l.entries), l.used(), len(held), sum)
			}
		}
	}
}
