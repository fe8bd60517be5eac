package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

func TestFold(t *testing.T) {
	for _, text := range []string{
		"", " ", "a", "a b", " a", "a ", "a  b", "a\tb", "\na b\n", "é b", "é\u00A0 b", "a\u2003b", "a\x00b", "a\x7Fb",
	} {
		if got, want := joinWords(text), strings.Join(strings.Fields(text), " "); got != want {
			t.Errorf("joinWords(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestWhatStandsOut(t *testing.T) {
	type looks struct{ Emphasis, Large []string }
	for name, c := range map[string]struct {
		page string
		want looks
	}{
		"plain":         {"<p>nothing <code>here</code> at all", looks{}},
		"emphasis":      {"<p>a <b>bold</b> and <em>slanted</em><mark>marked</mark> word", looks{Emphasis: []string{"bold", "slanted", "marked"}}},
		"nested":        {"<p>a <b>bold <i>and</i> slanted</b> word", looks{Emphasis: []string{"bold and slanted"}}},
		"larger":        {"<h1>The <em>top</em></h1><p>and <big>big</big> words", looks{Emphasis: []string{"top"}, Large: []string{"The top", "big"}}},
		"empty":         {"<b></b><p>a<i> </i>b", looks{}},
		"in navigation": {"<nav><h2>Menu</h2><b>now</b></nav><p>some <b>text</b> that is long enough to be the main part of a page, with a comma, and with an end.", looks{Emphasis: []string{"text"}}},
		"around it":     {"<b>before<nav>Menu</nav>after</b>", looks{Emphasis: []string{"before", "after"}}},
		"around main":   {"<p><b>Before</b><main>the <b>main</b> part</main><h2>After</h2>", looks{Emphasis: []string{"Before", "main"}, Large: []string{"After"}}},
		"not ended":     {"<p>some <i>text", looks{Emphasis: []string{"text"}}},
		"wide letters":  {"<p>日本<b>語の</b>文章", looks{Emphasis: []string{"語の"}}},
	} {
		t.Run(name, func(t *testing.T) {
			content := Parse([]byte(c.page)).Content()
			texts := func(ranges []layout.Span) (texts []string) {
				for _, r := range ranges {
					texts = append(texts, content.Body[r.Start:r.End])
				}
				return texts
			}
			if diff := cmp.Diff(c.want, looks{texts(content.Emphasis), texts(content.Large)}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWhatStandsOutInTheMainPart checks that Content.Emphasis has the range of bold text in the
// main part.
func TestWhatStandsOutInTheMainPart(t *testing.T) {
	content := Text([]byte(strings.ReplaceAll(manual, "regression tests", "<b>regression</b> tests")), "text/html", "http://a/")
	if len(content.Emphasis) != 1 || content.Body[content.Emphasis[0].Start:content.Emphasis[0].End] != "regression" {
		t.Errorf("emphasis at %v of %q", content.Emphasis, content.Body)
	}
}

func TestRangesCap(t *testing.T) {
	content := Parse([]byte(strings.Repeat("<p>an <b>important</b> word", 2*MaxRanges))).Content()
	if len(content.Emphasis) != MaxRanges {
		t.Errorf("%d ranges", len(content.Emphasis))
	}
}

// TestHiddenTextIsNotIndexed checks that hidden text is not indexed, however much there is of it
// and however it is hidden, unless the page shows nothing else.
func TestHiddenTextIsNotIndexed(t *testing.T) {
	stuffing := strings.Repeat("casino bonus ", 200)
	for name, hidden := range map[string]string{
		"display":     `<div style="display:none">` + stuffing + `</div>`,
		"visibility":  `<div style="visibility: hidden">` + stuffing + `</div>`,
		"attribute":   `<div hidden>` + stuffing + `</div>`,
		"for readers": `<div aria-hidden="true">` + stuffing + `</div>`,
		"size":        `<div style="font-size:0">` + stuffing + `</div>`,
		"class":       `<style>.more { display: none }</style><div class=more>` + stuffing + `</div>`,
	} {
		for where, page := range map[string]string{
			"beside text":       `<p>All that you need to know about tea.</p>` + hidden,
			"beside navigation": `<nav>Tea</nav>` + hidden,
			"beside nothing":    hidden,
		} {
			content := Parse([]byte(page)).Content()
			indexed := strings.Contains(content.Body+content.Outside+content.Title, "casino")
			if indexed != (where == "beside nothing") {
				t.Errorf("%s %s: %d bytes of the body, %d outside", name, where, len(content.Body), len(content.Outside))
			}
		}
	}
}
