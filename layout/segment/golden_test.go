package segment

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// example returns documents for a segment in the given version of the format. Each field that this
// version has is set in at least one of the documents.
func example(number int) []Document {
	docs := generate(3, 1)
	var images []Image
	name := ""
	if number > 3 {
		name = "Ein Titel"
	}
	if number > 2 {
		images = []Image{{URL: "https://a.example/ü.png", Alt: "Übersicht", Caption: "Abb. 1", Around: "Unter\nText"}, {URL: "http://b.example/"}}
	}
	url := "https://a.example/b?q=ü"
	return append(docs, Document{
		ID: layout.IdentityOf("another URL"), Version: layout.Version{Epoch: 7, Token: 1 << 40}, URL: url, Site: "a.example",
		Title: "Ein Titel", Name: name, Headings: []string{"Über", "Unter"}, Body: "Text mit Umlauten: äöü", Lang: "de", MIME: "text/plain",
		Collections: []string{"docs", "news"}, Fetched: time.UnixMilli(-5).UTC(), Images: images,
		Package: "packages/0000/2_3_20261121225107123.spf", Offset: 70_000_000_000, Length: 5_321,
		TitleHash: 1, TextHash: 1<<64 - 1, Simhash: 0x0123456789abcdef, Sketch: Sketch{0, 1, 65535},
	})
}

// TestEarlierVersions reads stored segments of each version of the format from leastVersion to the
// present one. All of them must stay readable. To give up an old version, raise leastVersion. Segments of version 3
// have had more and more optional parts; the file of version 4 has all of them.
func TestEarlierVersions(t *testing.T) {
	const present = "v4"
	files := map[string][]Document{
		"v2": example(2), "v3": example(3), "v3.vectors": example(3), "v3.supplements": supplemented(example(3)),
		"v3.filter": example(3), "v3.wordpages": example(3), "v3.vectorpages": example(3), present: supplemented(example(4)),
	}
	if *update {
		if err := os.WriteFile("testdata/segment."+present, mustBuild(t, files[present], 0), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, docs := range files {
		t.Run(name, func(t *testing.T) { testVersion(t, int(name[1]-'0'), docs, "testdata/segment."+name) })
	}
	t.Run("suggestions", func(t *testing.T) {
		for _, file := range []string{"testdata/segment.v3.suggestions", "testdata/segment.v3.suggestionpages"} {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := Check(content); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(suggested(t, mustOpen(t, mustBuild(t, named(30, 1), 0))), suggested(t, mustOpen(t, content))); d != "" {
				t.Errorf("suggestions of %s (-want +got)\n%s", file, d)
			}
		}
	})
}

// testVersion reads a file with a segment of the given version of the format. It must hold the
// documents docs.
func testVersion(t *testing.T, number int, docs []Document, file string) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(content); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, content)
	if d := cmp.Diff(stripped(docs), allStored(t, s)); d != "" {
		t.Errorf("documents (-want +got)\n%s", d)
	}
	terms, texts := invert(docs)
	for name, want := range terms {
		found, err := s.Terms(t.Context(), []string{name}, len(name)%2 == 0)
		if err != nil || found[0] == nil {
			t.Fatalf("term %q: %v, %v", name, found, err)
		}
		if d := cmp.Diff(want, occurrences(t, s, found[0])); d != "" {
			t.Errorf("term %q (-want +got)\n%s", name, d)
		}
		documents, known := found[0].In("de")
		german := uint32(0)
		for _, o := range want {
			if docs[o.Posting.Doc].Lang == "de" {
				german++
			}
		}
		if known != (number > 2) || known && documents != german {
			t.Errorf("term %q has %d German documents (%v), not %d", name, documents, known, german)
		}
	}
	wanted, matches := []layout.Identity{layout.IdentityOf("absent")}, []Match(nil)
	for doc, d := range docs {
		wanted, matches = append(wanted, d.ID), append(matches, Match{uint32(doc), d.ID, d.Version})
	}
	found, err := s.Find(t.Context(), wanted)
	if d := cmp.Diff(matches, found); d != "" || err != nil {
		t.Errorf("found by identity (-want +got)\n%s (%v)", d, err)
	}
	fields := [postings.Fields]FieldTotals{}
	for _, totals := range s.LanguageTotals() {
		for f := range fields {
			fields[f].Documents += totals.Fields[f].Documents
			fields[f].Length += totals.Fields[f].Length
		}
	}
	if all := s.Totals().Fields; number > 2 && fields != all {
		t.Errorf("fields of all languages %v, together %v", all, fields)
	}
	merged := mustMerge(t, Input{Segment: s}, Input{Segment: mustOpen(t, mustBuild(t, generate(9, 2), 0))})
	if built := buildWith(t, !s.HasVectors(), append(slices.Clone(docs), generate(9, 2)...), 0); !bytes.Equal(merged, built) {
		t.Error("merged, it differs from one that was built of its documents")
	}
	dead := roaring.BitmapOf(1)
	merged = mustMerge(t, Input{Segment: mustOpen(t, mustBuild(t, generate(9, 2), 0)), Dead: dead}, Input{Segment: s, Dead: dead})
	built := buildWith(t, !s.HasVectors(), append(without(generate(9, 2), dead), without(docs, dead)...), 0)
	for name, want := range sections(mustOpen(t, built), built) {
		if !strings.HasPrefix(name, words) && !bytes.Equal(want, sections(mustOpen(t, merged), merged)[name]) { // counts of words may be too high
			t.Errorf("merged without some documents, %s differs from that which was built of the others", name)
		}
	}
	if d := cmp.Diff(texts, wordsOf(t, s)); d != "" {
		t.Errorf("words (-want +got)\n%s", d)
	}
	sketches, err := s.Sketches(t.Context())
	if err != nil || sketches[3] != docs[3].Sketch {
		t.Errorf("sketches %v, %v", sketches, err)
	}
}
