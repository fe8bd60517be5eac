package webobject

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
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

// benchmarkPackage returns a package of 200 pages of 26 KB, and the size of all pages in bytes.
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

// prose returns a page of about 30 KB like those of documentation: words as frequent as in a
// natural language, and many tags. Compression makes it six times smaller.
func prose(n int) Object {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	words := rand.NewZipf(random, 1.2, 4, 4000)
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html><html><head><title>Page %d</title></head><body>\n", n)
	for i := 1; b.Len() < 30_000; i++ {
		word := words.Uint64()
		text := make([]byte, 0, 16)
		for w := word*7919 + 11; w > 0; w /= 19 {
			text = append(text, "bcdfghklmnprstvwxyz"[w%19], "aeiou"[w%5])
		}
		switch {
		case i%30 == 0:
			fmt.Fprintf(&b, "</p>\n<div class=\"section\" id=\"section-%d\">\n<p class=\"paragraph\">", i)
		case i%5 == 0:
			fmt.Fprintf(&b, "<a class=\"reference internal\" href=\"../library/%s.html\"><span class=\"pre\">%s</span></a> ", text, text)
		default:
			fmt.Fprintf(&b, "%s ", text)
		}
	}
	o := page(n, 0)
	o.Data = []byte(b.String())
	return o
}

// BenchmarkInflate decompresses the pages of BenchmarkVerify, with the same inflater, and does
// nothing else. So the difference between the two benchmarks is the cost of decoding and checking.
func BenchmarkInflate(b *testing.B) {
	runs, size := prosePages(b)
	var source bytes.Reader
	inflater := flate.NewReader(&source)
	out := make([]byte, 64<<10)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, run := range runs {
			source.Reset(run.Compressed)
			if err := inflater.(flate.Resetter).Reset(&source, nil); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(inflater, out[:run.Size]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	runs, size := prosePages(b)
	spf, _ := build(b, Package{Runs: runs})
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if err := verify(spf); err != nil {
			b.Fatal(err)
		}
	}
}

func prosePages(b *testing.B) (runs []Run, size int64) {
	var pages []Object
	for n := range 200 {
		pages = append(pages, prose(n))
	}
	runs = compress(b, pages...)
	for _, run := range runs {
		size += run.Size
	}
	return runs, size
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
