package manifest_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// BenchmarkCommit measures commits on a partition that gets a package every minute, and lists 10, 1,000 or 10,000
// packages. The commits are, in turn, those of pack, of index and of merge, which replaces a book and a segment.
// The metrics are averages for a commit: the bytes that stay stored, the bytes that are written (with the hint,
// which is replaced), and the requests of each kind.
func BenchmarkCommit(b *testing.B) {
	for _, packages := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(packages), func(b *testing.B) {
			bucket := countblob.New(memblob.New())
			m, err := manifest.Commit(b.Context(), bucket, 0, clock, func(m *manifest.Manifest) error { busy(m, packages); return nil })
			if err != nil {
				b.Fatal(err)
			}
			before, first := bucket.Counts(), m.Generation
			b.ResetTimer()
			for n := range b.N {
				m, err = manifest.CommitAfter(b.Context(), bucket, m, clock, func(m *manifest.Manifest) error { step(m, n); return nil })
				if err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			after := bucket.Counts()
			per := func(n int64, unit string) { b.ReportMetric(float64(n)/float64(b.N), unit) }
			per(after.Get+after.Head-before.Get-before.Head, "GETs/commit")
			per(after.Put-before.Put, "PUTs/commit")
			per(after.Written-before.Written, "written-B/commit")
			per(stores(b.Context(), bucket, first), "stored-B/commit")
		})
	}
}

// BenchmarkRead measures how a process that knows no generation reads the newest one.
func BenchmarkRead(b *testing.B) {
	for _, packages := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(packages), func(b *testing.B) {
			bucket := countblob.New(memblob.New())
			m, err := manifest.Commit(b.Context(), bucket, 0, clock, func(m *manifest.Manifest) error { busy(m, packages); return nil })
			for n := 0; n < 10 && err == nil; n++ {
				m, err = manifest.CommitAfter(b.Context(), bucket, m, clock, func(m *manifest.Manifest) error { step(m, n); return nil })
			}
			if err != nil {
				b.Fatal(err)
			}
			before := bucket.Counts()
			b.ResetTimer()
			for range b.N {
				if _, err := manifest.Read(b.Context(), bucket, 0); err != nil {
					b.Fatal(err)
				}
			}
			after := bucket.Counts()
			b.ReportMetric(float64(after.Get+after.Head-before.Get-before.Head)/float64(b.N), "GETs/read")
			b.ReportMetric(float64(after.Read-before.Read)/float64(b.N), "read-B/read")
		})
	}
}

// stores returns the sum of the sizes of the generations after the given one.
func stores(ctx context.Context, bucket *countblob.Bucket, after uint64) (sum int64) {
	for object, err := range bucket.List(ctx, layout.ManifestPrefix(0), layout.ManifestKey(0, after)) {
		if err != nil {
			panic(err)
		}
		sum += object.Size
	}
	return sum
}

// hashOf returns a content hash that differs for each number.
func hashOf(n int) string {
	return layout.ContentHash(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

// busy fills the manifest of a partition that lists the given number of packages: one for each minute, and
// 2.3 objects condemned for each minute of the last ten days. Those of the last day are in the manifest.
func busy(m *manifest.Manifest, packages int) {
	for n := range packages {
		place := noon.Add(time.Duration(n-packages)*time.Minute - time.Duration(n*7919%1000)*time.Millisecond)
		m.Add(manifest.Package{
			Key:   layout.PackageKey(0, layout.PackageName{Base: 2, Exponent: int16(n % 3), Created: place}),
			Bytes: int64(n) * 104729 % (32 << 20), Pages: n * 31 % 1000, Indexed: true,
		})
	}
	for n := range min(packages, 30) {
		m.Books = append(m.Books, manifest.Book{Key: layout.BookKey(0, hashOf(-n-1)), Bytes: 1 << 20, Outcomes: 1000, Links: 10_000})
		m.Segments = append(m.Segments, manifest.Segment{Key: layout.SegmentKey(0, hashOf(-n-1)), Bytes: 1 << 20, Tail: 1 << 12, Documents: 1000, Parts: parts(packages / 30)})
	}
	minutes := min(packages, 10*24*60)
	for n := range minutes * 23 / 10 {
		when := noon.Add(-time.Duration(n*10/23) * time.Minute)
		if noon.Sub(when) < 24*time.Hour {
			m.Condemn(when, layout.SegmentKey(0, hashOf(n)))
		}
	}
	for day := 1; day < (minutes+24*60-1)/(24*60); day++ {
		key := layout.OverlayKey(0, uint64(day), hashOf(day))
		m.CondemnedLists = append(m.CondemnedLists, manifest.CondemnedList{Key: key, Bytes: 80_000, Records: 3312, At: noon, Since: 1})
	}
}

func parts(n int) (all []manifest.Part) {
	for id := range n + 1 {
		all = append(all, manifest.Part{Package: uint32(id), Documents: 100})
	}
	return all
}

// step makes the n-th commit: by turns one of pack, index and merge.
func step(m *manifest.Manifest, n int) {
	key, batch := hashOf(1<<32+n), layout.Version{Epoch: 1, Token: uint64(n) + 1}
	switch n % 3 {
	case 0:
		m.Add(manifest.Package{Key: layout.PackageKey(0, layout.PackageName{Base: 2, Created: noon.Add(time.Duration(n) * time.Second)}), Bytes: 5 << 20, Pages: 400})
		m.Books = append(m.Books, manifest.Book{Key: layout.BookKey(0, key), Bytes: 1 << 18, Outcomes: 500, Links: 9000})
		m.Consumed = append(m.Consumed, manifest.Consumed{Batch: batch, At: noon})
		m.Consumed = m.Consumed[max(0, len(m.Consumed)-15):]
		m.Learnt = fmt.Sprintf("%s@%d", layout.BookKey(0, key), m.Generation+1)
	case 1:
		last := &m.Packages[len(m.Packages)-1]
		last.Indexed = true
		m.Segments = append(m.Segments, manifest.Segment{Key: layout.SegmentKey(0, key), Bytes: 1 << 20, Tail: 9000, Documents: 400, Parts: []manifest.Part{{Package: last.ID, Documents: 400}}})
		other := &m.Segments[n%(len(m.Segments)-1)]
		other.Deletions = &manifest.Deletions{Key: layout.OverlayKey(0, m.Generation+1, key), Bytes: 300, Documents: 7}
	case 2:
		m.Condemn(noon, m.Books[0].Key, m.Segments[len(m.Segments)-2].Key)
		m.Books = m.Books[1:]
		merged := m.Segments[len(m.Segments)-1]
		merged.Key = layout.SegmentKey(0, key)
		m.Segments = append(m.Segments[:len(m.Segments)-2], merged)
	}
}
