package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/racetest"
)

// named returns generated documents with names and headings to suggest.
func named(n int, seed uint64) []Document {
	docs := generate(n, seed)
	for i := range docs {
		d := &docs[i]
		d.Name = fmt.Sprintf("Page %d of xmlParser", i)
		d.Headings = append(d.Headings, "See  Also", "PAGE 1 of xmlparser")
		switch {
		case i%11 == 3:
			d.Name = ""
		case i%5 == 0:
			d.Name = "Über uns"
		}
	}
	return docs
}

// suggested returns all suggestions of a segment.
func suggested(t *testing.T, s *Segment) (all []Suggestion) {
	t.Helper()
	found, err := s.Suggestions(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if found == nil {
		return nil
	}
	var numbers []uint32
	for number := range found.count {
		numbers = append(numbers, found.count-1-number)
	}
	all, err = found.Get(t.Context(), numbers)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(all)
	return all
}

func TestSuggestions(t *testing.T) {
	docs := generate(4, 1)
	for i, name := range []string{"VACUUM", "Vacuum", "", "The xmlParser"} {
		docs[i].Name, docs[i].Headings = name, []string{"vacuum", "See also", strings.Repeat("long ", 40), "—"}
	}
	content := mustBuild(t, docs, 0)
	if err := Check(content); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, content)
	want := []Suggestion{
		{Text: "See also", Pages: 3, Docs: []uint32{0, 1, 3}},
		{Text: "The xmlParser", IsTitle: true, Pages: 1, Docs: []uint32{3}, URLs: []string{docs[3].URL}},
		{Text: "VACUUM", IsTitle: true, Pages: 2, Docs: []uint32{0, 1}, URLs: []string{docs[0].URL, docs[1].URL}},
		{Text: "vacuum", Pages: 1, Docs: []uint32{3}},
	}
	if d := cmp.Diff(want, suggested(t, s)); d != "" {
		t.Errorf("suggestions (-want +got)\n%s", d)
	}
	for typed, want := range map[string][]Suggested{
		"vac":        {{Number: 2, IsTitle: true, Pages: 1}, {Number: 3, Doc: 3}},
		"VACUUM ":    {{Number: 2, IsTitle: true, Pages: 1, Whole: true}, {Number: 3, Doc: 3, Whole: true}},
		"pars th":    {{Number: 1, Doc: 3, IsTitle: true, Length: 1}},
		"xmlp":       {{Number: 1, Doc: 3, IsTitle: true, Length: 1, At: AtWord}},
		"parser":     {{Number: 1, Doc: 3, IsTitle: true, Length: 1, At: InWord, Whole: true}},
		"also parse": nil,
		"arser":      nil,
		"—":          nil,
	} {
		if got := foundBy(t, s, typed); !cmp.Equal(want, got) {
			t.Errorf("%q (-want +got)\n%s", typed, cmp.Diff(want, got))
		}
	}
	if none, err := mustOpen(t, mustBuild(t, generate(4, 1), 0)).Suggestions(t.Context(), "a"); none != nil || err != nil {
		t.Errorf("without names there are %v, %v", none, err)
	}
}

