package segment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/layout/racetest"
)

// sections returns parts of a segment by their names. The part "terms" has the bytes of all terms
// with their positions. The other parts are the columns.
func sections(s *Segment, content []byte) map[string][]byte {
	all := map[string][]byte{
		"terms": content[s.tail.terms.start:s.tail.terms.end()],
	}
	for _, c := range s.tail.columns {
		all[c.name] = content[c.offset:][:c.size]
	}
	return all
}

// TestMergeIsBuild checks that merging segments of several sizes gives the same bytes as building one
// segment of all documents.
func TestMergeIsBuild(t *testing.T) {
	docs := generate(300, 1)
	cuttings := [][]int{{300}, {100, 200}, {0, 1, 2, 3, 150}, {7, 14, 21, 28, 35, 42, 49, 299}}
	for _, cuts := range cuttings[:racetest.Rounds(4, 1)] {
		var inputs []Input
		for i, from := 0, 0; i <= len(cuts); i++ {
			to := len(docs)
			if i < len(cuts) {
				to = cuts[i]
			}
			inputs = append(inputs, Input{Segment: mustOpen(t, mustBuild(t, docs[from:to], 0))})
			from = to
		}
		merged := mustMerge(t, inputs...)
		built := mustBuild(t, docs, 0)
		got, want := mustOpen(t, merged), mustOpen(t, built)
		for name, content := range sections(want, built) {
			if !bytes.Equal(content, sections(got, merged)[name]) {
				t.Errorf("cut at %v: %s differ", cuts, name)
			}
		}
		if d := cmp.Diff(want.Totals(), got.Totals()); d != "" {
			t.Errorf("cut at %v: totals (-want +got)\n%s", cuts, d)
		}
		if d := cmp.Diff(want.Parts(), got.Parts()); d != "" {
			t.Errorf("cut at %v: parts (-want +got)\n%s", cuts, d)
		}
		if d := cmp.Diff(stripped(docs), allStored(t, got)); d != "" {
			t.Errorf("cut at %v: documents (-want +got)\n%s", cuts, d)
		}
	}
}

