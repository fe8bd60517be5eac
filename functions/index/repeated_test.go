package index

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// ownWords returns a text of n words. It has no word in common with the texts for other pages.
func ownWords(page, n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "word%dof%d ", i, page)
	}
	return text.String()
}

const (
	greeting = "Welcome to our manual"
	imprint  = "All of the rights in these pages are reserved by those who have written them."
)

// framed returns page n of a site. Its main part begins with a greeting and ends with an imprint,
// which all pages have.
func framed(url string, n int) webobject.Object {
	p := functionstest.Page(batch, url)
	p.Data = fmt.Appendf(nil, "<title>%d</title><main><p>%s<h1>Page %d</h1><p>%s.<h2>Parameters</h2><p>%s.<p>%s</main>",
		n, greeting, n, ownWords(n, 30), ownWords(-n-1, 20), imprint)
	return p
}

// extracted makes documents of pages that all have the same greeting and imprint (see framed). The
// result inside has the URLs of the documents whose main part has the greeting and the imprint. The
// result outside has the URLs of the documents whose main part has neither.
func (w *world) extracted(pages []webobject.Object) (inside, outside []string) {
	w.t.Helper()
	pkg, _ := functionstest.Package(w.t, w.bucket, 0, pages...)
	m := maker{w.bucket, takedown.Set{}, pageRules{new(settings.Settings), ""}}
	drafts, err := m.read(w.t.Context(), pkg.Key, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	documents := m.finish(drafts, nil)
	for _, p := range documents {
		if p.Title == "Other" {
			continue
		}
		in := strings.Contains(p.Body, imprint)
		if in {
			inside = append(inside, p.URL)
		} else {
			outside = append(outside, p.URL)
		}
		if strings.Contains(p.Body, greeting) != in || strings.Contains(p.Outside, greeting) == in || strings.Contains(p.Outside, imprint) == in {
			w.t.Errorf("%s: main part %q, outside %q", p.URL, p.Body, p.Outside)
		}
		if !strings.Contains(p.Body, "Parameters\n") || !slices.Contains(p.Headings, "Parameters") {
			w.t.Errorf("%s: lost a heading of %q, %q", p.URL, p.Body, p.Headings)
		}
	}
	return inside, outside
}

// TestRepeatedBlocks repeats blocks of text on different numbers of pages of a host or directory:
// they must be moved out of the pages' main parts if they are on enough of them.
func TestRepeatedBlocks(t *testing.T) {
	pages := func(format string, from, to int) (some []webobject.Object) {
		for i := from; i < to; i++ {
			some = append(some, framed(fmt.Sprintf(format, i), i))
		}
		return some
	}
	others := func(n int) (some []webobject.Object) {
		for i := range n {
			p := functionstest.Page(batch, fmt.Sprintf("http://a.example/other/%d", i))
			p.Data = fmt.Appendf(nil, "<title>Other</title><main><h1>%s</h1><h2>Parameters</h2><p>%s</main>", ownWords(1000+i, 3), ownWords(2000+i, 40))
			some = append(some, p)
		}
		return some
	}
	mirrored := func(n int) (some []webobject.Object) {
		for i := range n {
			p := framed("", 7)
			p.URL = fmt.Sprintf("http://a.example/%d", i)
			some = append(some, p)
		}
		return some
	}
	const most = minPages/2 + 1 // fewer than minPages in one group, more in two
	for name, c := range map[string]struct {
		pages           []webobject.Object
		inside, outside int
	}{
		"enough pages":              {pages("http://a.example/%d", 0, minPages), 0, minPages},
		"too few pages":             {pages("http://a.example/%d", 0, minPages-1), minPages - 1, 0},
		"of two hosts":              {slices.Concat(pages("http://a.example/%d", 0, most), pages("http://b.example/%d", most, 2*most)), 2 * most, 0},
		"of two directories":        {slices.Concat(pages("http://a.example/a/%d", 0, most), pages("http://a.example/b/%d", most, 2*most)), 0, 2 * most},
		"most pages of a directory": {slices.Concat(pages("http://a.example/a/%d", 0, minPages), others(4*minPages)), 0, minPages},
		"few pages of the host":     {slices.Concat(pages("http://a.example/%d/", 0, minPages), others(4*minPages)), minPages, 0},
		"one page and its copies":   {mirrored(20), 20, 0},
		"copies among others":       {slices.Concat(mirrored(20), pages("http://a.example/a/%d", 100, 100+minPages)), 0, 20 + minPages},
	} {
		t.Run(name, func(t *testing.T) {
			inside, outside := newWorld(t).extracted(c.pages)
			if len(inside) != c.inside || len(outside) != c.outside {
				t.Errorf("the imprint is inside of %q, outside of %q", inside, outside)
			}
		})
	}
}

// TestSections indexes pages with repeated blocks before their sections. In the segment, each section must
// begin with its heading.
func TestSections(t *testing.T) {
	w := newWorld(t)
	var pages []webobject.Object
	for i := range minPages {
		p := framed(fmt.Sprintf("http://a.example/%d", i), i)
		p.Data = bytes.Replace(p.Data, []byte("<h2>"), fmt.Appendf(nil, "<h2 id=s%d>", i), 1)
		pages = append(pages, p)
	}
	pkg := w.put(0, pages...)
	w.list(pkg)
	w.run(pkg.Key)
	for _, d := range w.documents(w.manifest().Segments[0]) {
		n := strings.TrimPrefix(d.URL, "http://a.example/")
		if len(d.Sections) != 1 || d.Sections[0].Fragment != "s"+n || d.Headings[d.Sections[0].Heading] != "Parameters" ||
			!strings.HasPrefix(d.Body[d.Sections[0].Start:], "Parameters\n") || strings.Contains(d.Body, greeting) {
			t.Fatalf("%s: sections %+v of %q with headings %q", d.URL, d.Sections, d.Body, d.Headings)
		}
	}
}

// TestRepeatedInAnyOrder makes documents of the same pages in two orders. The documents must be the
// same.
func TestRepeatedInAnyOrder(t *testing.T) {
	var pages []webobject.Object
	for i := range 24 {
		pages = append(pages, framed(fmt.Sprintf("http://a.example/%d/%d", i%2, i), i%20))
	}
	w := newWorld(t)
	inside, outside := w.extracted(pages)
	slices.Reverse(pages)
	again, beyond := w.extracted(pages)
	if diff := cmp.Diff([][]string{inside, outside}, [][]string{again, beyond}); diff != "" || len(outside) != len(pages) {
		t.Errorf("%d moved (-in order +reversed):\n%s", len(outside), diff)
	}
}
