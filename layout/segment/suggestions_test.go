package segment

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring"
	"github.com/google/go-cmp/cmp"
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
	found, err := s.Suggestions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if found == nil {
		return nil
	}
	for number := range found.count {
		of, err := found.Get([]uint32{number})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, of...)
	}
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
	found, err := s.Suggestions(t.Context())
	if err != nil {
		t.Fatal(err)
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
		var got []Suggested
		if err := found.Find(t.Context(), typed, func(s Suggested) { got = append(got, s) }); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, func(a, b Suggested) int { return int(a.Number) - int(b.Number) })
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-want +got)\n%s", typed, d)
		}
	}
	if none, err := mustOpen(t, mustBuild(t, generate(4, 1), 0)).Suggestions(t.Context()); none != nil || err != nil {
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
	if !bytes.Equal(sections(mustOpen(t, merged), merged)[suggestions], sections(mustOpen(t, built), built)[suggestions]) {
		t.Error("the suggestions differ from those of a segment that is built of all documents")
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

func FuzzSuggestions(f *testing.F) {
	content, err := mergeSuggestions([]suggestionCursor{&collectedSuggestions{known: map[string]*Suggestion{
		"a\x00": {Text: "A", IsTitle: true, Pages: 2, Docs: []uint32{1}, URLs: []string{"https://a.example/"}},
		"b\x01": {Text: "b c", Pages: 1, Docs: []uint32{2}},
	}}}, 3, func(uint32) uint32 { return 0 })
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content, "b c")
	f.Fuzz(func(t *testing.T, content []byte, typed string) {
		s, err := parseSuggestions(content, 3)
		if err != nil {
			return
		}
		s.segment = new(Segment)
		_ = s.Find(t.Context(), typed, func(found Suggested) {
			if _, err := s.Get([]uint32{found.Number}); err == nil && found.Number >= s.count {
				t.Errorf("suggestion %d of %d", found.Number, s.count)
			}
		})
		_ = s.check(t.Context())
		if folded := FoldSuggestion(typed); FoldSuggestion(folded) != folded {
			t.Errorf("%q folds to %q, and this to %q", typed, folded, FoldSuggestion(folded))
		}
	})
}
