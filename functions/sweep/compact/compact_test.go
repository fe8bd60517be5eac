package compact

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/google/go-cmp/cmp"
)

func TestMergeable(t *testing.T) {
	l := Limits{Books: 3, Bytes: 1 << 20}
	for name, test := range map[string]struct{ sizes, want []int64 }{
		"too few":                {[]int64{100, 100, 10_000, 10_000}, nil},
		"all of a size":          {[]int64{10_000, 100, 10_001, 110, 120, 10_002}, []int64{100, 110, 120}},
		"the next size":          {[]int64{10_000, 100, 10_001, 110, 10_002}, []int64{10_000, 10_001, 10_002}},
		"the smallest first":     {[]int64{500_000, 300_000, 400_000, 310_000}, []int64{300_000, 310_000, 400_000}},
		"none that is half full": {[]int64{600_000, 600_001, 600_002, 600_003}, nil},
		"no more than the limit": {[]int64{500_000, 510_000, 520_000}, []int64{500_000, 510_000}},
		"not all at once":        {make([]int64, 100), make([]int64, 24)},
	} {
		var books, want []manifest.Book
		for _, size := range test.sizes {
			books = append(books, manifest.Book{Bytes: size})
		}
		for _, size := range test.want {
			want = append(want, manifest.Book{Bytes: size})
		}
		if diff := cmp.Diff(want, l.mergeable(books)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
