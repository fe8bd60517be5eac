package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

func TestMemoryIsBounded(t *testing.T) {
	const limit = 100_000
	m := NewMemory(limit)
	put := func(doc uint32, d segment.Document) { m.putDocument(place{segment: "s", doc: doc}, &d) }
	kept := func() (n int) {
		for i := range 100 {
			if _, known := m.known[place{segment: "s", doc: uint32(i)}]; known {
				n++
			}
		}
		return n
	}
	for i := range 100 {
		put(uint32(i), page(fmt.Sprint(i), strings.Repeat("x", 5000)))
		if i >= 3 {
			if m.document(place{segment: "s", doc: 3}) == nil {
				t.Fatalf("what is used again and again was pushed out by %d", i)
			}
		}
		if m.bytes > limit || m.recent.Len() != len(m.known) {
			t.Fatalf("%d bytes, %d documents in order, %d by place", m.bytes, m.recent.Len(), len(m.known))
		}
	}
	if n := kept(); n < 15 || n > 20 {
		t.Errorf("%d of 100 are kept", n)
	}
	put(1000, page("big", strings.Repeat("x", limit)))
	if m.document(place{segment: "s", doc: 1000}) != nil {
		t.Error("a document as big as the memory was kept")
	}
	if d := m.document(place{segment: "s", doc: 99}); d == nil || d.URL != "99" {
		t.Errorf("got %+v", d)
	}
	if m.document(place{segment: "other", doc: 99}) != nil {
		t.Error("a document of another segment is taken for it")
	}
}

// TestVectorsOfEarlierProgram reads the vectors of a segment that an earlier program has built. They must be those of a
// new segment of the same documents, and be read only once.
func TestVectorsOfEarlierProgram(t *testing.T) {
	docs := []uint32{1, 3}
	later, _ := segmentOfFile(t, "segment.v3.vectorpages")
	want, err := later.Vectors(t.Context(), docs)
	if err != nil {
		t.Fatal(err)
	}
	earlier, counted := segmentOfFile(t, "segment.v3.vectors")
	m := NewMemory(1 << 20)
	for range 2 {
		got, err := m.vectors(t.Context(), earlier, docs)
		if d := cmp.Diff(want, got); d != "" || err != nil || counted.ranges != 1 {
			t.Errorf("after %d reads (-want +got)\n%s (%v)", counted.ranges, d, err)
		}
	}
}

// TestIdleVocabularies checks three things about vocabularies (caches of the terms of words) that no
// query uses: they count towards the size of the cache, only few of them are kept, and they are reused.
func TestIdleVocabularies(t *testing.T) {
	m := NewMemory(16 << 20)
	m.putIdentities("s", make([]layout.Identity, 1000))
	before := m.bytes
	var lent []*vocabulary
	for range maxIdle + 2 {
		lent = append(lent, m.lend())
	}
	for _, v := range lent {
		m.giveBack(v)
	}
	if len(m.idle) != maxIdle || m.bytes != before+maxIdle*vocabularySize {
		t.Errorf("%d wait and count for %d bytes", len(m.idle), m.bytes-before)
	}
	v := m.lend()
	for _, test := range []struct{ language, term string }{{"en", "hous"}, {"", "houses"}, {"en", "hous"}} {
		v.read(test.language)
		if known := v.word("Houses"); known.term != hashOf(test.term) || known.parts != 0 {
			t.Errorf("in %q: %+v, want %s", test.language, known, test.term)
		}
	}
	if m.identities("s") == nil {
		t.Error("identities have gone")
	}
	m.Clear()
	if m.identities("s") != nil || m.bytes != (maxIdle-1)*vocabularySize {
		t.Errorf("%d bytes are left", m.bytes)
	}
	small := NewMemory(vocabularySize)
	if small.giveBack(small.lend()); len(small.idle) != 0 {
		t.Error("a vocabulary was kept that is as big as the memory")
	}
}

// TestGuidesAreReplaced checks that the cache keeps the last guide of a block, within its limit.
func TestGuidesAreReplaced(t *testing.T) {
	m := NewMemory(100_000)
	first, second := new(segment.Guide), new(segment.Guide)
	m.PutGuide("s", 7, first)
	size := m.bytes
	m.PutGuide("s", 7, second)
	if got := m.Guides("s", []int{6, 7}); got[0] != nil || got[1] != second || m.bytes != size {
		t.Errorf("got %p of %p and %p; %d bytes, then %d", got, first, second, size, m.bytes)
	}
	for block := range 1000 {
		m.PutGuide("s", block, first)
	}
	if m.bytes > 100_000 || m.recent.Len() != len(m.known) {
		t.Errorf("%d bytes, %d guides in order, %d by place", m.bytes, m.recent.Len(), len(m.known))
	}
}

// TestColumnsAreParsedOnce checks that the cache returns a column that it has read before, and counts its size.
func TestColumnsAreParsedOnce(t *testing.T) {
	ix := indexOf(t, []segment.Document{page("1", "fox"), page("2", "dog")})
	from, m := ix.parts[0].Segment, NewMemory(100_000)
	for name := range columnPlaces {
		before := m.bytes
		first, err := m.column(t.Context(), from, name)
		if err != nil || m.bytes <= before {
			t.Fatalf("%s: %d bytes, then %d: %v", name, before, m.bytes, err)
		}
		if again, err := m.column(t.Context(), from, name); again != first || err != nil {
			t.Errorf("%s was read again: %v", name, err)
		}
	}
	if want := len(columns); m.recent.Len() != want {
		t.Errorf("%d columns are cached, want %d", m.recent.Len(), want)
	}
}

// TestLargeColumns caches the dates of a large segment, which take a quarter of the memory, and does not cache those of
// one that is larger than that.
func TestLargeColumns(t *testing.T) {
	m := NewMemory(1 << 20)
	for documents, want := range map[int]bool{1 << 17: true, 1 << 18: false} {
		key := fmt.Sprint(documents)
		m.putOwnDates(key, make(ownDates, documents))
		if cached := m.ownDates(key) != nil; cached != want {
			t.Errorf("%d documents: cached is %v", documents, cached)
		}
	}
}
