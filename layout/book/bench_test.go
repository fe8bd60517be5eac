package book

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// benchmarkPages is the number of pages in each book of the benchmarks. Each page has 80 links.
const benchmarkPages = 1000

// report reports the speed of a benchmark, and the size of its books per page. Two parameters are
// about one round of the benchmark: the number of books handled, and their total size in bytes. The
// last parameter is the number of outcomes and links handled in all b.N rounds together.
func report(b *testing.B, books, size, rows int) {
	b.SetBytes(int64(size))
	b.ReportMetric(float64(size)/float64(books*benchmarkPages), "bytes/page")
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.N*books*benchmarkPages)/b.Elapsed().Seconds(), "pages/s")
}

func BenchmarkEncode(b *testing.B) {
	book := site(1, benchmarkPages)
	var size int
	for b.Loop() {
		size = len(mustEncode(b, book))
	}
	report(b, 1, size, b.N*(len(book.Outcomes)+len(book.Links)))
}

// BenchmarkRead measures each method of Reader that reads a whole book.
func BenchmarkRead(b *testing.B) {
	content := mustEncode(b, site(1, benchmarkPages))
	for name, reads := range map[string]func(r *Reader) (rows int){
		"outcomes": func(r *Reader) int { return drain(b, r.Outcomes(b.Context(), layout.Range{})) },
		"targets":  func(r *Reader) int { return drain(b, r.Targets(b.Context(), layout.Range{})) },
		"rows":     func(r *Reader) int { return drain(b, r.Rows(b.Context(), layout.Range{}, false)) },
		"links":    func(r *Reader) int { return drain(b, r.Links(b.Context(), layout.Range{})) },
	} {
		b.Run(name, func(b *testing.B) {
			rows := 0
			for b.Loop() {
				rows += reads(open(b, content))
			}
			report(b, 1, len(content), rows)
		})
	}
}

func drain[T any](b testing.TB, all func(func(T, error) bool)) (rows int) {
	for _, err := range all {
		if err != nil {
			b.Fatal(err)
		}
		rows++
	}
	return rows
}

// BenchmarkMerge measures the speed of merging eight books, and the peak memory of a merge: by how
// much the heap is larger during the merge than before it, when the eight books are in memory
// already. The size of the heap is read every ten milliseconds. For this measurement the garbage
// collector is set to run often, so that the heap contains little garbage.
func BenchmarkMerge(b *testing.B) {
	var readers []*Reader
	size, rows := 0, 0
	for seed := range uint64(8) {
		content := mustEncode(b, site(seed, benchmarkPages))
		readers = append(readers, open(b, content))
		outcomes, links := readers[seed].Counts()
		size, rows = size+len(content), rows+outcomes+links
	}
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if _, _, _, err := Merge(b.Context(), readers); err != nil {
				b.Fatal(err)
			}
		}
		report(b, len(readers), size, b.N*rows)
	})
	b.Run("peak", func(b *testing.B) {
		defer debug.SetGCPercent(debug.SetGCPercent(5))
		var before runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		peak, done := uint64(0), make(chan struct{})
		var watch sync.WaitGroup
		watch.Go(func() {
			for ticker := time.NewTicker(10 * time.Millisecond); ; {
				var now runtime.MemStats
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
				select {
				case <-ticker.C:
				case <-done:
					ticker.Stop()
					return
				}
			}
		})
		written := 0
		for b.Loop() {
			content, _, _, err := Merge(b.Context(), readers)
			if err != nil {
				b.Fatal(err)
			}
			written = len(content)
		}
		close(done)
		watch.Wait()
		b.ReportMetric(float64(peak)/float64(written), "peak/output")
		b.ReportMetric(float64(peak)/1e6, "peak-MB")
	})
}
