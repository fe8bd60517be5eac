package export

import (
	"slices"
	"sync/atomic"
	"testing"
)

// TestInOrder calls inOrder with work that ends in another order than it begins: of four items that
// are worked on at once, the last is done first. The results must have the order of the items.
func TestInOrder(t *testing.T) {
	t.Parallel()
	const items, atOnce = 40, 4
	done := make([]chan bool, items)
	var all, got []int
	for i := range done {
		done[i] = make(chan bool)
		all = append(all, i)
	}
	var running atomic.Int32
	work := func(i int) int {
		if n := running.Add(1); n > atOnce {
			t.Errorf("%d items at once", n)
		}
		if i%atOnce < atOnce-1 {
			<-done[i+1]
		}
		running.Add(-1)
		close(done[i])
		return i
	}
	for result := range inOrder(slices.Values(all), atOnce, work) {
		got = append(got, result)
	}
	if !slices.Equal(got, all) {
		t.Errorf("results %v", got)
	}
}

// TestInOrderEnds stops reading the results early: inOrder must not work on further items.
func TestInOrderEnds(t *testing.T) {
	t.Parallel()
	var begun, ended atomic.Int32
	work := func(i int) int {
		begun.Add(1)
		defer ended.Add(1)
		return i
	}
	for range inOrder(slices.Values(make([]int, 100)), 3, work) {
		break
	}
	if b, e := begun.Load(), ended.Load(); b != e || b == 100 {
		t.Errorf("%d items begun, %d ended", b, e)
	}
}
