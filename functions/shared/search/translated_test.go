package search

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// TestReader searches an index of pages that are translations of each other. Pages in the reader's
// language must come first if the query may be in any language. They must not come first if the query
// is clearly in another language, or if a filter demands another language.
func TestReader(t *testing.T) {
	var docs []segment.Document
	for n, of := range []struct{ lang, tag, words string }{
		{"en", "en-US", "the page of dpkg and other tools"}, {"de", "de-DE", "die Seite von dpkg und Werkzeugen"},
		{"fr", "fr-FR", "la page sur dpkg et les outils"}, {"ja", "ja-JP", "dpkg の ページ"},
	} {
		for i := range 4 {
			d := page(fmt.Sprintf("http://a.example/%s/%d.html", of.tag, i), fmt.Sprintf("%s %d%s", of.words, i, map[bool]string{true: " dpkg"}[(n+i)%2 == 0]))
			d.Lang = of.lang
			docs = append(docs, d)
		}
	}
	ix := indexOf(t, docs[:7], docs[7:])
	languages := func(text string, reader ...string) (all []string) {
		for _, hit := range find(t, ix, Query{Text: text, Size: 16, Fold: true, Reader: reader}).Hits {
			all = append(all, hit.Lang)
		}
		return all
	}
	plain := languages("dpkg")
	if got := languages("dpkg", "xx"); !slices.Equal(got, plain) {
		t.Errorf("for a reader of another language %q, want %q", got, plain)
	}
	for _, reader := range []string{"de", "fr", "ja", "en"} {
		got := languages("dpkg", reader, "en")
		if len(got) != 16 || got[0] != reader {
			t.Errorf("for a reader of %s: %q", reader, got)
		}
	}
	if got := languages("dpkg lang:fr", "de"); len(got) != 4 || got[0] != "fr" {
		t.Errorf("with a filter: %q", got)
	}
	if got := languages("Werkzeugen die Seite von", "fr"); got[0] != "de" {
		t.Errorf("for a German query: %q", got)
	}
}
