package segment

import (
	"iter"
	"testing"

	"github.com/RoaringBitmap/roaring"
	"github.com/google/go-cmp/cmp"
)

func TestNameWords(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/img/mainWindow_2.png":       "main Window 2",
		"https://a.example/img/qt-logo.svg?x=/y.png":   "qt logo",
		"https://a.example/%E6%9D%B1%E4%BA%AC%20a.jpg": "東京 a",
		"https://a.example/v1.2-overview.html.webp":    "v 1 2 overview html",
		"https://a.example/%ff%2.gif":                  "ff 2",
		"https://a.example/":                           "",
		"https://a.example":                            "",
		"":                                             "",
	} {
		if got := (&Image{URL: address}).NameWords(); got != want {
			t.Errorf("%q has the words %q, not %q", address, got, want)
		}
	}
}

// TestImages builds a segment of documents with images, and merges it without some documents that
// are dead. The stored images and their terms must stay right, and images must not change the
// statistics of the text.
func TestImages(t *testing.T) {
	plain := generate(40, 3)
	docs := generate(40, 3)
	for i := range docs {
		for range i % 3 {
			docs[i].Images = append(docs[i].Images, Image{URL: "https://a.example/ü.png", Alt: "Kater", Caption: "schläft"}, Image{URL: "b"})
		}
	}
	build := func(docs []Document) []byte {
		b := NewBuilder(nil)
		for i := range docs {
			if err := b.Add(&docs[i], withImages(&docs[i])); err != nil {
				t.Fatal(err)
			}
		}
		content, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(content); err != nil {
			t.Fatal(err)
		}
		return content
	}
	whole := mustOpen(t, build(docs))
	if d := cmp.Diff(stripped(docs), allStored(t, whole)); d != "" {
		t.Errorf("documents (-want +got)\n%s", d)
	}
	bare := mustOpen(t, build(plain))
	if d := cmp.Diff(bare.Totals(), whole.Totals()); d != "" {
		t.Errorf("images change the totals (-without +with)\n%s", d)
	}
	if d := cmp.Diff(bare.LanguageTotals(), whole.LanguageTotals()); d != "" {
		t.Errorf("images change the totals by language (-without +with)\n%s", d)
	}
	dead := roaring.BitmapOf(1, 2, 5, 30)
	var live []Document
	for i, d := range docs {
		if !dead.ContainsInt(i) {
			live = append(live, d)
		}
	}
	merged := mustOpen(t, mustMerge(t, Input{Segment: whole, Dead: dead}, Input{Segment: bare}))
	if d := cmp.Diff(stripped(append(live, plain...)), allStored(t, merged)); d != "" {
		t.Errorf("merged documents (-want +got)\n%s", d)
	}
	found, err := merged.Terms(t.Context(), []string{ImageTerm("kater")}, true)
	if err != nil || found[0] == nil {
		t.Fatal(found, err)
	}
	want := 0
	for _, d := range live {
		if len(d.Images) > 0 {
			want++
		}
	}
	if n := len(occurrences(t, merged, found[0])); n != want {
		t.Errorf("%d documents have an image of the word, not %d", n, want)
	}
}

// withImages returns the tokens of a document, plus one token for the alternative text of each of
// its images.
func withImages(d *Document) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		last := uint32(0)
		for token := range tokensOf(d) {
			if last = 0; token.Field == Body {
				last = token.Position
			}
			if !yield(token) {
				return
			}
		}
		for i := range d.Images {
			if d.Images[i].Alt != "" && !yield(Token{Field: Body, Term: ImageTerm("kater"), Position: last + uint32(100*(i+1))}) {
				return
			}
		}
	}
}
