package segments

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// built returns a segment of so many documents of one package.
func built(t *testing.T, documents int) []byte {
	t.Helper()
	var pages []*Page
	for i := range documents {
		url := "http://a.example/" + string(rune('a'+i))
		pages = append(pages, &Page{Document: segment.Document{ID: layout.IdentityOf(url), URL: url, Site: "a.example", Package: "p"}})
	}
	content, err := Build(pages)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// stored returns a generation that lists one segment of four documents, of
// packages 7 and 8.
func stored(t *testing.T) (*memblob.Bucket, *manifest.Manifest) {
	t.Helper()
	bucket, m := memblob.New(), &manifest.Manifest{Generation: 5}
	s, err := Put(t.Context(), bucket, m, built(t, 4))
	if err != nil {
		t.Fatal(err)
	}
	s.Parts = []manifest.Part{{Package: 7, Documents: 3}, {Package: 8, Documents: 1}}
	m.Segments = append(m.Segments, s)
	return bucket, m
}

func mask(t *testing.T, bucket *memblob.Bucket, m *manifest.Manifest, docs ...uint32) {
	t.Helper()
	if err := Mask(t.Context(), bucket, m, noon, map[string]*roaring.Bitmap{m.Segments[0].Key: roaring.BitmapOf(docs...)}); err != nil {
		t.Fatal(err)
	}
}

func TestMask(t *testing.T) {
	bucket, m := stored(t)
	s := &m.Segments[0]
	mask(t, bucket, m)
	if s.Deletions != nil {
		t.Errorf("deletions of nothing: %+v", s.Deletions)
	}
	mask(t, bucket, m, 1, 3)
	dead, err := Dead(t.Context(), bucket, s)
	if err != nil || !slices.Equal(dead.ToArray(), []uint32{1, 3}) || s.Live() != 2 || !strings.HasPrefix(s.Deletions.Key, "overlays/0000/000000000006_") {
		t.Errorf("dead %v, %v, listed %+v", dead, err, s)
	}
	before := *s.Deletions
	m.Generation++
	mask(t, bucket, m, 1, 3)
	if *s.Deletions != before {
		t.Errorf("the same deletions have another overlay: %+v", s.Deletions)
	}
	if err := Drop(t.Context(), bucket, m, noon, 9); err != nil || *s.Deletions != before {
		t.Errorf("a package that is not there is dropped: %+v, %v", s.Deletions, err)
	}
	key := s.Key
	if err := Drop(t.Context(), bucket, m, noon, 7); err != nil {
		t.Fatal(err)
	}
	if len(m.Segments) != 0 || !m.IsCondemned(key) {
		t.Errorf("nothing lives, and listed are %+v", m.Segments)
	}
}

// What the manifest says and what is there are compared.
func TestDamagedOverlay(t *testing.T) {
	for name, harm := range map[string]func(bucket *memblob.Bucket, s *manifest.Segment) error{
		"of another number":  func(_ *memblob.Bucket, s *manifest.Segment) error { s.Deletions.Documents = 1; return nil },
		"of other documents": func(_ *memblob.Bucket, s *manifest.Segment) error { s.Documents = 5; return nil },
		"damaged": func(bucket *memblob.Bucket, s *manifest.Segment) error {
			return bucket.Replace(t.Context(), s.Deletions.Key, []byte("?"))
		},
	} {
		bucket, m := stored(t)
		mask(t, bucket, m, 1, 3)
		s := &m.Segments[0]
		if err := harm(bucket, s); err != nil {
			t.Fatal(err)
		}
		if _, err := Dead(t.Context(), bucket, s); !errors.Is(err, segment.ErrDamaged) || !strings.Contains(err.Error(), s.Deletions.Key) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpen(t *testing.T) {
	bucket, m := stored(t)
	s := m.Segments[0]
	if opened, err := Open(t.Context(), Ranges{bucket}, &s); err != nil || opened.Documents() != 4 {
		t.Fatal(err)
	}
	s.Documents++
	if _, err := Open(t.Context(), Ranges{bucket}, &s); !errors.Is(err, segment.ErrDamaged) || !strings.Contains(err.Error(), s.Key) {
		t.Errorf("of another number of documents: %v", err)
	}
	if err := bucket.Delete(t.Context(), s.Key); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Ranges{bucket}, &s); !errors.Is(err, blob.ErrAbsent) || !strings.Contains(err.Error(), s.Key) {
		t.Errorf("absent: %v", err)
	}
}

// A key that is condemned, or holds other bytes, is not used.
func TestPut(t *testing.T) {
	bucket, m := stored(t)
	content, first := built(t, 4), m.Segments[0].Key
	if again, err := Put(t.Context(), bucket, m, content); err != nil || again.Key != first {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	m.Condemn(noon, first)
	second, err := Put(t.Context(), bucket, m, content)
	if err != nil || second.Key == first {
		t.Errorf("condemned: %+v, %v", second, err)
	}
	if err := bucket.Replace(t.Context(), second.Key, []byte("?")); err != nil {
		t.Fatal(err)
	}
	m.Generation++
	third, err := Put(t.Context(), bucket, m, content)
	if err != nil || third.Key == first || third.Key == second.Key {
		t.Errorf("damaged: %+v, %v", third, err)
	}
	if _, err := Put(t.Context(), bucket, m, []byte("?")); err == nil {
		t.Error("what is no segment was put")
	}
}
