package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// TestTold reads pages with content that is only in their JSON-LD. If this content is longer than
// the text that the page shows, it must become the page's text. Else it must be outside of the
// main part.
func TestTold(t *testing.T) {
	const description = "A cup of thin porcelain from which five generations of one family have drunk their tea."
	data := func(json string) string {
		return `<title>Page</title><script type="application/ld+json">` + json + `</script>`
	}
	product := data(`{"@type": "Product", "name": "Cup", "description": "<p>` + description + `</p>", "brand": {"@type": "Brand", "name": "Acme"},
		"offers": [{"@type": "Offer", "price": 19.5, "priceCurrency": "EUR"}], "review": {"@type": "Review", "reviewBody": "Broken after one day of use by nobody at all."}}`)
	answer := data(`{"@type": "FAQPage", "mainEntity": {"@type": "Question", "name": "Is it good?", "acceptedAnswer": {"@type": "Answer", "text": "Yes, of course it is."}}}`)
	long := "<p>" + strings.Repeat("The shop has been open since its first day, and sells what people buy. ", 9)
	for name, c := range map[string]struct{ markup, body, outside string }{
		"a product shown by scripts":           {product + `<div id=root></div>`, "Cup\n" + description + "\nAcme\n19.5\nEUR", ""},
		"a product that the page shows":        {product + "<p>" + description, description, ""},
		"a product beside more text":           {product + long, strings.TrimSpace(long[3:]), "Cup\n" + description + "\nAcme\n19.5\nEUR"},
		"questions and answers":                {data(`{"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name": "Why?", "acceptedAnswer": {"@type": "Answer", "text": "` + description + `"}}]}`), "Why?\n" + description, ""},
		"a short answer":                       {answer, "Is it good?\nYes, of course it is.", ""},
		"a short answer that the page shows":   {answer + "<p>Is it good? Yes, of course it is.", "Is it good? Yes, of course it is.", ""},
		"an answer too short to tell":          {data(`{"@type": "Question", "name": "Is it?", "acceptedAnswer": {"@type": "Answer", "text": "Yes, it is."}}`), "", ""},
		"the text of an article, in two lines": {data(`{"@graph": [{"@type": "Article", "headline": "Cups", "articleBody": "` + description + `\n\nAnd no more.", "description": "Of cups"}]}`), "Cups\n" + description + "\nAnd no more.", ""},
		"what other pages are about":           {data(`{"@type": "ItemList", "itemListElement": [{"@type": "Product", "name": "Cup", "description": "` + description + `"}]}`), "", ""},
		"what the site is":                     {data(`{"@type": "Organization", "description": "` + description + `"}`), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := Parse([]byte(c.markup))
			got := d.Content()
			if diff := cmp.Diff([]string{c.body, c.outside}, []string{got.Body, got.Outside}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got.Body == "" {
				return
			}
			a, err := address.Parse("http://a/")
			if err != nil {
				t.Fatal(err)
			}
			text := (&structured.Page{Parts: d.Structured(a).Parts}).Text()
			if diff := cmp.Diff(strings.Fields(c.body), strings.Fields(text)); diff != "" {
				t.Errorf("structured (-want +got)\n%s", diff)
			}
		})
	}
}

// TestToldBesideRepeated reads a page that shows only text that its site repeats, and has other
// content in JSON-LD. The repeated text must be moved to Outside. The content of JSON-LD must stay
// in Body.
func TestToldBesideRepeated(t *testing.T) {
	const description = "A cup of thin porcelain from which five generations of one family have drunk their tea."
	c := Parse([]byte(`<script type="application/ld+json">{"@type": "Product", "description": "` + description + `"}</script><p>We use scripts here.`)).Content()
	page := c.Blocks[0].Hash
	got := c.Without(func(hash uint64) bool { return hash == page })
	if got.Body != description || got.Outside != "We use scripts here." {
		t.Errorf("body %q, outside %q", got.Body, got.Outside)
	}
}

// TestDigestOfTold changes content that a page has only in its JSON-LD, and checks that the digest
// of the page changes with it.
func TestDigestOfTold(t *testing.T) {
	page := func(material string) *Document {
		return Parse([]byte(`<script type="application/ld+json">{"@type": "Product", "description": "A cup of thin ` + material +
			` from which five generations of one family have drunk their tea."}</script><div id=root></div>`))
	}
	if page("porcelain").Digest() == page("silver").Digest() {
		t.Error("two products have the same digest")
	}
}
