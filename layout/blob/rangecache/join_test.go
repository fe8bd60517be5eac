package rangecache

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

const kib, mib = 1 << 10, 1 << 20

func TestJoin(t *testing.T) {
	for _, c := range []struct {
		name   string
		ranges []blob.Range
		want   []blob.Range
	}{
		{"nothing", nil, nil},
		{"one", []blob.Range{{Offset: 7, Length: 9}}, []blob.Range{{Offset: 7, Length: 9}}},
		{"neighbours, in any order", []blob.Range{{Offset: 20, Length: 10}, {Offset: 10, Length: 10}}, []blob.Range{{Offset: 10, Length: 20}}},
		{"overlap", []blob.Range{{Offset: 10, Length: 50}, {Offset: 20, Length: 10}, {Offset: 30, Length: 31}}, []blob.Range{{Offset: 10, Length: 51}}},
		{"a cheap gap", []blob.Range{{Length: 10}, {Offset: 10 + cheapGap, Length: 10}}, []blob.Range{{Length: 20 + cheapGap}}},
		{"a dearer gap", []blob.Range{{Length: 10}, {Offset: 11 + cheapGap, Length: 10}}, []blob.Range{{Length: 10}, {Offset: 11 + cheapGap, Length: 10}}},
		{
			"the narrowest while there are too many",
			[]blob.Range{{Length: 1}, {Offset: mib, Length: 1}, {Offset: 2 * mib, Length: 1}, {Offset: 2*mib + 400*kib, Length: 1}, {Offset: 2*mib + 600*kib, Length: 1}},
			[]blob.Range{{Length: 1}, {Offset: mib, Length: 1}, {Offset: 2 * mib, Length: 600*kib + 1}},
		},
		{
			"but not over more than the bound in all",
			[]blob.Range{{Length: 1}, {Offset: 1_500 * kib, Length: 1}, {Offset: 3_000 * kib, Length: 1}, {Offset: 4_500 * kib, Length: 1}, {Offset: 9 * mib, Length: 1}},
			[]blob.Range{{Length: 1_500*kib + 1}, {Offset: 3_000 * kib, Length: 1}, {Offset: 4_500 * kib, Length: 1}, {Offset: 9 * mib, Length: 1}},
		},
		{
			"nor over cheap ones",
			blocks(100*kib, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56),
			[]blob.Range{{Length: 5_100 * kib}, {Offset: 5_200 * kib, Length: 100 * kib}, {Offset: 5_400 * kib, Length: 100 * kib}, {Offset: 5_600 * kib, Length: 100 * kib}},
		},
		{"never more than the most", []blob.Range{{Length: 5 * mib}, {Offset: 5 * mib, Length: 5 * mib}}, []blob.Range{{Length: 5 * mib}, {Offset: 5 * mib, Length: 5 * mib}}},
		{
			"what depends on the size is apart",
			[]blob.Range{{Offset: -5}, {}, {Offset: 5}, {Offset: 5, Length: math.MaxInt64}, {Length: 5}},
			[]blob.Range{{Length: 5}, {Offset: -5}, {}, {Offset: 5}, {Offset: 5, Length: math.MaxInt64}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []blob.Range
			for _, s := range join(c.ranges) {
				got = append(got, s.Range)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// Every range is within the one request that it belongs to, and no more is
// read than the rule allows.
func TestJoinProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2_000 {
		ranges := scattered(random, random.IntN(40), 1<<(14+random.IntN(14)))
		seen, read, wanted := make([]bool, len(ranges)), int64(0), int64(0)
		spans := join(ranges)
		for _, s := range spans {
			read += s.Length
			for _, i := range s.members {
				r := ranges[i]
				if seen[i] || r.Offset < s.Offset || r.Offset+r.Length > s.end() {
					t.Fatalf("range %d %+v is not in the one request %+v", i, r, s)
				}
				seen[i] = true
				wanted += r.Length
			}
			if s.Length > mostJoined {
				t.Fatalf("a request for %d bytes", s.Length)
			}
		}
		for i := range seen {
			if !seen[i] {
				t.Fatalf("range %d is not asked for", i)
			}
		}
		if read > wanted+mostGaps {
			t.Fatalf("%d bytes are read for %d", read, wanted)
		}
	}
}

// scattered returns n ranges within size bytes that do not overlap much.
func scattered(random *rand.Rand, n, size int) []blob.Range {
	ranges := make([]blob.Range, n)
	for i := range ranges {
		ranges[i] = blob.Range{Offset: int64(random.IntN(size)), Length: 1 + int64(random.IntN(16*kib))}
	}
	return ranges
}
