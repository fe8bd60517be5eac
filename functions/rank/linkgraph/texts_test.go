package linkgraph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestTexts puts pages into groups, some into two. Each group must have the anchors of its pages and of no others,
// and the same ones whatever the ranges of the hash space in which the books are read.
func TestTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var books []book.Book
	for token := range 3 {
		var b book.Book
		for n := range 40 {
			from := url(fmt.Sprintf("%c/%d-%d", 'a'+n%5, token, n))
			b.Outcomes = append(b.Outcomes, functionstest.Outcome(t, version(uint64(token+1)), from, book.Stored))
			for range 6 {
				to := random.IntN(40)
				l := functionstest.Link(t, from, url(fmt.Sprintf("%c/%d-%d", 'a'+to%5, random.IntN(3), to)), 1)
				l.Anchor = fmt.Sprint("text ", random.IntN(4))
				b.Links = append(b.Links, l)
			}
		}
		alias := fmt.Sprintf("e/alias%d", token)
		b = with(t, b, uint64(token+1), alias, book.Skipped, membership.Redirect, book.Redirect, "a/0-0")
		l := functionstest.Link(t, b.Outcomes[1].URL, url(alias), 1)
		l.Anchor = "by another way"
		b.Links = append(b.Links, l)
		books = append(books, b)
	}
	readers := open(t, books...)
	ofSpan := func(span, groups int, of func(page int) []uint16) (all []map[int32]Anchors) {
		t.Helper()
		g, err := read(t.Context(), readers, takedown.Set{}, DefaultLimits(), span, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		found, err := g.Texts(t.Context(), t.TempDir(), groups, of)
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		for group := range groups {
			anchors, err := found.Anchors(group)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, anchors)
		}
		return all
	}
	whole := ofSpan(1000, 1, func(int) []uint16 { return []uint16{0} })[0]
	first, _ := mustRead(t, readers).Find(layout.IdentityOf(url("a/0-0")))
	if !slices.Contains(whole[int32(first)].All, Anchor{"by another way", 1, 3}) || len(whole) < 100 {
		t.Fatalf("%d pages have anchors, the first has %v", len(whole), whole[int32(first)])
	}
	groupsOf := func(page int) []uint16 {
		switch page % 4 {
		case 0:
			return nil
		case 1:
			return []uint16{0, 2}
		}
		return []uint16{uint16(page % 3)}
	}
	for _, span := range []int{1, 7, 1000} {
		for group, got := range ofSpan(span, 3, groupsOf) {
			want := make(map[int32]Anchors)
			for page, anchors := range whole {
				if slices.Contains(groupsOf(int(page)), uint16(group)) {
					want[page] = anchors
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("group %d, in ranges of %d pages (-want +got):\n%s", group, span, diff)
			}
		}
	}
}

func mustRead(t *testing.T, readers []*book.Reader) *Graph {
	t.Helper()
	g, err := Read(t.Context(), readers, takedown.Set{}, DefaultLimits(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return g
}
