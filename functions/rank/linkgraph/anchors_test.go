package linkgraph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// named returns a book with stored pages that each have a link to the page z/1. "a/1 text" is the
// page a/1, whose link has the text "text".
func named(t *testing.T, token uint64, region book.Region, links ...string) (b book.Book) {
	t.Helper()
	for _, link := range links {
		from, text, _ := strings.Cut(link, " ")
		b.Outcomes = append(b.Outcomes, functionstest.Outcome(t, version(token), url(from), book.Stored))
		l := functionstest.Link(t, url(from), url("z/1"), 1)
		l.Region, l.Anchor = region, text
		b.Links = append(b.Links, l)
	}
	return b
}

func TestAnchors(t *testing.T) {
	hundred := func(site string) (links []string) {
		for n := range 100 {
			links = append(links, fmt.Sprintf("%s/%d buy", site, n+2))
		}
		return links
	}
	many := func() (links []string) {
		for n := range 40 {
			links = append(links, fmt.Sprintf("a/%d text %02d", n, n))
		}
		return links
	}
	target := stored(t, 1, "z/1")
	redirected := named(t, 1, book.Text, "a/1 by another way")
	redirected.Links[0].Target = url("b/1")
	redirected.Links[0].Place = functionstest.Link(t, url("a/1"), url("b/1"), 1).Place
	for name, test := range map[string]struct {
		books []book.Book
		want  []string
		cut   int
	}{
		"none":                    {nil, nil, 0},
		"two sites, one text":     {[]book.Book{named(t, 1, book.Text, "a/1 home", "b/1 home", "c/1 start")}, []string{"home: 2 sites, 2 links", "start: 1 sites, 1 links"}, 0},
		"a hundred of one site":   {[]book.Book{named(t, 1, book.Text, append(hundred("a"), "b/1 manual", "c/1 manual")...)}, []string{"manual: 2 sites, 2 links", "buy: 1 sites, 100 links"}, 0},
		"navigation of the site":  {[]book.Book{named(t, 1, book.Navigation, hundred("z")...)}, nil, 0},
		"navigation of another":   {[]book.Book{named(t, 1, book.Navigation, "a/1 partner")}, []string{"partner: 1 sites, 1 links"}, 0},
		"of the page itself":      {[]book.Book{named(t, 1, book.Text, "z/1 here")}, nil, 0},
		"without a text":          {[]book.Book{named(t, 1, book.Text, "a/1 ")}, nil, 0},
		"of the newest version":   {[]book.Book{named(t, 1, book.Text, "a/1 old"), named(t, 2, book.Text, "a/1 new")}, []string{"new: 1 sites, 1 links"}, 0},
		"more than there is room": {[]book.Book{named(t, 1, book.Text, many()...)}, nil, 8},
		"by a redirect": {[]book.Book{with(t, redirected, 1, "b/1", book.Skipped, membership.Redirect, book.Redirect, "z/1")},
			[]string{"by another way: 1 sites, 1 links"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			books := append([]book.Book{target}, test.books...)
			for range 2 {
				g, err := Read(t.Context(), open(t, books...), takedown.Set{}, DefaultLimits(), t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				all := anchorsOf(t, g, func(int) []uint16 { return []uint16{0} })
				var got []string
				for _, found := range all {
					for _, a := range found.All {
						got = append(got, fmt.Sprintf("%s: %d sites, %d links", a.Text, a.Sites, a.Links))
					}
					if found.Cut != test.cut {
						t.Errorf("%d are cut", found.Cut)
					}
				}
				if test.cut > 0 {
					if len(got) != maxAnchors || !strings.HasPrefix(got[0], "text 00") {
						t.Errorf("anchors %q", got)
					}
				} else if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				slices.Reverse(books) // the order of books does not matter
			}
		})
	}
	g, err := Read(t.Context(), open(t, target, named(t, 1, book.Text, "a/1 home")), takedown.Set{}, DefaultLimits(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if all := anchorsOf(t, g, func(int) []uint16 { return nil }); len(all) > 0 {
		t.Errorf("anchors %v of pages that are not wanted", all)
	}
}

// anchorsOf returns the anchors of the pages in the first group; the function of returns the groups of a page.
func anchorsOf(t *testing.T, g *Graph, of func(page int) []uint16) map[int32]Anchors {
	t.Helper()
	found, err := g.Texts(t.Context(), t.TempDir(), 1, of)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	all, err := found.Anchors(0)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
