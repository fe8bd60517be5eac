package document

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// TestFragments checks which fragments lead to the headings of a page.
func TestFragments(t *testing.T) {
	a, err := address.Parse("http://a/")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		markup string
		want   []string // fragments of the headings
	}{
		"own id":          {"<h2 id=x>A</h2><p>text<h2 id='y &amp; z'>B</h2>", []string{"x", "y & z"}},
		"section":         {"<section id=x><h2>A</h2><p>text</section><section id=y><h2>B</h2>text</section>", []string{"x", "y"}},
		"before it":       {"<p>text</p><a name=x></a><h2>A</h2><p>text", []string{"x"}},
		"text between":    {"<p><a name=x></a>text<h2>A</h2><p>text", []string{""}},
		"within":          {"<h2><a name=x></a>A</h2><p>text", []string{"x"}},
		"own before rest": {"<section id=w><h2 id=x><span id=y>A</span></h2><p>text", []string{"x"}},
		"twice":           {"<p id=x>text<h2 id=x>A</h2>", []string{""}},
		"none":            {"<p id=x>text<h2>A</h2>", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range Parse([]byte(c.markup)).Structured(a).Parts {
				if p.Kind == structured.Heading {
					got = append(got, p.Fragment)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
