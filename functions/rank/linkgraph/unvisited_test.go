package linkgraph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestUnvisited checks when the URL z/1 counts as unvisited. An unvisited URL has no page in the
// index, but searches find it by the texts of links to it. The test tries several outcomes of
// requests for z/1, and several kinds of links to it.
func TestUnvisited(t *testing.T) {
	linked := named(t, 1, book.Text, "a/1 manual", "b/1 manual", "b/2 guide")
	nofollow := named(t, 1, book.Text, "a/1 advertisement")
	nofollow.Links[0].Rel = "nofollow"
	image := named(t, 1, book.Text, "a/1 picture")
	image.Links[0].Kind = book.Asset
	outcome := func(state book.State, reason string) book.Book {
		o := functionstest.Outcome(t, version(2), url("z/1"), state)
		o.Reason = reason
		return book.Book{Outcomes: []book.Outcome{o}}
	}
	of := func(books ...book.Book) []book.Book { return append(books, linked) }
	const found = "z/1: manual 2, guide 1"
	for name, test := range map[string]struct {
		books []book.Book
		want  string
	}{
		"never asked for":          {of(), found},
		"forbidden by robots.txt":  {of(outcome(book.Skipped, membership.Robots)), found},
		"of a type without text":   {of(outcome(book.Skipped, "type")), found},
		"to be asked once more":    {of(outcome(book.Retry, "http 503")), found},
		"lost":                     {of(outcome(book.Lost, "")), found},
		"stored":                   {of(stored(t, 2, "z/1")), ""},
		"failed":                   {of(outcome(book.Failed, "http 404")), ""},
		"not to be indexed":        {of(outcome(book.Skipped, "noindex")), ""},
		"a redirect":               {of(outcome(book.Skipped, membership.Redirect)), ""},
		"links without votes":      {[]book.Book{nofollow}, ""},
		"an image on a page":       {[]book.Book{image}, ""},
		"links of earlier version": {of(named(t, 2, book.Text, "a/1 handbook")), "z/1: guide 1, handbook 1, manual 1"},
		"navigation of the site":   {[]book.Book{named(t, 1, book.Navigation, "z/2 next")}, ""},
		"navigation of another":    {[]book.Book{named(t, 1, book.Navigation, "y/2 partner")}, "z/1: partner 1"},
		"no books":                 {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				g, err := Read(t.Context(), open(t, test.books...), takedown.Set{}, DefaultLimits(), t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				all, cut, err := g.Unvisited(t.Context(), layout.Range{}, 10)
				if err != nil || cut > 0 {
					t.Fatalf("%d cut, %v", cut, err)
				}
				if diff := cmp.Diff(test.want, strings.Join(described(all), "; ")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				slices.Reverse(test.books) // the order of books does not matter
			}
		})
	}
}

// TestMail checks that a mail address is found by the texts of all links to it and the words around
// them. Unlike the links to a page, those in the navigation of its own site count, too; and the navigation
// of many pages counts once, as of one site.
func TestMail(t *testing.T) {
	b := named(t, 1, book.Navigation, "z/2 Webmaster", "z/3 Webmaster", "y/1 Jane Doe", "y/2 Jane Doe")
	to, _ := address.ParseMail("mailto:jane@z.example")
	for i := range b.Links {
		b.Links[i].Target, b.Links[i].Place, b.Links[i].Around = to.URL, to.Place, fmt.Sprintf("words %d", i/2)
	}
	for i := range 20 {
		more := b.Links[0]
		more.Around = fmt.Sprintf("z %d", i)
		b.Links = append(b.Links, more)
	}
	g, err := Read(t.Context(), open(t, b), takedown.Set{}, DefaultLimits(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := g.Unvisited(t.Context(), layout.Range{}, 10)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	want := []Anchor{{"Webmaster", 1, 22}, {"Jane Doe", 1, 2}}
	if diff := cmp.Diff(want, all[0].All); diff != "" || all[0].URL != to.URL {
		t.Errorf("%s (-want +got):\n%s", all[0].URL, diff)
	}
	if got := all[0].Around; len(got) != maxAround || got[0] != "words 1" || got[1] != "words 0" {
		t.Errorf("words around: %q", got)
	}
}

// described returns a line for each URL with its anchors and their numbers of links: "z/1: manual
// 2, guide 1".
func described(all []Unvisited) (lines []string) {
	for _, u := range all {
		var anchors []string
		for _, a := range u.All {
			anchors = append(anchors, fmt.Sprintf("%s %d", a.Text, a.Links))
		}
		short := strings.Replace(strings.TrimPrefix(u.URL, "http://"), ".example", "", 1)
		lines = append(lines, short+": "+strings.Join(anchors, ", "))
	}
	return lines
}

// TestUnvisitedLimits has three URLs without a page. One of them is linked from two sites, and each
// of the others from one site. With a limit of one URL, Unvisited must return the one that is
// linked from two sites. With a limit of ten, the results for two neighbouring ranges of the hash
// space must together be all three URLs, each once.
func TestUnvisitedLimits(t *testing.T) {
	b := named(t, 1, book.Text, "a/1 few", "a/2 few", "b/1 many", "c/1 many", "d/1 single")
	for i, to := range []string{"y/1", "y/1", "x/1", "x/1", "w/1"} {
		link := functionstest.Link(t, b.Outcomes[i].URL, url(to), 1)
		b.Links[i].Target, b.Links[i].Place = link.Target, link.Place
	}
	g, err := Read(t.Context(), open(t, b), takedown.Set{}, DefaultLimits(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	unvisited := func(within layout.Range, most int) []Unvisited {
		t.Helper()
		all, cut, err := g.Unvisited(t.Context(), within, most)
		if err != nil || cut != max(0, len(all)+cut-most) {
			t.Fatalf("%d cut, %v", cut, err)
		}
		return all
	}
	if got := described(unvisited(layout.Range{}, 1)); !slices.Equal(got, []string{"x/1: many 2"}) {
		t.Errorf("the first is %v", got)
	}
	all := unvisited(layout.Range{}, 10)
	middle := all[1].Place
	halves := slices.Concat(unvisited(layout.Range{To: middle}, 10), unvisited(layout.Range{From: middle}, 10))
	if diff := cmp.Diff(all, halves); diff != "" || len(all) != 3 {
		t.Errorf("%d URLs, in two ranges (-want +got):\n%s", len(all), diff)
	}
}
