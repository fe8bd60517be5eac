package verify_test

import (
	"bytes"

	"github.com/RoaringBitmap/roaring"
	"github.com/klauspost/compress/zstd"

	"github.com/bucketsearch/bucketsearch/functions/command/verify/verifytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/dictionary"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

const (
	firstPackage  = "packages/0000/2_0_20261121220000000.spf"
	secondPackage = "packages/0000/2_0_20261121220000000_1.spf"
)

func firstBook(w *world) string  { return w.Manifest().Books[0].Key }
func oneSegment(w *world) string { return w.Manifest().Segments[1].Key }

// oneOverlay fetches and indexes page 1 again. So the page's old document, in the second segment,
// becomes dead. oneOverlay returns the key of the overlay that marks it as dead.
func oneOverlay(w *world) string {
	w.Index(w.Learn(verifytest.Batch(3), []string{site + "1"}))
	return w.Manifest().Segments[1].Deletions.Key
}

// anchors stores an overlay (a small object beside a segment) with anchors, texts of links, for all
// documents of the second segment. It returns the key of the overlay.
func anchors(w *world) string {
	w.T.Helper()
	s := w.Manifest().Segments[1]
	var documents []*segments.Page
	for range s.Documents {
		documents = append(documents, &segments.Page{Document: segment.Document{Headings: []string{"text"}}})
	}
	content, err := segments.Build(documents)
	if err != nil {
		w.T.Fatal(err)
	}
	functionstest.Edit(w.T, w.Bucket, 0, func(e *partition.Edit) error {
		_, err := e.SetAnchors(w.T.Context(), map[string][]byte{s.Key: content})
		return err
	})
	return w.Manifest().Segments[1].Anchors.Key
}

// unvisited stores an overlay with a URL that was found but not fetched, so that searches find the URL.
// It returns the key of the overlay.
func unvisited(w *world) string {
	w.T.Helper()
	content, err := segments.Build([]*segments.Page{{Document: segment.Document{URL: site + "9", Headings: []string{"text"}}}})
	if err != nil {
		w.T.Fatal(err)
	}
	functionstest.Edit(w.T, w.Bucket, 0, func(e *partition.Edit) error {
		_, err := e.SetUnvisited(w.T.Context(), content, 1, 0)
		return err
	})
	return w.Manifest().Unvisited.Key
}

// bilingual gives the partition a dictionary of English and German, and returns the dictionary's
// key.
func bilingual(w *world) string {
	w.T.Helper()
	content, err := dictionary.Encode("en", "de", nil)
	if err != nil {
		w.T.Fatal(err)
	}
	functionstest.Edit(w.T, w.Bucket, 0, func(e *partition.Edit) error {
		return e.SetDictionary(w.T.Context(), manifest.Dictionary{From: "en", To: "de"}, content)
	})
	return w.Manifest().Dictionaries.All[0].Key
}

// oneRanking stores an overlay (a small object beside a segment) with the ranks of all documents of
// the second segment. It returns the key of the overlay.
func oneRanking(w *world) string {
	w.T.Helper()
	s := w.Manifest().Segments[1]
	functionstest.Edit(w.T, w.Bucket, 0, func(e *partition.Edit) error {
		_, err := e.SetRanks(w.T.Context(), map[string][]segment.Rank{s.Key: make([]segment.Rank, s.Documents)})
		return err
	})
	return w.Manifest().Segments[1].Ranks.Key
}

// mask marks a document of a segment as dead.
func (w *world) mask(segment int, doc uint32) {
	w.T.Helper()
	key := w.Manifest().Segments[segment].Key
	functionstest.Edit(w.T, w.Bucket, 0, func(e *partition.Edit) error {
		return e.Mask(w.T.Context(), map[string]*roaring.Bitmap{key: roaring.BitmapOf(doc)})
	})
}

// flipAt returns a function that flips a bit of the byte at the given offset.
func flipAt(at int) func([]byte) []byte {
	return func(content []byte) []byte {
		content[at] ^= 1
		return content
	}
}

// edit sets one page count in the bytes of a manifest to a wrong value. The manifest can still be
// parsed.
func edit(stored []byte) []byte { return replace(stored, `"pages":1`, `"pages":7`) }

// replace returns the bytes of a manifest in which the first occurrence of one text is replaced by
// another text.
func replace(stored []byte, old, now string) []byte {
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		panic(err)
	}
	defer decoder.Close()
	content, err := decoder.DecodeAll(stored, nil)
	if err != nil {
		panic(err)
	}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return encoder.EncodeAll(bytes.Replace(content, []byte(old), []byte(now), 1), nil)
}
