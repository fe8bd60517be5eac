package verify

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"

	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// crawled returns a bucket with the given numbers of packages, pages in each, and words in each
// page. A page has 30 links: 15 of a navigation that all pages share, and 15 of its own.
func crawled(b *testing.B, packages, pages, words int) *verifytest.World {
	b.Helper()
	w := verifytest.New(b)
	random := rand.New(rand.NewPCG(1, 2))
	url := func(i int) string { return fmt.Sprintf("%ssection-%02d/page-%05d.html", verifytest.Site, i%50, i) }
	for n := range packages {
		var objects []webobject.Object
		var links []book.Link
		for i := range pages {
			at := url(n*pages + i)
			own := functionstest.Page(verifytest.Batch(uint64(n+1)), at)
			own.Data = []byte(text(random, words))
			objects = append(objects, own)
			for k := range 30 {
				to := k
				if k >= 15 {
					to = random.IntN(packages * pages)
				}
				link := functionstest.Link(b, at, url(to), uint16(k%5))
				link.Anchor, link.Around = text(random, 2), text(random, 10)
				links = append(links, link)
			}
			links = append(links, functionstest.Link(b, verifytest.Site, at, 1))
		}
		pkg, outcomes := w.Package(objects...)
		w.LearnBook(book.Book{Outcomes: outcomes, Links: links}, pkg)
	}
	return w
}

func text(random *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "w%d ", int(random.ExpFloat64()*300))
	}
	return b.String()
}

func begun(b *testing.B, w *verifytest.World) *run {
	b.Helper()
	s, err := settings.Read(b.Context(), w.Bucket, functionstest.Start)
	if err != nil {
		b.Fatal(err)
	}
	v := &run{Verifier: &Verifier{Bucket: w.Bucket}, settings: s, byKey: make(map[string]*storedPackage)}
	if err := v.begin(b.Context()); err != nil {
		b.Fatal(err)
	}
	return v
}

func steps(b *testing.B, do ...func(context.Context) error) {
	b.Helper()
	for _, step := range do {
		if err := step(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBooks measures how fast verify reads books and compares their outcomes with the pages.
func BenchmarkBooks(b *testing.B) {
	w := crawled(b, 10, 2000, 5)
	pages := 0
	for b.Loop() {
		b.StopTimer()
		v := begun(b, w)
		steps(b, v.readPackages)
		b.StartTimer()
		steps(b, v.readBooks, v.foldRanges)
		if len(v.problems.first) > 0 {
			b.Fatal(v.problems.first[0])
		}
		pages += v.report.Pages
	}
	b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
}

// BenchmarkBodies measures how fast verify reads and checks packages. BenchmarkInflate, for
// comparison, only decompresses the pages in them, with as many goroutines.
func BenchmarkBodies(b *testing.B) {
	w := crawled(b, 8, 300, 4000)
	b.SetBytes(8 * 300 * int64(len(text(rand.New(rand.NewPCG(1, 2)), 4000))))
	for b.Loop() {
		b.StopTimer()
		v := begun(b, w)
		b.StartTimer()
		steps(b, v.readPackages)
		if len(v.problems.first) > 0 {
			b.Fatal(v.problems.first[0])
		}
	}
}

func BenchmarkInflate(b *testing.B) {
	w := crawled(b, 8, 300, 4000)
	b.SetBytes(8 * 300 * int64(len(text(rand.New(rand.NewPCG(1, 2)), 4000))))
	var packages [][]byte
	for _, key := range functionstest.Keys(b, w.Bucket, layout.Packages) {
		packages = append(packages, w.Content(key))
	}
	const header = 43 // of the zip's first member, before the deflate stream
	for b.Loop() {
		err := each(b.Context(), packages, func(_ context.Context, content []byte) error {
			_, err := io.Copy(io.Discard, flate.NewReader(strings.NewReader(string(content[header:]))))
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
