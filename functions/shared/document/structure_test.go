package document

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

func TestStructured(t *testing.T) {
	const article = `<script type="application/ld+json">{"@graph": [{"@type": "WebSite", "name": "Pets"},
		{"@type": ["NewsArticle"], "author": [{"name": "Ann"}], "datePublished": "2026-01-02", "dateModified": "2026-01-03", "description": "Of cats"}]}</script>`
	for name, c := range map[string]struct {
		markup string
		want   structured.Page
	}{
		"JSON-LD": {`<title>Cats | Pets</title>` + article, structured.Page{Title: "Cats", Site: "Pets", Author: "Ann", Published: "2026-01-02", Modified: "2026-01-03", Description: "Of cats", Type: "NewsArticle"}},
		"meta elements": {`<html lang=en-GB><title>Pets: Cats</title><link rel=canonical href=/cats><meta property=og:site_name content=Pets><meta name=author content=Bob>
			<meta name=description content="About cats"><meta property=article:published_time content=2025-01-01>` + article,
			structured.Page{Title: "Cats", Site: "Pets", Author: "Bob", Published: "2025-01-01", Modified: "2026-01-03", Description: "About cats", Lang: "en", LangSource: "declared", Canonical: "http://a/cats", Type: "NewsArticle"}},
		"broken JSON-LD": {`<title>T</title><script type="application/ld+json">{"@type": </script>`, structured.Page{Title: "T"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := address.Parse("http://a/b/c")
			if err != nil {
				t.Fatal(err)
			}
			c.want.URL = a.URL
			got := Parse([]byte(c.markup)).Structured(a)
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(structured.Page{}, "Parts"), cmpopts.IgnoreUnexported(structured.Part{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestKindOfPage checks that a page with text gets a kind, and a page without text gets none.
func TestKindOfPage(t *testing.T) {
	a, err := address.Parse("http://a/b/c")
	if err != nil {
		t.Fatal(err)
	}
	if got := Parse([]byte(manual)).Structured(a).PageKind; got == "" {
		t.Error("a manual has no kind")
	}
	if got := Parse([]byte("<title>T</title>")).Structured(a).PageKind; got != "" {
		t.Errorf("a page without text is a %s", got)
	}
}
