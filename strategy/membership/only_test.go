package membership_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// TestHeldBack: the crawl is limited to a collection or one of its seeds. The collection near finds a
// page. If the page is held back for near, Waiting must also return all collections that claim the
// page. Collections for which the page may be requested now come before those for which it is held
// back.
func TestHeldBack(t *testing.T) {
	const front, page = "http://docs.example/", "http://docs.example/t/a"
	for name, test := range map[string]struct {
		only    *control.Only
		waiting []string // collections for which a page waits, to which near has a link
		held    []string // those of them that are held back
		lacking string
	}{
		"everything":   {nil, []string{"near"}, nil, "all"},
		"a collection": {&control.Only{{Collection: "part"}}, []string{"part", "near", "all"}, []string{"near", "all"}, "part"},
		"a seed of it": {&control.Only{{Collection: "part", Seeds: []string{front + "t/"}}}, []string{"part", "near", "all"}, []string{"near", "all"}, "part"},
		"another seed": {&control.Only{{Collection: "part", Seeds: []string{front + "u/"}}}, []string{"near", "all", "part"}, []string{"near", "all", "part"}, "all"},
		"its finder":   {&control.Only{{Collection: "near"}}, []string{"near"}, nil, "all"},
	} {
		m := world(t)
		part := docs()
		part.Name = "part"
		for _, seed := range []string{front + "t/", front + "u/"} {
			part.Seeds = append(part.Seeds, collection.Seed{URL: seed, Scope: collection.Prefix, Depth: collection.Unlimited})
		}
		part.Seeds = part.Seeds[1:]
		m.Collections, m.Only = append(m.Collections, part), test.only
		if err := m.Prepare(); err != nil {
			t.Fatal(err)
		}
		path := membership.Path{Collection: "near", Kind: book.Anchor, Depth: 1}
		waiting := m.Waiting(path, parse(t, page))
		var held []string
		for _, w := range waiting {
			if path.Collection = w; m.HoldsBack(path, parse(t, page)) {
				held = append(held, w)
			}
		}
		if diff := cmp.Diff([][]string{test.waiting, test.held}, [][]string{waiting, held}); diff != "" {
			t.Errorf("%s: who waits, and who of these is held back (-want +got):\n%s", name, diff)
		}
		last := book.Outcome{URL: page, State: book.Stored, Depth: 1, Collections: []string{"near"}}
		if got := m.Lacking(last, parse(t, page)); got != test.lacking {
			t.Errorf("%s: lacking for %q, want %q", name, got, test.lacking)
		}
	}
}
