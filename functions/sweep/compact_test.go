package sweep

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

func TestMergeable(t *testing.T) {
	l := Limits{Books: 3, BookBytes: 1 << 20}
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

// Merged books say what they said, without what is superseded, and no frontier
// notices.
func TestCompact(t *testing.T) {
	w := newQuiet(t)
	w.run()
	for token := range uint64(8) {
		functionstest.Learn(t, w.bucket, 0, book.Book{
			Outcomes: functionstest.Outcomes(t, version(20+token), book.Failed, one+"same", fmt.Sprint(one, token)),
			Links:    []book.Link{functionstest.Link(t, one+"same", one+"target", 1)},
		})
	}
	before := w.manifest(0)
	w.run()
	m := w.manifest(0)
	got := w.stock(0)
	if len(m.Books) != 1 || m.Books[0].Outcomes != 9 || m.Books[0].Links != 1 || len(got.Outcomes) != 9 || len(got.Links) != 1 {
		t.Errorf("books %+v: %+v", m.Books, got)
	}
	if len(m.Condemned) != len(before.Books) || m.Learnt != before.Learnt {
		t.Errorf("condemned %+v, learnt %q", m.Condemned, m.Learnt)
	}
	if epoch := w.frontier(0).Epoch; epoch != 1 {
		t.Errorf("the frontier was built again, in epoch %d", epoch)
	}
	w.run()
	if again := w.manifest(0); again.Generation != m.Generation {
		t.Errorf("merged again: %+v", again.Books)
	}
}

func TestReplaceBooks(t *testing.T) {
	named := func(keys ...string) (books []manifest.Book) {
		for _, key := range keys {
			books = append(books, manifest.Book{Key: key})
		}
		return books
	}
	for name, test := range map[string]struct {
		listed    []string
		condemned string
		old       []string
		merged    string
		want      []string
		gone      int
	}{
		"in the place of the first": {[]string{"a", "b", "c", "d"}, "", []string{"c", "b"}, "m", []string{"a", "m", "d"}, 2},
		"one is not listed":         {[]string{"a", "c"}, "", []string{"a", "b"}, "m", nil, 0},
		"it is one of them":         {[]string{"a", "b", "c"}, "", []string{"a", "b"}, "b", []string{"b", "c"}, 1},
		"it is another":             {[]string{"a", "b", "c"}, "", []string{"a", "b"}, "c", []string{"c"}, 2},
		"it is what it was":         {[]string{"a"}, "", []string{"a"}, "a", nil, 0},
		"it is condemned":           {[]string{"a", "b"}, "m", []string{"a", "b"}, "m", nil, 0},
	} {
		m := manifest.Manifest{Books: named(test.listed...)}
		if test.condemned != "" {
			m.Condemn(functionstest.Start, test.condemned)
		}
		late := manifest.Manifest{Books: m.Books}
		if err := replaceBooks(&late, named(test.old...), manifest.Book{Key: test.merged}, functionstest.Start, functionstest.Start.Add(manifest.Fresh)); err != manifest.ErrUnchanged {
			t.Errorf("%s, put an hour ago: %v", name, err)
		}
		err := replaceBooks(&m, named(test.old...), manifest.Book{Key: test.merged}, functionstest.Start, functionstest.Start)
		if test.want == nil {
			if err != manifest.ErrUnchanged {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if diff := cmp.Diff(named(test.want...), m.Books); diff != "" || err != nil || len(m.Condemned) != test.gone {
			t.Errorf("%s: %v, condemned %+v (-want +got):\n%s", name, err, m.Condemned, diff)
		}
	}
}
