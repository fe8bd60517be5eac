package hypertext

import (
	"bytes"
	"strings"
	"testing"
)

// mostSteps returns the greatest number of steps (looks at a token or an element) that reading the
// markup may take: 4 × MaxNesting for each tag and for each text.
func mostSteps(markup []byte) int { return 4 * MaxNesting * (2*bytes.Count(markup, []byte("<")) + 2) }

// FuzzSteps reads markup made of a prefix and a piece that is repeated many times. It checks
// that the work, counted in steps, grows no faster than the number of tags.
func FuzzSteps(f *testing.F) {
	names := strings.Fields("a b i p div ul li dl dt dd table tr td th caption select option optgroup button object svg math foreignObject " +
		"template noscript script style title textarea iframe pre h1 form fieldset label body head html frameset x-y")
	for _, name := range names {
		f.Add([]byte(""), []byte("<"+name+">"))
		f.Add([]byte(""), []byte("<"+name+">x"))
		f.Add([]byte(""), []byte("</"+name+">"))
		f.Add([]byte(""), []byte("<"+name+"></"+name+"><p>x"))
		f.Add([]byte(strings.Repeat("<div>", MaxNesting)), []byte("<"+name+">x</"+name+">"))
		f.Add([]byte(strings.Repeat("<div><table><td>", MaxNesting/3)), []byte("</"+name+"></b>"))
	}
	for _, piece := range []string{
		"<a href=#><table><td>", "<a href=#>¶</a>", "<a href=x><button>y", "<b><p>x</b>", "<p><b id=x>", "&amp", "&#", "<!--", "<![CDATA[", "<", "</", "<p title='",
		"<p x", "<p =", "<script><!--<script>", "<title>", "<div hidden>x<div>", "<svg><title>x", "<br>x", "\x00<\x00p", "<noscript>x<div hidden>y",
	} {
		f.Add([]byte(""), []byte(piece))
		f.Add([]byte("<table><td>"), []byte(piece))
	}
	f.Fuzz(func(t *testing.T, beginning, piece []byte) {
		if len(piece) == 0 {
			return
		}
		markup := append(bytes.Clone(beginning), bytes.Repeat(piece, 64<<10/len(piece)+1)...)
		r := reader{page: &Page{}, classes: make(map[string]classMeaning)}
		r.readAll(markup)
		if most := mostSteps(markup); r.steps > most {
			t.Errorf("%d steps for %d bytes, want at most %d", r.steps, len(markup), most)
		}
	})
}
