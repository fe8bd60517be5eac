package s3

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
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

// BenchmarkCommit commits generations of a partition that lists 10,000 packages, one after another.
func BenchmarkCommit(b *testing.B) {
	_, bucket := start(b, b.TempDir(), ignore)
	packages := func(m *manifest.Manifest) error {
		for n := range 10_000 {
			name := layout.PackageName{Base: 2, Created: time.Date(2026, 11, 21, 12, n, 0, n*7919%1000*1e6, time.UTC)}
			m.Add(manifest.Package{Key: layout.PackageKey(0, name), Bytes: int64(n) * 104729 % (32 << 20), Pages: n * 31 % 1000})
		}
		return nil
	}
	m, err := manifest.Commit(b.Context(), bucket, 0, time.Now, packages)
	if err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		index := func(m *manifest.Manifest) error {
			m.Packages[n%10_000].Indexed = !m.Packages[n%10_000].Indexed
			return nil
		}
		if m, err = manifest.CommitAfter(b.Context(), bucket, m, time.Now, index); err != nil {
			b.Fatal(err)
		}
	}
}
