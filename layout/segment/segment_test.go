package segment

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

// TestTerms checks that the segment has exactly the postings that a simple inverted index of the
// same documents has.
func TestTerms(t *testing.T) {
	docs := generate(300, 1)
	s := mustOpen(t, mustBuild(t, docs, 0))
	want, _ := invert(docs)
	names := slices.Sorted(maps.Keys(want))
	terms, err := s.Terms(t.Context(), names, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if terms[i] == nil {
			t.Fatalf("term %q is absent", name)
		}
		if got := occurrences(t, s, terms[i]); !reflect.DeepEqual(want[name], got) { // cmp is too slow for so many
			t.Fatalf("term %q (-want +got)\n%s", name, cmp.Diff(want[name], got))
		}
	}
	if len(s.tail.terms.counts) < 3 {
		t.Errorf("%d blocks of terms are too few for this test", len(s.tail.terms.counts))
	}
	absent, err := s.Terms(t.Context(), []string{"", "\x00", "w1x", "zzz", "w", strings.Repeat("w", 300)}, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, term := range absent {
		if term != nil {
			t.Errorf("absent term %d was found: %q", i, term.Text)
		}
	}
}

func TestSizes(t *testing.T) {
	docs := generate(300, 1)
	content := mustBuild(t, docs, 0)
	sizes, terms := mustOpen(t, content).Sizes()
	want, _ := invert(docs)
	if sum := sizes.Stored + sizes.Terms + sizes.Positions + sizes.Words + sizes.Columns + sizes.Tail; sum != int64(len(content)-len(magic)) || terms != int64(len(want)) {
		t.Errorf("%+v and %d terms of %d bytes and %d terms", sizes, terms, len(content), len(want))
	}
}

func TestPrefix(t *testing.T) {
	docs := generate(300, 1)
	s := mustOpen(t, mustBuild(t, docs, 0))
	want, _ := invert(docs)
	all := slices.Sorted(maps.Keys(want))
	for _, prefix := range []string{"", "w", "w1", "w2", "w99", "w0", "h", "https", "nothing", "\xff"} {
		for _, most := range []int{0, 1, 3, 50, 10000} {
			var matching []string
			for _, name := range all {
				if strings.HasPrefix(name, prefix) {
					matching = append(matching, name)
				}
			}
			wantMore := len(matching) > most
			matching = matching[:min(most, len(matching))]
			terms, more, err := s.Prefix(t.Context(), prefix, most)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, term := range terms {
				got = append(got, term.Text)
			}
			if !slices.Equal(got, matching) || more != wantMore {
				t.Errorf("prefix %q, at most %d: %d terms and more %v, want %d and %v", prefix, most, len(got), more, len(matching), wantMore)
			}
		}
	}
}

func TestStored(t *testing.T) {
	docs := generate(300, 1)
	docs[7].ID = layout.IdentityOf("not its URL")
	docs[8].Body = strings.Repeat("a body of more than a block ", 9000)
	s := mustOpen(t, mustBuild(t, docs, 0))
	asked := []uint32{299, 7, 8, 0, 7}
	var want []Document
	for _, doc := range asked {
		want = append(want, stripped(docs)[doc])
	}
	got, err := s.Stored(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if _, err := s.Stored(t.Context(), []uint32{300}); err == nil {
		t.Error("a document behind the last was read")
	}
}

func TestColumns(t *testing.T) {
	docs := generate(100, 1)
	s := mustOpen(t, mustBuild(t, docs, 0))
	ids, err := s.Identities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	versions, err := s.Versions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sketches, err := s.Sketches(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string][]uint64{}
	for _, name := range numberColumns {
		if numbers[name], err = s.Numbers(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	texts := map[string]*StringColumn{}
	for _, name := range stringColumns {
		if texts[name], err = s.Strings(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	for i, d := range docs {
		doc := uint32(i)
		got := Document{ID: ids[i], Version: versions[i], Sketch: sketches[i], TitleHash: numbers[TitleHashes][i],
			TextHash: numbers[TextHashes][i], Simhash: numbers[Simhashes][i], Collections: texts[Collections].Get(doc),
			Offset: int64(numbers[Offsets][i]), Length: int64(numbers[Lengths][i]), Fetched: d.Fetched,
			Site: texts[Sites].Get(doc)[0], Lang: texts[Languages].Get(doc)[0], MIME: texts[Types].Get(doc)[0],
			Package: texts[Packages].Get(doc)[0], URL: d.URL, Title: d.Title, Headings: d.Headings, Body: d.Body}
		if d := cmp.Diff(d, got); d != "" {
			t.Errorf("document %d (-want +got)\n%s", i, d)
		}
		if numbers[Dates][i] != uint64(d.Fetched.UnixMilli()) || numbers[BodyLengths][i] != uint64(len(strings.Fields(d.Body))) {
			t.Errorf("document %d: date %d, length of body %d", i, numbers[Dates][i], numbers[BodyLengths][i])
		}
	}
	if _, err := s.Numbers(t.Context(), Sites); err == nil {
		t.Error("strings were read as numbers")
	}
}

func TestTail(t *testing.T) {
	docs := generate(50, 1)
	docs = append(docs, generate(20, 2)...)
	for i := range docs {
		docs[i].Lang = []string{"en", "de", "en"}[i%3]
	}
	s := mustOpen(t, mustBuild(t, docs, 0))
	wantParts := []Part{{docs[0].Package, 50}, {docs[50].Package, 20}}
	if d := cmp.Diff(wantParts, s.Parts()); d != "" {
		t.Errorf("parts (-want +got)\n%s", d)
	}
	if d := cmp.Diff(map[string]int{"en": 47, "de": 23}, s.Languages()); d != "" {
		t.Errorf("languages (-want +got)\n%s", d)
	}
	if d := cmp.Diff(map[string]uint32{"en": 3, "de": 2}, s.Analysis()); d != "" {
		t.Errorf("analysis (-want +got)\n%s", d)
	}
	want := Totals{Documents: 70}
	for i := range docs {
		var seen [4]bool
		for token := range tokensOf(&docs[i]) {
			f := &want.Fields[token.Field]
			f.Length++
			if !seen[token.Field] {
				seen[token.Field] = true
				f.Documents++
			}
		}
	}
	if d := cmp.Diff(want, s.Totals()); d != "" {
		t.Errorf("totals (-want +got)\n%s", d)
	}
	if s.Documents() != 70 || s.Size() <= 0 {
		t.Errorf("%d documents, %d bytes", s.Documents(), s.Size())
	}
}

func TestWords(t *testing.T) {
	docs := generate(300, 1)
	_, want := invert(docs)
	if d := cmp.Diff(want, wordsOf(t, mustOpen(t, mustBuild(t, docs, 0)))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestReads checks how many calls of Source.Read each method makes, and how many ranges it reads.
func TestReads(t *testing.T) {
	content := mustBuild(t, generate(300, 1), 0)
	last, err := TailOf(content)
	if err != nil {
		t.Fatal(err)
	}
	source := &counting{Source: Bytes(content)}
	s, err := Open(t.Context(), source, Ref{Key: "a key", Bytes: int64(len(content)), Tail: last})
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, reads, ranges int, err error) {
		t.Helper()
		if err != nil || source.reads != reads || source.ranges != ranges {
			t.Errorf("%s: %d reads of %d ranges, want %d of %d; %v", what, source.reads, source.ranges, reads, ranges, err)
		}
		source.reads, source.ranges = 0, 0
	}
	check("opening", 1, 1, nil)
	_, err = s.Terms(t.Context(), []string{"w1", "w2", "absent", "w1"}, false)
	check("terms", 1, 2, err)
	terms, err := s.Terms(t.Context(), []string{"w1", "w2", "absent", "w1"}, true)
	check("terms and positions", 1, 4, err)
	_, err = s.ReadPositions(t.Context(), []Positions{{terms[0], 0, 1}, {terms[1], 0, 1}})
	check("positions that were read", 0, 0, err)
	_, err = s.Terms(t.Context(), []string{"zzz"}, true)
	check("a term behind all", 0, 0, err)
	_, err = s.Stored(t.Context(), []uint32{0, 1, 299})
	check("documents", 1, 2, err)
	_, err = s.Words(t.Context(), TheWord("w1"), Beginning("w10"))
	check("words", 1, 1, err)
	_, err = s.Numbers(t.Context(), Dates)
	check("a column", 1, 1, err)
	_, _, err = s.Prefix(t.Context(), "w1", 1)
	if source.reads != 1 || err != nil {
		t.Errorf("prefix: %d reads, %v", source.reads, err)
	}
}

func TestEmpty(t *testing.T) {
	s := mustOpen(t, mustBuild(t, nil, 0))
	terms, err := s.Terms(t.Context(), []string{"a"}, true)
	if err != nil || terms[0] != nil || s.Documents() != 0 || len(s.Parts()) != 0 {
		t.Errorf("%v, %v, %d documents", terms, err, s.Documents())
	}
	if terms, more, err := s.Prefix(t.Context(), "", 3); err != nil || more || len(terms) != 0 {
		t.Errorf("%v, %v, %v", terms, more, err)
	}
	if words := wordsOf(t, s); len(words) != 0 {
		t.Errorf("words: %v", words)
	}
	if merged := mustMerge(t, Input{Segment: s}, Input{Segment: s}); mustOpen(t, merged).Documents() != 0 {
		t.Error("nothing merged is not nothing")
	}
}

// TestWordless builds and merges a segment whose documents have no words.
func TestWordless(t *testing.T) {
	docs := []Document{{ID: layout.IdentityOf("a")}, {ID: layout.IdentityOf("b")}}
	built := mustBuild(t, docs, 0)
	s := mustOpen(t, built)
	if words := wordsOf(t, s); len(words) != 0 {
		t.Errorf("words: %v", words)
	}
	merged := mustMerge(t, Input{Segment: mustOpen(t, mustBuild(t, docs[:1], 0))}, Input{Segment: mustOpen(t, mustBuild(t, docs[1:], 0))})
	if !bytes.Equal(merged, built) {
		t.Error("merged, it differs from one that was built of its documents")
	}
}
