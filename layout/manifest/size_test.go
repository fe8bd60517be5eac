package manifest_test

import (
	"crypto/rand"
	"encoding/hex"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// large is an edit that makes the manifest of a busy partition, which gets a package a minute and lists
// 10,000 packages. Each merge replaces eight books or segments of about the same size by one. The
// replaced ones stay in the list Condemned for ten days.
func large(m *manifest.Manifest) error {
	hash := func() string {
		content := make([]byte, 16)
		_, _ = rand.Read(content)
		return hex.EncodeToString(content)
	}
	var books, segments [][]string // keys by size class
	merged := func(sizes [][]string, key func(layout.Partition, string) string, place time.Time) [][]string {
		for size := 0; ; size++ {
			if size == len(sizes) {
				sizes = append(sizes, nil)
			}
			if sizes[size] = append(sizes[size], key(0, hash())); len(sizes[size]) < 8 {
				return sizes
			}
			if noon.Sub(place) < 10*24*time.Hour {
				m.Condemn(place, sizes[size]...)
			}
			sizes[size] = nil
		}
	}
	for n := range 10_000 {
		place := noon.Add(time.Duration(n-10_000)*time.Minute - time.Duration(n*7919%1000)*time.Millisecond)
		m.Generation = uint64(3 * n)
		key := layout.PackageKey(0, layout.PackageName{Base: 2, Exponent: int16(n % 3), Created: place})
		m.Add(manifest.Package{Key: key, Bytes: int64(n) * 104729 % (32 << 20), Pages: n * 31 % 1000, Indexed: true})
		books, segments = merged(books, layout.BookKey, place), merged(segments, layout.SegmentKey, place)
	}
	m.Generation = 0
	for _, keys := range books {
		for _, key := range keys {
			m.Books = append(m.Books, manifest.Book{Key: key, Bytes: 1 << 20, Outcomes: 1000, Links: 10_000})
		}
	}
	for _, keys := range segments {
		for _, key := range keys {
			m.Segments = append(m.Segments, manifest.Segment{Key: key, Bytes: 1 << 20, Tail: 1 << 12, Documents: 1000, Parts: []manifest.Part{{Package: 1, Documents: 1000}}})
		}
	}
	return nil
}

func TestLargeManifestIsSmall(t *testing.T) {
	bucket := memblob.New()
	if _, err := manifest.Commit(t.Context(), bucket, 0, clock, large); err != nil {
		t.Fatal(err)
	}
	size, err := bucket.Head(t.Context(), layout.ManifestKey(0, 1))
	if err != nil || size > 1<<20 {
		t.Errorf("10,000 packages take %d bytes, %v", size, err)
	}
	m, err := manifest.Read(t.Context(), bucket, 0)
	if err != nil || len(m.Packages) != 10_000 || len(m.Condemned) < 20_000 {
		t.Errorf("%d packages, %d condemned, %v", len(m.Packages), len(m.Condemned), err)
	}
	t.Logf("%d bytes, %d condemned", size, len(m.Condemned))
}
