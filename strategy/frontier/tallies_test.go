package frontier

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
)

// TestTallies: a stored URL counts once in each tally (count of stored URLs) that its last outcome
// names. It still counts while it waits for the next request, and settling its outcome twice does not
// count it twice.
func TestTallies(t *testing.T) {
	eachRedis(t, func(t *testing.T, f fixture) {
		e := entry("a", "x", 1)
		for i, step := range []struct {
			state   book.State
			tallies []string
			want    []int64
		}{
			{book.Failed, []string{"one"}, []int64{0, 0, 0}},
			{book.Stored, []string{"one", "two"}, []int64{1, 1, 0}},
			{book.Unchanged, []string{"two", "three"}, []int64{0, 1, 1}},
			{book.Skipped, []string{"two"}, []int64{0, 0, 0}},
			{book.Stored, []string{"three"}, []int64{0, 0, 1}},
			{book.Stored, nil, []int64{0, 0, 0}},
		} {
			s := Settlement{Version: token(uint64(1 + i)), Host: "a", Outcomes: []Result{result(e, step.state)}}
			s.Outcomes[0].Tallies = step.tallies
			late := s
			late.Version = token(uint64(i))
			f.settle(s)
			f.settle(s)
			f.renew(due(e, "", s.Version))
			f.settle(late)
			got, err := f.Tallies(t.Context(), []string{"one", "two", "three"})
			f.must(err)
			if diff := cmp.Diff(step.want, got); diff != "" {
				t.Errorf("step %d: %s", i, diff)
			}
		}
		if got, err := f.Tallies(t.Context(), nil); err != nil || len(got) != 0 {
			t.Errorf("Tallies of nothing = %v, %v", got, err)
		}
		if n := f.rdb.Exists(t.Context(), f.key("tallies")).Val(); n != 0 {
			t.Error("tallies of zero are kept")
		}
	})
}
