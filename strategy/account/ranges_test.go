package account

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// TestRanges reads the same books in ranges of various sizes. Whatever the sizes are, each URL must have
// the state that it has in one account of all books, and no account may have more URLs than allowed.
func TestRanges(t *testing.T) {
	bucket := memblob.New()
	s := publish(t, bucket, func(c *collection.Collection) {
		c.Seeds = []collection.Seed{{URL: "http://docs0.example/", Scope: collection.Any, Depth: collection.Unlimited}}
	})
	whole, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	for n, pages := range []int{3, 100, 40} {
		b := crawled(t, n, pages)
		addBook(t, bucket, b)
		for _, o := range b.Outcomes {
			whole.Outcome(o)
		}
		for _, l := range b.Links {
			whole.Link(l)
		}
	}
	waiting := learnt(t, 7)
	addSpool(t, bucket, waiting)
	for _, o := range waiting.Outcomes {
		whole.Outcome(o)
	}
	for _, l := range waiting.Links {
		whole.Link(l)
	}
	want := judged(t, whole.All())
	for _, most := range []int64{1, 10, 100, 1000} {
		b, err := Read(t.Context(), bucket, s)
		if err != nil {
			t.Fatal(err)
		}
		b.most = most
		if diff := cmp.Diff(want, judged(t, b.All(t.Context(), layout.Range{}))); diff != "" {
			t.Errorf("at most %d URLs in a range (-want +got):\n%s", most, diff)
		}
		next, ranges := layout.Place(0), 0
		for some, err := range b.Ranges(t.Context(), layout.Range{}) {
			if err != nil {
				t.Fatal(err)
			}
			within, urls := some.Range(), len(judged(t, some.All()))
			if ranges++; within.From != next || int64(urls) > most && !isSingle(within) {
				t.Errorf("at most %d URLs: the range %v, which follows %v, has %d", most, within, next, urls)
			}
			next = within.To
		}
		if least := len(want) / int(most); next != 0 || ranges < least {
			t.Errorf("at most %d URLs: %d ranges, the last one ends at %v; want at least %d ranges, up to the end", most, ranges, next, least)
		}
	}
}

// TestRangesWithin asks for the accounts of a part of the hash space. They must have the URLs of this
// part, and no others.
func TestRangesWithin(t *testing.T) {
	bucket := memblob.New()
	s := publish(t, bucket, func(c *collection.Collection) {
		c.Seeds = []collection.Seed{{URL: "http://docs0.example/", Scope: collection.Any, Depth: collection.Unlimited}}
	})
	for n := range 3 {
		addBook(t, bucket, crawled(t, n, 50))
	}
	b, err := Read(t.Context(), bucket, s)
	if err != nil {
		t.Fatal(err)
	}
	all := judged(t, b.All(t.Context(), layout.Range{}))
	for n := range 3 {
		within := parse(t, fmt.Sprintf("http://docs%d.example/", n)).Place.SiteRange()
		want, got := make(map[string]State), make(map[string]State)
		for url, u := range all {
			if within.Contains(u.Address.Place) {
				want[url] = u.State
			}
		}
		for some, err := range b.Ranges(t.Context(), within) {
			if err != nil {
				t.Fatal(err)
			}
			for url, u := range judged(t, some.All()) {
				got[url] = u.State
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
			t.Errorf("site %d (-want +got):\n%s", n, diff)
		}
	}
}

// TestDivide checks that the planned ranges follow each other without gaps, and have about the planned
// number of bytes, for books whose URLs are spread unevenly.
func TestDivide(t *testing.T) {
	bucket := memblob.New()
	s := publish(t, bucket, nil)
	random := rand.New(rand.NewPCG(1, 2))
	total := int64(0)
	for n := range 3 {
		var b book.Book
		for range 20_000 {
			a := parse(t, fmt.Sprintf("http://docs%d.example/%x/%x", random.IntN(1+9*n), random.Uint64(), random.Uint64()))
			b.Links = append(b.Links, book.Link{Target: a.URL, Place: a.Place, Kind: book.Anchor, Region: book.Text, Depth: 1, Collection: "default"})
		}
		addBook(t, bucket, b)
	}
	b, err := Read(t.Context(), bucket, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range b.books {
		_, links := v.reader.Sizes()
		total += links
	}
	ranges := b.Divide(layout.Range{}, rangeBytes)
	next := ranges[len(ranges)-1].To
	if want := total / rangeBytes; next != 0 || len(ranges) < int(want) || len(ranges) > int(want)+1 {
		t.Errorf("%d ranges of %d bytes, want %d; the last ends at %v", len(ranges), total, want, next)
	}
	middle, last := layout.Place(1<<63), layout.Place(1<<64-1)
	for _, within := range []layout.Range{{}, {To: middle}, {From: middle}, {From: middle / 2, To: middle}, {From: last}, {From: middle, To: middle + 1}} {
		for _, bytes := range []int64{1, 1 << 12, 1 << 40} {
			ranges := b.Divide(within, max(bytes, total>>14))
			if ranges[0].From != within.From || ranges[len(ranges)-1].To != within.To || len(ranges) > 1<<15 {
				t.Errorf("%v is divided by %d bytes into %d ranges from %v to %v", within, bytes, len(ranges), ranges[0], ranges[len(ranges)-1])
			}
			for i, r := range ranges[1:] {
				if r.From != ranges[i].To || r.From <= ranges[i].From {
					t.Errorf("range %v follows %v", r, ranges[i])
				}
			}
		}
	}
}

// TestDivideOneBook divides the hash space by a single book that is smaller than a piece.
func TestDivideOneBook(t *testing.T) {
	bucket := memblob.New()
	s := publish(t, bucket, nil)
	var b book.Book
	for n := range 500 {
		a := parse(t, fmt.Sprintf("http://docs%d.example/", n))
		b.Links = append(b.Links, book.Link{Target: a.URL, Place: a.Place, Kind: book.Anchor, Region: book.Text, Depth: 1, Collection: "default"})
	}
	addBook(t, bucket, b)
	read, err := Read(t.Context(), bucket, s)
	if err != nil {
		t.Fatal(err)
	}
	if ranges := read.Divide(layout.Range{}, 1000); len(ranges) < 2 {
		t.Errorf("ranges %v", ranges)
	}
}

// TestSitesOfFew stops reading the sites of books when those of one are enough: no book may be read that was not begun
// before.
func TestSitesOfFew(t *testing.T) {
	bucket := memblob.New()
	s := publish(t, bucket, nil)
	most := 2 * runtime.GOMAXPROCS(0)
	for n := range 3 * most {
		addBook(t, bucket, crawled(t, n, 5))
	}
	b, err := Read(t.Context(), bucket, s)
	if err != nil {
		t.Fatal(err)
	}
	for enough, want := range map[bool]int{false: 3 * most, true: most} {
		read := 0
		sites, err := b.Sites(t.Context(), func(string) bool { return true }, func(map[uint32]bool) bool { read++; return enough })
		if err != nil || len(sites) == 0 || read > want || !enough && read < want {
			t.Errorf("enough %v: %d sites of %d books, want at most %d; %v", enough, len(sites), read, want, err)
		}
	}
}
