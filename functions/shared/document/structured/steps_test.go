package structured

import (
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
)

// FuzzSteps reads markup that repeats a piece many times, and builds and writes its parts. Neither
// the work, counted in steps, nor the size of the output may grow faster than the page.
func FuzzSteps(f *testing.F) {
	for _, piece := range []string{
		"<p>x", "<pre>x<div>", "<pre>x<p>", "<b>x", "<b>x</b>", "<b><i><code>x", "<a href=x>x<p>", "<blockquote>x", "<blockquote>x<br>", "<ul><li>x", "<ol><li>x<br>",
		"<table><tr><td>x<td>y", "<table><tr><td>x<td>y<tr><td>z", "<td>x", "<tr><td>x", "<figure><img src=x>", "<img src=x>", "<figcaption>x", "<dl><dt>x<dd>y", "<code>`", "<h1>x",
	} {
		f.Add("", piece)
		f.Add("<table><tr><td>x<td>y<tr>", piece)
		f.Add("<table><tr>"+strings.Repeat("<td>x", 1000), piece)
		f.Add(strings.Repeat("<blockquote><ul><li>", hypertext.MaxNesting/3), piece)
	}
	f.Fuzz(func(t *testing.T, beginning, piece string) {
		if piece == "" {
			return
		}
		markup := beginning + strings.Repeat(piece, 32<<10/len(piece)+1)
		page := hypertext.Read([]byte(markup))
		keep := make([]bool, len(page.Blocks))
		for i := range keep {
			keep[i] = true
		}
		b := newBuilder(page, keep, func(reference string) string { return reference })
		b.build()
		if most := 4 * hypertext.MaxNesting * (len(page.Blocks) + len(page.Elements)); b.steps > most {
			t.Errorf("%d steps for %d blocks in %d elements, want at most %d", b.steps, len(page.Blocks), len(page.Elements), most)
		}
		p := Page{Parts: b.parts}
		if size, most := len(p.Markdown()), 32*len(markup); size > most {
			t.Errorf("%d bytes of Markdown of %d, want at most %d", size, len(markup), most)
		}
		if size, most := len(p.Text()), 32*len(markup); size > most {
			t.Errorf("%d bytes of text of %d, want at most %d", size, len(markup), most)
		}
	})
}
