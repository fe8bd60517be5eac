package frontier

import (
	"fmt"
	"maps"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

// compareCounts finds the counters and tallies as what they count in the model.
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

// compareOut finds what is out as in the model.
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

// compareKnown finds the known URLs and the pending ones as in the model.
func (m *modelRun) compareKnown() error {
	raw, err := m.rdb.HGetAll(m.t.Context(), m.key("known")).Result()
	if err != nil {
		return err
	}
	want, pending := map[string]string{}, map[layout.Identity]bool{}
	for id, u := range m.model.urls {
		var state string
		if letter := u.state; letter != 0 {
			if u.decided != nil {
				letter -= 'a' - 'A'
			} else {
				pending[id] = true
			}
			state = string([]byte{letter, byte(u.Depth >> 8), byte(u.Depth), u.Weight, u.Attempts, u.expired})
			if u.state == 'l' {
				state += u.lease.String()
			}
		}
		if k := u.decided; k != nil {
			decided, _ := finalState(k.State, k.Depth, k.Version, k.Tallies)
			state += decided
		}
		want[string(id[:])] = state
	}
	if !maps.Equal(want, raw) {
		return fmt.Errorf("known URLs differ: %s", cmp.Diff(want, raw))
	}
	if got := m.pending(); !maps.Equal(pending, got) {
		return fmt.Errorf("%d URLs are pending, want %d", len(got), len(pending))
	}
	return nil
}
