package linkgraph

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/rank/pagerank"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Size of the graph of BenchmarkRank: a million pages of ten thousand sites, in twenty books. Each
// page has ten links, seven of them to pages of the same site.
const (
	benchmarkSites = 10_000
	benchmarkPages = 100 // number of pages of each site
	benchmarkLinks = 10  // number of links of each page
	benchmarkBooks = 20
)

func benchmarkURL(site, page int) (string, layout.Place) {
	address := fmt.Sprintf("https://www.site%d.example/section/page-%d.html", site, page)
	return address, layout.PlaceOf(fmt.Sprintf("site%d.example", site), layout.IdentityOf(address))
}

// benchmarkBook returns the n-th book, counted from 0, of the benchmark's graph. A book is an
// object with pages and their links.
func benchmarkBook(n int) (b book.Book) {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	for site := n; site < benchmarkSites; site += benchmarkBooks {
		for page := range benchmarkPages {
			from, at := benchmarkURL(site, page)
			b.Outcomes = append(b.Outcomes, book.Outcome{Version: version(uint64(n + 1)), URL: from, Place: at, State: book.Stored, Status: 200})
			for k := range benchmarkLinks {
				to := site
				if k%10 > 6 {
					to = int(float64(benchmarkSites) * random.Float64() * random.Float64())
				}
				l := book.Link{Source: layout.IdentityOf(from), Kind: book.Anchor, Region: book.Text, Depth: 1, Collection: "default",
					Anchor: fmt.Sprint("word", random.IntN(5000), " and word", random.IntN(500))}
				l.Target, l.Place = benchmarkURL(to, int(float64(benchmarkPages)*random.Float64()*random.Float64()))
				b.Links = append(b.Links, l)
			}
		}
	}
	return b
}

// BenchmarkRank reads ten million links, and ranks a million pages until a step changes the ranks
// by at most 1e-6. It reports as peak-MB the greatest size of the heap in MB. The bucket, which is
// in memory as well, is not counted.
func BenchmarkRank(b *testing.B) {
	var books []*book.Reader
	for n := range benchmarkBooks {
		books = append(books, open(b, benchmarkBook(n))...)
	}
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var peak uint64
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		var now runtime.MemStats
		for {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	var toRead, toRank time.Duration
	steps, links := 0, 0
	rules := pagerank.DefaultRules()
	rules.Epsilon = 1e-6
	for b.Loop() {
		began := time.Now()
		g, err := Read(b.Context(), books, takedown.Set{}, DefaultLimits(), b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		between := time.Now()
		if _, steps, err = g.Rank(b.Context(), rules); err != nil {
			b.Fatal(err)
		}
		toRead, toRank, links = toRead+between.Sub(began), toRank+time.Since(between), g.Votes()
	}
	close(stop)
	watching.Wait()
	b.ReportMetric(toRead.Seconds()/float64(b.N), "s-reading")
	b.ReportMetric(toRank.Seconds()/float64(b.N), "s-ranking")
	b.ReportMetric(float64(steps), "steps")
	b.ReportMetric(float64(links), "votes")
	b.ReportMetric(float64(peak)/1e6, "peak-MB")
}
