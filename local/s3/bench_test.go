package s3

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// BenchmarkStart measures the total time to start a server (until it answers) and to stop it.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		server, err := Start(b.Context(), self(b, "child"), options(b.TempDir()), Events{Stored: ignore})
		if err != nil {
			b.Fatal(err)
		}
		server.Close()
	}
}

// BenchmarkCreate stores objects of 2 KiB, 16 at once.
func BenchmarkCreate(b *testing.B) {
	_, bucket := start(b, b.TempDir(), ignore)
	var next atomic.Int64
	body := make([]byte, 2<<10)
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n := next.Add(1)
			if err := bucket.Create(b.Context(), fmt.Sprintf("%d/%d", n%100, n), body); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkGet reads ranges of 2 KiB from one object of 32 MiB, with eight concurrent readers per
// processor.
func BenchmarkGet(b *testing.B) {
	_, bucket := start(b, b.TempDir(), ignore)
	if err := bucket.Create(b.Context(), "package", make([]byte, 32<<20)); err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			span := blob.Range{Offset: next.Add(1) * 4099 % (31 << 20), Length: 2 << 10}
			if _, err := bucket.Get(b.Context(), "package", span); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkCreatePackage stores objects of 32 MiB, one after another.
func BenchmarkCreatePackage(b *testing.B) {
	_, bucket := start(b, b.TempDir(), ignore)
	body, n := make([]byte, 32<<20), 0
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		n++
		if err := bucket.Create(b.Context(), fmt.Sprint(n), body); err != nil {
			b.Fatal(err)
		}
	}
}
