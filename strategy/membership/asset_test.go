package membership_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// TestAssetOnly: IsAssetOnly is true only if a collection stores assets and none admits the URL as a
// page.
func TestAssetOnly(t *testing.T) {
	m := world(t)
	for _, test := range []struct {
		url         string
		depth       uint16
		collections []string
		want        bool
	}{
		{"http://shown.example/a.html", 2, []string{"shown"}, false},
		{"http://shown.example/a.html", 3, []string{"shown"}, true},
		{"http://shown.example/a.png", 1, []string{"shown"}, true}, // patterns of include are only for pages
		{"http://other.example/a.png", 1, []string{"shown"}, true},
		{"http://other.example/a.png", 1, []string{"near"}, false},
		{"http://docs.example/a", 3, []string{"shown", "near"}, true},
		{"http://docs.example/a", 1, []string{"shown", "near"}, false},
	} {
		if got := m.IsAssetOnly(test.collections, parse(t, test.url), membership.Path{Depth: test.depth}); got != test.want {
			t.Errorf("%s of %q at depth %d: %v", test.url, test.collections, test.depth, got)
		}
	}
}

// TestStillAnAsset: a URL is on a host out of scope. If it was stored as an asset, the method Still
// returns the collection that stores assets. If it was stored as a page, Still returns none.
func TestStillAnAsset(t *testing.T) {
	m := world(t)
	const url = "http://other.example/a.png"
	for isAsset, want := range map[bool][]string{true: {"shown"}, false: nil} {
		last := book.Outcome{URL: url, State: book.Unchanged, Depth: 2, Collections: []string{"shown", "near"}, Asset: isAsset}
		if diff := cmp.Diff(want, m.Still(last, parse(t, url))); diff != "" {
			t.Errorf("asset %v (-want +got):\n%s", isAsset, diff)
		}
	}
}

// TestBestOfAssets: two paths lead to one URL. The longer path ends with a link to the URL as a page,
// the shorter path with the use of the URL as an asset (an image, a style sheet). Best must be the
// longer path, because a link to a page prevails.
func TestBestOfAssets(t *testing.T) {
	page, asset := membership.Path{Kind: book.Anchor, Depth: 3}, membership.Path{Kind: book.Asset, Depth: 1}
	for _, order := range [][]membership.Path{{page, asset}, {asset, page}} {
		var best membership.Best
		for _, w := range order {
			best.Add(w)
		}
		if best.Path != page {
			t.Errorf("%+v", best)
		}
	}
}
