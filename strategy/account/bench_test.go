package account

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// crawled generates the book of a crawl of a site. It holds the outcomes of all pages, and 80 links
// of each page: 40 links in the navigation of the site, 20 in the navigation of the section, and 20
// in the text. Half of the links in the text lead to pages that were not requested yet.
func crawled(b testing.TB, site, pages int) book.Book {
	b.Helper()
	rng := rand.New(rand.NewPCG(uint64(site), 1))
	text := func(words int) string {
		var s []string
		for range words {
			s = append(s, fmt.Sprintf("%x", int(rng.ExpFloat64()*1000)+100))
		}
		return strings.Join(s, " ")
	}
	urls := make([]address.Address, 2*pages)
	for i := range urls {
		var err error
		urls[i], err = address.Parse(fmt.Sprintf("http://docs%d.example/manual/%s/%s-%d.html", site, text(1), text(1), i))
		if err != nil {
			b.Fatal(err)
		}
	}
	var known book.Book
	for i, page := range urls[:pages] {
		o := outcome(uint64(i/100+1), book.Stored, 1)
		o.URL, o.Place, o.Collections, o.Package, o.Offset, o.Length = page.URL, page.Place, []string{"docs"}, "packages/0000/2_1_20261101000059123.spf", int64(i)*9000, 9000
		known.Outcomes = append(known.Outcomes, o)
		for n := range 80 {
			to, l := urls[rng.IntN(len(urls))], link("", 1, 0)
			l.Region, l.Around = book.Text, ""
			switch {
			case n < 40:
				to, l.Region = urls[n*7%pages], book.Navigation
				l.Anchor = fmt.Sprint("Chapter ", n)
			case n < 60:
				to, l.Region = urls[(i/50*50+n*2)%pages], book.Navigation
				l.Anchor = fmt.Sprint("Section ", n)
			default:
				l.Anchor, l.Around = text(2), text(16)
			}
			l.Source, l.Target, l.Place = page.ID, to.URL, to.Place
			known.Links = append(known.Links, l)
		}
	}
	return known
}

// BenchmarkRead reads several books, each of two sites, and asks for the states of all URLs. Half of
// these are pages; the others are only the targets of links.
func BenchmarkRead(b *testing.B) {
	const books, pages = 6, 2000
	bucket := memblob.New()
	s := publish(b, bucket, func(c *collection.Collection) {
		c.Seeds = []collection.Seed{{URL: "http://docs0.example/", Scope: collection.Any, Depth: collection.Unlimited}}
	})
	for n := range books {
		first, second := crawled(b, 2*n, pages), crawled(b, 2*n+1, pages)
		addBook(b, bucket, book.Book{Outcomes: append(first.Outcomes, second.Outcomes...), Links: append(first.Links, second.Links...)})
	}
	urls := 0
	for b.Loop() {
		read, err := Read(b.Context(), bucket, s)
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range read.All(b.Context(), layout.Range{}) {
			if err != nil {
				b.Fatal(err)
			}
			urls++
		}
	}
	b.ReportMetric(float64(urls)/b.Elapsed().Seconds(), "URLs/s")
	b.ReportMetric(float64(b.N*books*2*pages)/b.Elapsed().Seconds(), "pages/s")
}
