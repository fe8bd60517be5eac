package account

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// TestMiddle: the middle divides ranges by what the books have about them, and one range without books by its width. It is the beginning of a site.
func TestMiddle(t *testing.T) {
	bucket := memblob.New()
	s := publish(t, bucket, func(c *collection.Collection) {
		c.Seeds = []collection.Seed{{URL: "http://docs0.example/", Scope: collection.Any, Depth: collection.Unlimited}}
	})
	read := func() *Bucket {
		b, err := Read(t.Context(), bucket, s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	site := func(n uint64) layout.Place { return layout.Place(n << 32) }
	for name, test := range map[string]struct {
		ranges []layout.Range
		from   layout.Place // smallest right result; the greatest is one site higher
		none   bool
	}{
		"the whole space":      {[]layout.Range{{}}, 1 << 63, false},
		"the end of the space": {[]layout.Range{{From: 1 << 63}}, 3 << 62, false},
		"two ranges":           {[]layout.Range{{From: 0, To: site(10)}, {From: site(50), To: site(60)}}, site(10), false},
		"two sites":            {[]layout.Range{{From: site(8), To: site(10)}}, site(9), false},
		"parts of two sites":   {[]layout.Range{{From: site(8) + 9, To: site(9) + 1}}, site(9), false},
		"one site":             {[]layout.Range{{From: site(8), To: site(9)}}, 0, true},
		"the last site":        {[]layout.Range{{From: 0xffffffff << 32}}, 0, true},
		"no range":             {nil, 0, true},
	} {
		at, found := read().Middle(test.ranges)
		if found == test.none || found && (at < test.from || at > test.from+1<<32 || at != at.SiteRange().From) {
			t.Errorf("%s: %x, %v; want %x, %v", name, at, found, test.from, !test.none)
		}
	}
	// A book in which one site has nearly all links: the middle is a border of this site.
	var b book.Book
	heavy := parse(t, "http://docs0.example/").Place.SiteRange()
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 40_000 {
		a := parse(t, fmt.Sprintf("http://docs%d.example/%x/%x", max(0, n%100-90), random.Uint64(), random.Uint64()))
		b.Links = append(b.Links, book.Link{Target: a.URL, Place: a.Place, Kind: book.Anchor, Region: book.Text, Depth: 1, Collection: "default"})
	}
	addBook(t, bucket, b)
	if at, found := read().Middle([]layout.Range{{}}); !found || at != heavy.From && at != heavy.To {
		t.Errorf("%x, %v; want a border of the site %x", at, found, heavy.From)
	}
}
