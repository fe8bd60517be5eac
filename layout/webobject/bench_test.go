package webobject

import (
	"fmt"
	"testing"
)

func BenchmarkCompress(b *testing.B) {
	o := page(1, 26_000)
	for level := 1; level <= 9; level++ {
		b.Run(fmt.Sprintf("level=%d", level), func(b *testing.B) {
			c := NewCompressor(level)
			b.SetBytes(int64(len(o.Data)))
			b.ReportAllocs()
			var run Run
			for b.Loop() {
				var err error
				if run, err = c.Compress(o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(run.Size)/float64(len(run.Compressed)), "ratio")
		})
	}
}

// benchmarkPackage has 200 pages of 26 KB.
func benchmarkPackage(b *testing.B) (p Package, size int64) {
	var pages []Object
	for n := range 200 {
		pages = append(pages, page(n, 26_000))
		size += int64(len(pages[n].Data))
	}
	p.Runs = compress(b, pages...)
	return p, size
}

func BenchmarkBuild(b *testing.B) {
	p, size := benchmarkPackage(b)
	b.SetBytes(size)
	for b.Loop() {
		build(b, p)
	}
}

func BenchmarkVerify(b *testing.B) {
	p, size := benchmarkPackage(b)
	spf, _ := build(b, p)
	b.SetBytes(size)
	for b.Loop() {
		if err := Verify(spf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	p, size := benchmarkPackage(b)
	spf, places := build(b, p)
	store := &oneObject{content: spf}
	b.SetBytes(size / int64(len(places)))
	b.ReportAllocs()
	for b.Loop() {
		store.ranges = store.ranges[:0]
		if _, err := Read(b.Context(), store, "key", places[len(places)/2]); err != nil {
			b.Fatal(err)
		}
	}
}
