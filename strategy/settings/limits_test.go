package settings

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// Each collection allows as many waiting URLs as twice its limit of pages, but at least 1,000 and at
// most 10,000. MaxWaiting returns the greatest of these numbers.
func TestMaxWaiting(t *testing.T) {
	for _, test := range []struct {
		pages []int64 // limit of pages of each collection; 0: none
		want  int64
	}{
		{nil, 1_000}, {[]int64{0}, 10_000}, {[]int64{20}, 1_000}, {[]int64{2_000}, 4_000}, {[]int64{1 << 40}, 10_000}, {[]int64{20, 2_000}, 4_000},
	} {
		var s Settings
		for _, pages := range test.pages {
			s.Collections = append(s.Collections, collection.Collection{Pages: pages})
		}
		if got := s.MaxWaiting(); got != test.want {
			t.Errorf("collections of %v pages: %d may wait, want %d", test.pages, got, test.want)
		}
	}
}
