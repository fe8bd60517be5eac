package layout_test

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
)

func TestIdentityIsThePrefixOfSHA256(t *testing.T) {
	id := layout.IdentityOf("http://a/")
	const want = "282a35d7a0da6ae48eee116ad6193fa8"
	if id.String() != want {
		t.Fatalf("identity %s, want %s", id, want)
	}
	back, err := layout.ParseIdentity(id.String())
	if err != nil || back != id {
		t.Errorf("read back %s, %v", back, err)
	}
	for _, bad := range []string{"", "9f", want + "00", "zz" + want[2:]} {
		if _, err := layout.ParseIdentity(bad); err == nil {
			t.Errorf("identity %q was read", bad)
		}
	}
}

func TestOneSiteLiesTogether(t *testing.T) {
	one, two := layout.IdentityOf("http://a.example/1"), layout.IdentityOf("http://a.example/2")
	p, q := layout.PlaceOf("example", one), layout.PlaceOf("example", two)
	if p.Site() != q.Site() {
		t.Errorf("places %x and %x of one site are apart", p, q)
	}
	if (p < q) != (one.Compare(two) < 0) {
		t.Error("within a site, places do not sort as identities do")
	}
	if beside := p.Beside(two); beside != q {
		t.Errorf("the place beside is %x, want %x", beside, q)
	}
}

func TestRange(t *testing.T) {
	for _, test := range []struct {
		r    layout.Range
		p    layout.Place
		want bool
	}{
		{layout.Range{}, 0, true},
		{layout.Range{}, ^layout.Place(0), true},
		{layout.Range{From: 5, To: 7}, 4, false},
		{layout.Range{From: 5, To: 7}, 5, true},
		{layout.Range{From: 5, To: 7}, 7, false},
		{layout.Range{From: 5}, ^layout.Place(0), true},
	} {
		if got := test.r.Contains(test.p); got != test.want {
			t.Errorf("%v contains %d: %v", test.r, test.p, got)
		}
	}
}

func TestWidth(t *testing.T) {
	for r, want := range map[layout.Range]float64{{}: 1 << 64, {From: 1 << 63}: 1 << 63, {From: 5, To: 7}: 2} {
		if got := r.Width(); got != want {
			t.Errorf("%v is %v wide, want %v", r, got, want)
		}
	}
}

// TestOverlaps checks whether two ranges overlap, in either order, and the ranges of their sites.
func TestOverlaps(t *testing.T) {
	const site, end = layout.Place(1) << 32, ^layout.Place(0)
	for _, test := range []struct {
		a, b  layout.Range
		want  bool
		sites bool // whether the ranges of the sites overlap
	}{
		{layout.Range{}, layout.Range{From: 7, To: 8}, true, true},
		{layout.Range{To: 7}, layout.Range{From: 7, To: 8}, false, true},
		{layout.Range{To: 8}, layout.Range{From: 7, To: 9}, true, true},
		{layout.Range{From: end}, layout.Range{From: 7}, true, true},
		{layout.Range{From: end}, layout.Range{To: end}, false, true},
		{layout.Range{To: site}, layout.Range{From: site}, false, false},
		{layout.Range{To: site + 1}, layout.Range{From: 2*site - 1, To: 3 * site}, false, true},
		{layout.Range{To: site - 1}, layout.Range{From: 3*site + 5}, false, false},
	} {
		if test.a.Overlaps(test.b) != test.want || test.b.Overlaps(test.a) != test.want {
			t.Errorf("%v overlaps %v: want %v", test.a, test.b, test.want)
		}
		if test.a.Sites().Overlaps(test.b.Sites()) != test.sites {
			t.Errorf("the sites of %v overlap those of %v: want %v", test.a, test.b, test.sites)
		}
	}
}

func TestVersionsSortAsTheirNamesDo(t *testing.T) {
	versions := []layout.Version{{}, {Epoch: 1, Token: 2}, {Epoch: 1, Token: 10}, {Epoch: 2, Token: 1}}
	for i, a := range versions {
		back, err := layout.ParseVersion(a.String())
		if err != nil || back != a {
			t.Errorf("read back %v, %v", back, err)
		}
		for j, b := range versions {
			if (i < j) != (a.Compare(b) < 0) || (i < j) != (a.String() < b.String()) {
				t.Errorf("%v and %v are out of order", a, b)
			}
		}
	}
	if _, err := layout.ParseVersion("1-2"); err == nil {
		t.Error("a version without zeros was read")
	}
}
