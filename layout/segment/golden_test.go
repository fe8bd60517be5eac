package segment

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// example is documents in which every field has a value somewhere.
func example() []Document {
	docs := generate(3, 1)
	url := "https://a.example/b?q=ü"
	return append(docs, Document{
		ID: layout.IdentityOf("another URL"), Version: layout.Version{Epoch: 7, Token: 1 << 40}, URL: url, Site: "a.example",
		Title: "Ein Titel", Headings: []string{"Über", "Unter"}, Body: "Text mit Umlauten: äöü", Lang: "de", MIME: "text/plain",
		Collections: []string{"docs", "news"}, Fetched: time.UnixMilli(-5).UTC(),
		Package: "packages/0000/2_3_20261121225107123.spf", Offset: 70_000_000_000, Length: 5_321,
		TitleHash: 1, TextHash: 1<<64 - 1, Simhash: 0x0123456789abcdef, Sketch: Sketch{0, 1, 65535},
	})
}

// TestVersion2 reads a segment as version 2 wrote it. Every later version of
// this package must read it too, or raise the least version that it reads.
func TestVersion2(t *testing.T) {
	const file = "testdata/segment.v2"
	if *update {
		if err := os.WriteFile(file, mustBuild(t, example(), 0), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(content); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, content)
	if d := cmp.Diff(stripped(example()), allStored(t, s)); d != "" {
		t.Errorf("documents (-want +got)\n%s", d)
	}
	terms, words := invert(example())
	for name, want := range terms {
		found, err := s.Terms(t.Context(), []string{name}, len(name)%2 == 0)
		if err != nil || found[0] == nil {
			t.Fatalf("term %q: %v, %v", name, found, err)
		}
		if d := cmp.Diff(want, occurrences(t, s, found[0])); d != "" {
			t.Errorf("term %q (-want +got)\n%s", name, d)
		}
	}
	if d := cmp.Diff(words, wordsOf(t, s)); d != "" {
		t.Errorf("words (-want +got)\n%s", d)
	}
	sketches, err := s.Sketches(t.Context())
	if err != nil || sketches[3] != example()[3].Sketch {
		t.Errorf("sketches %v, %v", sketches, err)
	}
}
