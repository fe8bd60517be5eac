package search

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestScanInParallel searches one segment or many with one processor and with several, which divide the segments. All results that do not depend on
// what was skipped must be equal. Repeated searches with the same number of processors must have the same result,
// even where they stop to count matches.
func TestScanInParallel(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	var groups [][]segment.Document
	for range 11 {
		groups = append(groups, randomDocuments(random, 20+random.IntN(100)))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	inexact := 0
	for _, parts := range []int{1, 2, 11} {
		ix := indexOf(t, groups[:parts]...)
		ix.exactly, ix.parallel, ix.stripe = 0, 0, 16
		for range racetest.Rounds(40, 5) {
			q := randomQuery(random)
			q.Facets = [][]string{nil, nil, {Site, Lang}}[random.IntN(3)]
			runtime.GOMAXPROCS(1)
			want := find(t, ix, q)
			runtime.GOMAXPROCS(3)
			first := find(t, ix, q)
			for range 2 {
				if diff := cmp.Diff(first, find(t, ix, q)); diff != "" {
					t.Fatalf("%d segments, %+v: results differ (-first +later)\n%s", parts, q, diff)
				}
			}
			if !want.Exact || !first.Exact {
				inexact++
				if first.Exact && first.Total < want.Total || want.Exact && want.Total < first.Total {
					t.Fatalf("%d segments, %+v: %d matches by one processor, %d by several", parts, q, want.Total, first.Total)
				}
				first.Total, first.Exact = want.Total, want.Exact
			}
			if diff := cmp.Diff(want, first); diff != "" {
				t.Fatalf("%d segments, %+v (-one +several processors)\n%s", parts, q, diff)
			}
		}
	}
	if inexact == 0 {
		t.Error("all results are exact")
	}
}
