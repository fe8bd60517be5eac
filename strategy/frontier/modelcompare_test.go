package frontier

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

// compareCounts checks that counters and tallies equal the numbers in the model.
func (m *modelRun) compareCounts() error {
	if diff := cmp.Diff(m.model.counts(), m.counts()); diff != "" {
		return fmt.Errorf("counts differ: %s", diff)
	}
	want := m.model.tallies()
	got, err := m.Tallies(m.t.Context(), append(modelTallies, "none"))
	if err != nil {
		return err
	}
	for i, name := range append(modelTallies, "none") {
		if got[i] != want[name] {
			return fmt.Errorf("%d URLs count on %s, want %d", got[i], name, want[name])
		}
	}
	if n := m.rdb.HLen(m.t.Context(), m.key("tallies")).Val(); n != int64(len(want)) {
		return fmt.Errorf("%d tallies are kept, want %d", n, len(want))
	}
	return nil
}

// compareOut checks that Out returns the same numbers of leased URLs as the model.
func (m *modelRun) compareOut() error {
	got, err := m.Out(m.t.Context(), modelCollections)
	if err != nil {
		return err
	}
	want := m.model.out()
	for i, name := range modelCollections {
		if got[i] != want[name] {
			return fmt.Errorf("%d URLs of %s are out for the first time, want %d", got[i], name, want[name])
		}
	}
	if n := m.rdb.HLen(m.t.Context(), m.key("out")).Val(); n != int64(len(want)) {
		return fmt.Errorf("what is out is kept of %d collections, want %d", n, len(want))
	}
	return nil
}

// compareQueues checks that each URL has as many elements in the queues as in the model. It also
// checks that Redis keeps a correct list of each host's queues that are not empty.
func (m *modelRun) compareQueues() error {
	want, got := map[layout.Identity]int{}, map[layout.Identity]int{}
	for id, u := range m.model.urls {
		if want[id] = u.left; u.state == 'w' {
			want[id]++
		}
		if want[id] > mostLeft+1 {
			return fmt.Errorf("%d elements of %s", want[id], u.URL)
		}
		if want[id] == 0 {
			delete(want, id)
		}
	}
	for _, host := range modelHosts {
		letters := ""
		for i := range 17 {
			name := strconv.Itoa(i)
			if i == 16 {
				name = "again"
			}
			elements, err := m.rdb.LRange(m.t.Context(), queueKey(m.t, m.Frontier, name, host), 0, -1).Result()
			if err != nil {
				return err
			}
			for _, element := range elements {
				got[layout.Identity([]byte(element[:16]))]++
			}
			if len(elements) > 0 {
				letters += string(rune('a' + i))
			}
		}
		if kept := m.rdb.HGet(m.t.Context(), m.key("filled"), host).Val(); strings.ToLower(kept) != letters {
			return fmt.Errorf("queues %q of %s are filled, %q are kept", letters, host, kept)
		}
	}
	if !maps.Equal(want, got) {
		return fmt.Errorf("elements of URLs in the queues differ: %s", cmp.Diff(want, got))
	}
	return nil
}

// compareKnown checks that the known and the pending URLs are those of the model.
func (m *modelRun) compareKnown() error {
	want, pending := map[string]string{}, map[layout.Identity]bool{}
	for id, u := range m.model.urls {
		var state string
		if letter := u.state; letter != 0 {
			if u.decided != nil {
				letter -= 'a' - 'A'
			} else {
				pending[id] = true
			}
			state = string([]byte{letter, byte(u.Depth >> 8), byte(u.Depth), u.Weight, u.Attempts, u.expired, byte(u.left)})
			if u.state == 'l' {
				state += u.lease.String()
			}
		}
		if k := u.decided; k != nil {
			decided, _ := finalState(k.State, k.Version, k.Place.Site(), k.Tallies)
			state += decided
			if u.state == 0 && u.left > 0 {
				state += string([]byte{byte(u.left)})
			}
		}
		want[string(id[:])] = state
	}
	if got := m.known(); !maps.Equal(want, got) {
		return fmt.Errorf("known URLs differ: %s", cmp.Diff(want, got))
	}
	if got := m.pending(); !maps.Equal(pending, got) {
		return fmt.Errorf("%d URLs are pending, want %d", len(got), len(pending))
	}
	return nil
}
