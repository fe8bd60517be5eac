package document

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte("<meta charset=iso-8859-2>\xB1"), "text/html")
	f.Add([]byte("\xFF\xFEa"), "")
	f.Add([]byte("<?xml encoding="), "text/html; charset=")
	f.Add([]byte("\x1B$B\xE3\x81\x82"), "text/plain; charset=iso-2022-jp")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		text, charset, _ := Decode(body, contentType)
		if !utf8.Valid(text) {
			t.Errorf("text in %s is not UTF-8", charset)
		}
		if known(charset) != charset {
			t.Errorf("charset %q has no such name", charset)
		}
		if len(text) > 4*len(body)+3 {
			t.Errorf("%d bytes became %d", len(body), len(text))
		}
		Sniff(body, contentType)
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(manual))
	f.Add([]byte("<base href=//b><a href=?x>a<a href=/y rel=nofollow>b<img src=z alt=c>"))
	f.Add([]byte("<table><td><svg><a href=x/><![CDATA[</table>"))
	f.Add([]byte(strings.Repeat("<div><ul><li>", 200) + "</ul></li></div>"))
	base, err := address.Parse("http://a.test/b")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		text, _, _ := Decode(page, "")
		d := Parse(text)
		if len(d.page.Elements) > 4+len(text) {
			t.Errorf("%d bytes became %d elements", len(text), len(d.page.Elements))
		}
		if len(d.page.Text) > 4*len(text)+16 {
			t.Errorf("%d bytes became %d bytes of text", len(text), len(d.page.Text))
		}
		for _, l := range d.Links(base) {
			for _, s := range []string{l.Anchor, l.Around, l.Rel} {
				if len(s) > MaxAnchor || !utf8.ValidString(s) {
					t.Errorf("link to %s says %q", l.Address.URL, s)
				}
			}
			if a, err := address.Parse(l.Address.URL); err != nil || a != l.Address {
				t.Errorf("address %+v is not that of its URL: %+v, %v", l.Address, a, err)
			}
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add([]byte(manual), "text/html")
	f.Add([]byte("first\nsecond"), "text/plain")
	f.Add([]byte("<p>a <b>b<nav>c</nav><i>d</b> e</i><h2> f <em>g</h2>"), "text/html")
	f.Add([]byte("<table><table><p><details><summary>x</details><blockquote>y"), "")
	f.Add([]byte("<article><ul><li><dl><dt>a<code>b</code></article><hr>c"), "text/html; charset=utf-8")
	f.Add([]byte("<h1>a</h1><p>b<h2 id=c>d<h3><a name=e>f</a></h3><p>g<section id=h><h2>i<a id=j></a>"), "text/html")
	f.Add([]byte("<h1>a</h1><dl><dt id=b>c<dd>d<dl><dt><a id=e></a>f<dd>g</dl><dt id=h><p>i<p>j</dl>k"), "text/html")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		c := Text(body, contentType, "http://a/b")
		checkSections(t, c)
		n := 0
		checkSections(t, c.Without(func(uint64) bool { n++; return n%2 == 0 }))
		for _, s := range append(c.Headings, c.Title, c.Body, c.Lang) {
			if !utf8.ValidString(s) {
				t.Errorf("%q is not UTF-8", s)
			}
		}
		for _, ranges := range [][]layout.Span{c.Emphasis, c.Large} {
			end := 0
			for _, r := range ranges {
				if r.Start < end || r.End <= r.Start || r.End > len(c.Body) || !utf8.ValidString(c.Body[r.Start:r.End]) {
					t.Errorf("range %v after %d in %q", r, end, c.Body)
				}
				end = r.End
			}
		}
	})
}

// checkSections checks that the sections and entries of a content can be stored in a segment: they are in the order
// of the text, within its bounds, and have fragments.
func checkSections(t *testing.T, c Content) {
	last := segment.Section{Heading: -1, Start: -1}
	for _, s := range c.Sections {
		if s.Heading <= last.Heading || s.Heading >= len(c.Headings) || s.Start <= last.Start || s.Start > len(c.Body) || s.Fragment == "" || len(s.Fragment) > hypertext.MaxAnchor {
			t.Errorf("section %+v after %+v of %q with headings %q", s, last, c.Body, c.Headings)
		}
		last = s
	}
	start := -1
	for _, e := range c.Entries {
		if e.Start <= start || e.Term < 1 || e.Start+e.Term > e.End || e.End > len(c.Body) || !utf8.ValidString(c.Body[e.Start:e.Start+e.Term]) || e.Fragment == "" {
			t.Errorf("entry %+v behind %d of %q", e, start, c.Body)
		}
		start = e.Start
	}
}
