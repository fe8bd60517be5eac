package book

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

var epoch = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// site generates the book of a crawl of one documentation site, in sections of 50 pages.
// Each page has 40 links of the site's navigation, 20 of the section's navigation, and 20
// in its text, a tenth of which lead to other sites.
func site(seed uint64, pages int) Book {
	g := generator{rand.New(rand.NewPCG(seed, 2)), rand.NewZipf(rand.New(rand.NewPCG(seed, 1)), 1.2, 20, 20_000)}
	urls := make([]string, pages)
	for i := range urls {
		urls[i] = fmt.Sprintf("https://docs.example.org/manual/%s/%s-%d.html", syllables(uint64(i/50+100)), syllables(uint64(g.IntN(5000))), i)
	}
	var b Book
	for i, url := range urls {
		b.Outcomes = append(b.Outcomes, g.outcome(url, i))
		source, depth := layout.IdentityOf(url), uint16(1+i%3)
		for n := range 40 {
			b.Links = append(b.Links, navigation(source, urls[n*7%pages], n, depth))
		}
		for n := range 20 {
			b.Links = append(b.Links, navigation(source, urls[(i/50*50+n*2)%pages], n+100, depth))
		}
		for range 20 {
			b.Links = append(b.Links, g.link(source, urls[g.IntN(pages)], depth))
		}
	}
	return b
}

type generator struct {
	*rand.Rand
	words *rand.Zipf
}

func (g generator) outcome(url string, i int) Outcome {
	place, _ := placeIn(0x1234abcd, url)
	o := Outcome{
		Version: layout.Version{Epoch: 3, Token: uint64(900 + i/100)}, URL: url, Place: place, State: Stored, Status: 200,
		Depth: uint16(i % 4), Attempts: 1, Time: epoch.Add(time.Duration(i*3+g.IntN(3)) * time.Millisecond),
		Collections: []string{"docs"}, Package: "packages/0003/2_1_20261101000059123.spf",
		ETag: fmt.Sprintf(`"%x-%x"`, 4_000+g.IntN(40_000), g.Uint64()>>12), Modified: epoch.Add(-time.Duration(g.IntN(1e9)) * time.Second).Format(http.TimeFormat), Digest: g.Uint64(), Body: g.Uint64(),
		Offset: int64(i)*12_000 + g.Int64N(6_000), Length: 4_000 + g.Int64N(12_000),
	}
	switch g.IntN(30) {
	case 0:
		o.State, o.Reason, o.Detail, o.Status = Failed, "status", "the server said 404 Not Found", 404
		o.Package, o.Offset, o.Length, o.ETag, o.Modified, o.Digest, o.Body = "", 0, 0, "", "", 0, 0
	case 1:
		o.State, o.Reason, o.Status, o.Exponent, o.Hops = Skipped, "type", 200, -2, 1
		o.Package, o.Offset, o.Length, o.Digest, o.Collections = "", 0, 0, 0, []string{"docs", "news"}
	}
	return o
}

func (g generator) link(source layout.Identity, url string, depth uint16) Link {
	l := Link{Source: source, Target: url, Kind: Anchor, Region: Text, Anchor: g.text(1 + g.IntN(3)), Around: g.text(16), Depth: depth + 1, Collection: "docs"}
	hash := uint32(0x1234abcd)
	if g.IntN(10) == 0 {
		hash = uint32(g.IntN(300)) << 20
		l.Target = fmt.Sprintf("https://www.%s%d.com/%s/", syllables(uint64(hash>>20)), hash>>20, syllables(uint64(g.IntN(100))))
		l.Rel, l.Decision = "external nofollow", "scope"
	}
	l.Place, _ = placeIn(hash, l.Target)
	return l
}

func (g generator) text(words int) string {
	var s []string
	for range words {
		s = append(s, syllables(g.words.Uint64()))
	}
	return strings.Join(s, " ")
}

func navigation(source layout.Identity, url string, n int, depth uint16) Link {
	place, _ := placeIn(0x1234abcd, url)
	return Link{Source: source, Target: url, Place: place, Kind: Anchor, Region: Navigation, Anchor: "Chapter " + syllables(uint64(n)), Depth: depth + 1, Collection: "docs"}
}

// syllables returns word number n of an artificial language of two-letter syllables.
func syllables(n uint64) string {
	var s []byte
	for n += 7; n > 0; n /= 60 {
		s = append(s, "bcdfghklmnprstvz"[n%16], "aeiou"[n%60/12])
	}
	return string(s)
}