// TestMergeSuggestions merges segments with suggestions. Without dead documents, the result must have
// the same bytes as a segment that is built of all documents. A dead document's suggestions must be gone.
func TestMergeSuggestions(t *testing.T) {
	docs := named(900, 1)
	inputs := []Input{{Segment: mustOpen(t, mustBuild(t, docs[:400], 0))}, {Segment: mustOpen(t, mustBuild(t, generate(3, 7), 0))}, {Segment: mustOpen(t, mustBuild(t, docs[400:], 0))}}
	all := slices.Concat(docs[:400], generate(3, 7), docs[400:])
	merged, built := mustMerge(t, inputs...), mustBuild(t, all, 0)
	of := sections(mustOpen(t, merged), merged)
	for _, c := range mustOpen(t, built).tail.columns {
		if c.isOfSuggestions() && !bytes.Equal(of[c.name], sections(mustOpen(t, built), built)[c.name]) {
			t.Errorf("column %q differs from that of a segment that is built of all documents", c.name)
		}
	}
	if err := Check(merged); err != nil {
		t.Error(err)
	}
	inputs[0].Dead = roaring.New()
	inputs[0].Dead.AddRange(200, 400)
	living := mustBuild(t, slices.Concat(docs[:200], generate(3, 7), docs[400:]), 0)
	got, want := suggested(t, mustOpen(t, mustMerge(t, inputs...))), suggested(t, mustOpen(t, living))
	for i := range got { // the number of pages and their sample are estimates
		if i >= len(want) || !strings.EqualFold(got[i].Text, want[i].Text) || got[i].IsTitle != want[i].IsTitle || got[i].Pages < want[i].Pages {
			t.Fatalf("suggestion %d is %+v", i, got[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d suggestions, want %d", len(got), len(want))
	}
}

func TestSuggestionKeys(t *testing.T) {
	for text, want := range map[string]string{
		"The xmlParser":        "the:0 xmlparser:1 parser:2",
		"QDomElement XMLParse": "qdomelement:0 domelement:2 element:2 xmlparse:1 parse:2",
		"20.10. Vacuuming on":  "20:0 10:0 vacuuming:0 on:1",
		"pg_class, utf8Name":   "pg:0 class:1 utf8name:1 name:2",
		"Café ÉTÉ":             "cafe:0 ete:1",
		"全文検索 API":             "全文:0 文検:1 検索:1 索:1 api:1",
		"ค้น":                  "ค้:0 ้น:1 น:1",
	} {
		var got []string
		suggestionKeys(text, func(key string, at Place) { got = append(got, fmt.Sprintf("%s:%d", key, at)) })
		if d := cmp.Diff(want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s (-want +got)\n%s", text, d)
		}
	}
	for typed, want := range map[string]string{
		"Xml  pars": "xml pars", "検": "検", "検索": "検索", "全文検 é": "全文 文検 e", "…": "",
	} {
		if got := strings.Join(typedKeys(typed), " "); got != want {
			t.Errorf("%q asks for %q, want %q", typed, got, want)
		}
	}
}

// foundBy returns what Find finds for a typed text, in the order of the numbers.
func foundBy(t testing.TB, s *Segment, typed string) (got []Suggested) {
	t.Helper()
	of, err := s.Suggestions(t.Context(), typed)
	if err == nil {
		err = of.Find(t.Context(), typed, func(s Suggested) { got = append(got, s) })
	}
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b Suggested) int { return int(a.Number) - int(b.Number) })
	return got
}

// TestSuggestionPages compares what is found in several pages of keys with what the suggestions themselves say, and
// checks that only a part of the pages is read.
func TestSuggestionPages(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	docs := generate(1200, 1)
	for i := range docs {
		docs[i].Name = randomWord(random, 1+random.IntN(6)) + " " + randomWord(random, 1+random.IntN(6))
		for range 8 {
			docs[i].Headings = append(docs[i].Headings, randomWord(random, 1+random.IntN(8))+" "+randomWord(random, 3))
		}
	}
	s := mustOpen(t, mustBuild(t, docs, 0))
	if len(s.tail.suggestionKeys) < 3 {
		t.Fatalf("only %d pages of keys", len(s.tail.suggestionKeys))
	}
	all := suggested(t, s)
	for range racetest.Rounds(100, 20) {
		typed := randomWord(random, 1+random.IntN(3))
		if random.IntN(3) == 0 {
			typed += " " + randomWord(random, 1)
		}
		want := map[uint32]bool{}
		for number, of := range all {
			has := func(typed string) (found bool) {
				suggestionKeys(of.Text, func(key string, _ Place) { found = found || strings.HasPrefix(key, typed) })
				return found
			}
			if !slices.ContainsFunc(typedKeys(typed), func(key string) bool { return !has(key) }) {
				want[uint32(number)] = true
			}
		}
		got := foundBy(t, s, typed)
		for _, g := range got {
			of := all[g.Number]
			if !want[g.Number] || g.IsTitle != of.IsTitle || g.Doc != of.Docs[0] || g.Length != len([]rune(of.Text))/8 {
				t.Fatalf("%q finds %+v, which is %+v", typed, g, of)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%q finds %d suggestions, want %d", typed, len(got), len(want))
		}
	}
	if of, err := s.Suggestions(t.Context(), "abc"); err != nil || len(of.pages) > 2 || of.All() {
		t.Errorf("%d of %d pages are read: %v", len(of.pages), len(s.tail.suggestionKeys), err)
	}
}

// TestCheckSuggestions changes a page of keys, and makes its checksum right again. Check must notice if the page says
// what is not true of a suggestion, or has its keys out of order. It must allow a key of which this version of the
// program does not know why the suggestion has it.
func TestCheckSuggestions(t *testing.T) {
	docs := generate(3, 1)
	for i := range docs {
		docs[i].Name, docs[i].Headings = fmt.Sprintf("Page %d", i), nil
	}
	content := mustBuild(t, docs, 0)
	column := mustOpen(t, content).tail.suggestionKeys[0]
	start := int(column.offset)
	_, width := binary.Uvarint(content[start:])
	start += width + 1 // the page begins behind its size and a byte
	// The page: the keys 0, 1, 2 and page. Keys of one byte take 2 bytes; each has the size 3 and a list of one
	// suggestion. The key page has 1 + 4 bytes, the size 9 and a list of three.
	for _, c := range []struct {
		name  string
		at    int // offset in the page
		was   byte
		is    byte
		sound bool
	}{
		{"number", 3, 0<<2 | byte(AtWord), 1<<2 | byte(AtWord), false},
		{"traits", 4, byte(titleTrait), 0, false},
		{"document", 5, 0, 1, false},
		{"number of no suggestion", 3, 0<<2 | byte(AtWord), 9<<2 | byte(AtWord), false},
		{"size of a list", 2, 3, 4, false},
		{"order of keys", 1, '0', '9', false},
		{"another key", 1, '0', '+', true},
		{"unchanged", 1, '0', '0', true},
	} {
		changed := slices.Clone(content)
		if changed[start+c.at] != c.was {
			t.Fatalf("%s: byte %d is %d, want %d", c.name, c.at, changed[start+c.at], c.was)
		}
		changed[start+c.at] = c.is
		end := int(column.end()) - sealSize
		copy(changed[end:], seal(slices.Clone(changed[column.offset:end]), 0)[end-int(column.offset):])
		if err := Check(changed); (err == nil) != c.sound || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestEarlierSuggestions finds suggestions in a segment of an earlier version of the program, in a new one of the same
// documents, and in a merge of the earlier one.
func TestEarlierSuggestions(t *testing.T) {
	content, err := os.ReadFile("testdata/segment.v3.suggestions")
	if err != nil {
		t.Fatal(err)
	}
	earlier, built := mustOpen(t, content), mustOpen(t, mustBuild(t, named(30, 1), 0))
	merged := mustOpen(t, mustMerge(t, Input{Segment: earlier}))
	for _, typed := range []string{"page", "pa 1 xml", "uber", "see al", "p", "parser 2", "none"} {
		want := foundBy(t, built, typed)
		if d := cmp.Diff(want, foundBy(t, earlier, typed)); d != "" {
			t.Errorf("%q, earlier (-want +got)\n%s", typed, d)
		}
		if d := cmp.Diff(want, foundBy(t, merged, typed)); d != "" {
			t.Errorf("%q, merged (-want +got)\n%s", typed, d)
		}
	}
	if d := cmp.Diff(suggested(t, built), suggested(t, merged)); d != "" {
		t.Errorf("suggestions (-want +got)\n%s", d)
	}
}

// fuzzedSuggestions finds suggestions in the columns of a segment whose content may be anything.
func fuzzedSuggestions(t *testing.T, s *Suggestions, typed string) {
	_ = s.Find(t.Context(), typed, func(found Suggested) {
		if found.Number >= s.count {
			t.Errorf("suggestion %d of %d", found.Number, s.count)
		}
	})
	if folded := FoldSuggestion(typed); FoldSuggestion(folded) != folded {
		t.Errorf("%q folds to %q, and this to %q", typed, folded, FoldSuggestion(folded))
	}
}

// FuzzSuggestionPage reads a page of keys, a column of sizes and a block with any content.
func FuzzSuggestionPage(f *testing.F) {
	s := mustOpen(f, mustBuild(f, named(30, 1), 0))
	var seeds [3][]byte
	for i, c := range []columnExtent{s.tail.suggestionKeys[0], *s.columnOf(suggestionSizes, suggestionSizesKind)} {
		content, err := s.column(f.Context(), c.name, c.kind)
		if err != nil {
			f.Fatal(err)
		}
		seeds[i] = content
	}
	of, err := s.Suggestions(f.Context(), "")
	if err != nil {
		f.Fatal(err)
	}
	contents, err := of.contents(f.Context(), []int{0})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seeds[0], seeds[1], contents[0], "pa x")
	f.Fuzz(func(t *testing.T, keys, sizes, block []byte, typed string) {
		_, _, _ = s.suggestionBlocks(sizes)
		found := &Suggestions{segment: s, count: of.count, pages: []readPage{{last: "\xff", content: keys}}}
		fuzzedSuggestions(t, found, typed)
		if read, err := found.parse(0, block); err == nil && len(read) != int(min(found.count, suggestionBlock)) {
			t.Errorf("%d suggestions in a block", len(read))
		}
	})
}

// FuzzSuggestions reads a column of suggestions of an earlier version of the program with any content.
func FuzzSuggestions(f *testing.F) {
	content, err := os.ReadFile("testdata/segment.v3.suggestions")
	if err != nil {
		f.Fatal(err)
	}
	s := mustOpen(f, content)
	column, err := s.column(f.Context(), oldSuggestions, suggestionsKind)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(column, "pa x")
	f.Fuzz(func(t *testing.T, content []byte, typed string) {
		whole, err := parseSuggestions(content, s.tail.documents)
		if err != nil {
			return
		}
		found := &Suggestions{segment: s, count: whole.count, whole: whole}
		fuzzedSuggestions(t, found, typed)
		if whole.count > 0 {
			_, _ = found.Get(t.Context(), []uint32{whole.count - 1})
		}
	})
}