func allStored(t *testing.T, s *Segment) []Document {
	t.Helper()
	numbers := make([]uint32, s.Documents())
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	docs, err := s.Stored(t.Context(), numbers)
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// TestMergeDrops merges segments of which some documents are dead. The result must equal a segment
// that is built from the living documents alone. Only the stored number of documents with a given
// word may be too high, if the word is common. In one input of 600 documents, lists of postings have several blocks, and
// those of terms without dead documents are copied.
func TestMergeDrops(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	cases := []struct {
		inputs, documents int // number of inputs, and of documents of each
		share             float64
	}{{3, 100, 0.01}, {1, 600, 0.005}, {3, 100, 0.2}, {1, 600, 0.2}, {3, 100, 0.9}, {3, 100, 1}}
	for _, test := range racetest.Rounds(cases, cases[1:3]) {
		share := test.share
		var inputs []Input
		var live []Document
		deleted := uint64(0)
		for seed := range uint64(test.inputs) {
			docs := generate(test.documents, seed)
			dead := roaring.BitmapOf(5)
			docs[5].Lang = "fr" // a language of no living document
			for i := range docs {
				if random.Float64() < share {
					dead.AddInt(i)
				}
			}
			deleted += dead.GetCardinality()
			inputs = append(inputs, Input{mustOpen(t, mustBuild(t, docs, 0)), dead})
			live = append(live, without(docs, dead)...)
		}
		merged, built := mustMerge(t, inputs...), mustBuild(t, live, 0)
		got, want := mustOpen(t, merged), mustOpen(t, built)
		for name, content := range sections(want, built) {
			if name != words && name != samples && !strings.HasPrefix(name, words) && !bytes.Equal(content, sections(got, merged)[name]) {
				t.Errorf("share %v: %s differ", share, name)
			}
		}
		if d := cmp.Diff(want.tail.terms.separators, got.tail.terms.separators); d != "" {
			t.Errorf("share %v: separators of terms (-want +got)\n%s", share, d)
		}
		if d := cmp.Diff(stripped(live), allStored(t, got), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("share %v: documents (-want +got)\n%s", share, d)
		}
		if d := cmp.Diff(want.Parts(), got.Parts()); d != "" {
			t.Errorf("share %v: parts (-want +got)\n%s", share, d)
		}
		checkWords(t, fmt.Sprint("share ", share), inputs, wordsOf(t, want), wordsOf(t, got), deleted)
	}
}

// checkWords checks, for each word, the number of documents with this word. The map got holds the
// numbers in a merged segment; want holds the numbers of living documents. The two must be equal
// for words that are in at most sampleSize documents of each input. For more frequent words the
// numbers are estimated: they may be too high, by at most the number of deleted documents, and a
// few such words may be missing.
func checkWords(t *testing.T, name string, inputs []Input, want, got map[string]uint64, deleted uint64) {
	t.Helper()
	rare := map[string]bool{} // words that are in at most sampleSize documents of each input
	for _, in := range inputs {
		for word, n := range wordsOf(t, in.Segment) {
			known, found := rare[word]
			rare[word] = n <= sampleSize && (known || !found)
		}
	}
	missing := 0
	for word, n := range want {
		switch {
		case got[word] == 0 && !rare[word]:
			missing++
		case rare[word] && got[word] != n, got[word] < n && len(inputs) == 1, got[word] > n+deleted:
			t.Errorf("%s: %q is held by %d documents, want %d", name, word, got[word], n)
		}
	}
	// If 60 of 300 documents are left out, the whole sample of a word may be among them, but
	// only for a few words in a hundred thousand.
	if missing > 0 && deleted < 100 {
		t.Errorf("%s: %d of %d words were dropped too early", name, missing, len(want))
	}
	for word := range got {
		if want[word] == 0 {
			t.Errorf("%s: %q is held by no live document", name, word)
		}
	}
}

// TestMergeAgain merges twelve segments one by one into a growing segment, and also all at once.
// Both ways must give the same terms, columns and stored documents.
func TestMergeAgain(t *testing.T) {
	var all []Document
	var once []Input
	merged := mustBuild(t, nil, 0)
	for seed := range uint64(12) {
		docs := generate(15, seed)
		all = append(all, docs...)
		part := Input{Segment: mustOpen(t, mustBuild(t, docs, 0))}
		once = append(once, part)
		merged = mustMerge(t, Input{Segment: mustOpen(t, merged)}, part)
	}
	s := mustOpen(t, merged)
	atOnce := mustMerge(t, once...)
	for name, content := range sections(mustOpen(t, atOnce), atOnce) {
		if !bytes.Equal(content, sections(s, merged)[name]) {
			t.Errorf("%s differ", name)
		}
	}
	if d := cmp.Diff(stripped(all), allStored(t, s)); d != "" {
		t.Errorf("documents (-want +got)\n%s", d)
	}
	// The number of small blocks does not grow with each merge.
	small := 0
	for _, raw := range s.tail.stored.raw {
		if raw < storedBlock/2 {
			small++
		}
	}
	if total := len(s.tail.stored.raw); total < 2 || small > total/2+1 {
		t.Errorf("%d of %d stored blocks are small", small, total)
	}
}

func TestMergeCopiesBlocks(t *testing.T) {
	content := mustBuild(t, generate(300, 1), 0)
	s := mustOpen(t, content)
	merged := mustMerge(t, Input{Segment: s}, Input{Segment: mustOpen(t, mustBuild(t, generate(300, 2), 0))})
	first := s.tail.stored.at(0)
	if !bytes.Contains(merged, content[first.Offset:][:first.Length]) {
		t.Error("the first block was not copied")
	}
}

func TestMergeFails(t *testing.T) {
	s := mustOpen(t, mustBuild(t, generate(30, 1), 0))
	if _, _, err := Merge(t.Context(), []Input{{Segment: s}}, 1000, ""); !errors.Is(err, ErrTooLarge) {
		t.Error("more bytes than allowed were merged")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Merge(ctx, []Input{{Segment: s}}, 1<<30, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	damage := slices.Clone(mustBuild(t, generate(30, 1), 0))
	damage[s.tail.stored.start+20]++
	if _, _, err := Merge(t.Context(), []Input{{Segment: mustOpen(t, damage)}}, 1<<30, ""); !errors.Is(err, ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
	for name, lengthen := range map[string]func(*columnWriter){
		"sketches": func(w *columnWriter) { w.sketches = append(w.sketches, make([]byte, sketchSize)...) },
		"vectors":  func(w *columnWriter) { w.vectors = append(w.vectors, make([]byte, VectorSize)...) },
	} {
		b := NewBuilder(nil)
		if err := b.Add(&Document{}, tokensOf(&Document{})); err != nil {
			t.Fatal(err)
		}
		lengthen(&b.columns)
		content, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Merge(t.Context(), []Input{{Segment: mustOpen(t, content)}}, 1<<30, ""); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s of one more document: %v", name, err)
		}
	}
}

// TestTooLarge checks that no segment is written that exceeds a limit of the format, and that the error says so.
func TestTooLarge(t *testing.T) {
	half := &Segment{tail: &tail{documents: MaxDocuments/2 + 1}}
	if _, _, err := Merge(t.Context(), []Input{{Segment: half}, {Segment: half}}, MaxBytes, ""); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many documents: %v", err)
	}
	for size, want := range map[int]error{maxColumn: nil, maxColumn + 1: ErrTooLarge} {
		var o objectWriter
		o.closeColumn("words", wordsKind, 0, size)
		if _, err := o.joined(); !errors.Is(err, want) {
			t.Errorf("column of %d bytes: %v, want %v", size, err, want)
		}
	}
}

// TestAnalysis merges segments that were built with several versions of each language's analyzer.
// For each language, the merged segment must give the lowest of these versions.
func TestAnalysis(t *testing.T) {
	docs := generate(30, 1)
	var inputs []Input
	for _, version := range []uint32{5, 4, 7} {
		b := NewBuilder(map[string]uint32{"en": version, "de": 9 - version})
		for i := range docs {
			if err := b.Add(&docs[i], tokensOf(&docs[i])); err != nil {
				t.Fatal(err)
			}
		}
		content, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, Input{Segment: mustOpen(t, content)})
	}
	got := mustOpen(t, mustMerge(t, inputs...)).Analysis()
	if d := cmp.Diff(map[string]uint32{"": 0, "en": 4, "de": 2}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
