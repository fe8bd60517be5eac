package rangecache

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

const benchKey = "segments/0000/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.seg"

func benchRanges(n int) []blob.Range {
	numbers := make([]int64, n)
	for i := range numbers {
		numbers[i] = int64(i * 3)
	}
	return blocks(16<<10, numbers...)
}

// BenchmarkWarm reads ranges that are in memory.
func BenchmarkWarm(b *testing.B) {
	for _, n := range []int{1, 3, 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := open(b, endless{}, Options{Memory: 64 << 20})
			ranges := benchRanges(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Read(b.Context(), benchKey, ranges); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWarmParallel reads ranges that are in memory, in as many goroutines as there are processors.
func BenchmarkWarmParallel(b *testing.B) {
	c := open(b, endless{}, Options{Memory: 64 << 20})
	ranges := benchRanges(3)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Read(b.Context(), benchKey, ranges); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkCold reads three ranges of 16 KiB from a store that takes no time, and evicts
// three others.
func BenchmarkCold(b *testing.B) {
	for _, dir := range []string{"", b.TempDir()} {
		b.Run(fmt.Sprintf("disk=%t", dir != ""), func(b *testing.B) {
			c := open(b, endless{}, Options{Memory: 4 << 20, Dir: dir, Disk: 64 << 20})
			b.ReportAllocs()
			for i := int64(0); b.Loop(); i++ {
				if _, err := c.Read(b.Context(), benchKey, blocks(16<<10, 9*i, 9*i+2, 9*i+4)); err != nil {
					b.Fatal(err)
				}
			}
			c.work.Wait()
		})
	}
}

// BenchmarkDisk reads a range of 16 KiB that is on disk.
func BenchmarkDisk(b *testing.B) {
	o := Options{Memory: 1 << 20, Dir: b.TempDir(), Disk: 64 << 20}
	c := open(b, endless{}, o)
	ranges := benchRanges(1_000)
	if _, err := c.Read(b.Context(), benchKey, ranges); err != nil {
		b.Fatal(err)
	}
	c.work.Wait()
	c.reserve(c.room())
	b.SetBytes(16 << 10)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := c.Read(b.Context(), benchKey, ranges[i%1_000:i%1_000+1]); err != nil {
			b.Fatal(err)
		}
	}
	if s := c.Stats(); s.Misses != 1_000 {
		b.Fatalf("not from disk: %+v", s)
	}
}

// BenchmarkJoin measures the function join on ranges of 16 KiB at random offsets of an object. It
// reports the number of requests, and the bytes read and wanted.
func BenchmarkJoin(b *testing.B) {
	for _, c := range []struct{ ranges, size int }{{3, 32 << 20}, {10, 4 << 20}, {10, 32 << 20}, {300, 32 << 20}} {
		b.Run(fmt.Sprintf("%d in %d MiB", c.ranges, c.size>>20), func(b *testing.B) {
			random := rand.New(rand.NewPCG(5, 6))
			var requests, read, wanted int64
			for b.Loop() {
				b.StopTimer()
				ranges := scattered(random, c.ranges, c.size)
				b.StartTimer()
				for _, s := range join(ranges) {
					requests++
					read += s.Length
				}
				for _, r := range ranges {
					wanted += r.Length
				}
			}
			b.ReportMetric(float64(requests)/float64(b.N), "requests/op")
			b.ReportMetric(float64(read)/float64(b.N), "read-B/op")
			b.ReportMetric(float64(wanted)/float64(b.N), "wanted-B/op")
		})
	}
}
