// Package document turns the bytes of a page into links and text.
//
// Its results depend only on its input: every limit counts bytes, elements, nesting or
// instructions (of a PDF), never time. Invalid markup is no error: as much of it is read as
// possible. Functions are safe for concurrent use.
//
// Pages of other formats are read as the HTML with the same content:
//
//	body ─▶ Sniff ─┬─ text/html ─▶ Decode ──────────────────────────▶ Parse ─┬─▶ Links
//	               ├─ RSS, Atom ─▶ Decode ─▶ feed ───┐                  ▲    ├─▶ Content
//	               ├─ DOCX, ODT, EPUB, … ──▶ office ─┼─▶ markup.Writer ─┘    └─▶ Digest
//	               ├─ DOC, PPT ────────────▶ ole ────┤
//	               └─ PDF ─────────────────▶ pdf ────┘
//
// The conversion of a PDF file takes long. So fetch stores the resulting HTML with the page
// (see Conversion), and the function Stored reads this HTML. PDFium is a WebAssembly module that
// has to be compiled. It is needed only in fetch, and for pages that an older version of this
// package has stored without their HTML.
//
// Package hypertext reads the markup in one pass, and package mainpart finds the
// main part of the page.
package document

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/linkeddata"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// Limits on the part of a page that is read, and on the results. Package hypertext has the limits
// on the page's markup.
const (
	MaxAnchor   = 200     // greatest size of a link's text, in bytes
	MaxAround   = 100     // greatest size of the words before a link, and of those after it, in bytes
	MaxTitle    = 300     // greatest size of a title or a heading, in bytes
	MaxHeadings = 10_000  // greatest number of headings of a page
	MaxBody     = 4 << 20 // greatest size of the main part's text, and of the text outside of it, in bytes
	MaxRanges   = 10_000  // greatest length of each of the two lists Content.Emphasis and Content.Large
	maxSniffed  = 512     // number of bytes that http.DetectContentType looks at
	// number of bytes at the beginning of a page that are searched for a declared charset; browsers
	// search 1,024 bytes first, and the whole page later (WHATWG HTML, 13.2.3.5)
	maxPrescan  = 16 << 10
	maxJunk     = 1024     // number of bytes at the beginning of a PDF file that are searched for "%PDF-"
	maxDetected = 64 << 10 // greatest number of bytes from which a charset is guessed
)

// Document is a parsed page. Addresses in it are as written, not resolved.
type Document struct {
	Title string // text of the title element, else of the first h1, else of og:title
	// primary subtag, such as "en", of the language that the markup declares. If it declares none, the
	// function Stored takes the language from the HTTP header Content-Language. It is "" if unknown.
	Lang      string
	Robots    robots.Directives
	Canonical string // address in <link rel=canonical>, or ""
	Base      string // address in <base href>, or ""
	Refresh   string // address to which <meta http-equiv=refresh> leads, or ""

	Omitted      []string // texts about what was left out because of limits: "12 of 100012 links"
	Recoded      string   // if the bytes are invalid in the declared charset, a text such as "not utf-8 but windows-1251"; else ""
	NeedsScripts bool     // whether the page shows hardly any text if scripts are off

	charset    string                // WHATWG name of the page's charset; "" for a document such as a PDF
	plain      string                // text of a page without markup; "" for any other page
	converted  bool                  // whether the page was made from a PDF file or an office document
	conversion *webobject.Conversion // conversion of a PDF file to HTML, to be stored with the page; nil for none
	page       *hypertext.Page
	data       *linkeddata.Data // the page's JSON-LD
}

// RobotsFor returns the page's robots directives for a crawler: those for all crawlers together
// with those that name the agent.
func (d *Document) RobotsFor(agent string) robots.Directives {
	asked := d.Robots
	for _, m := range d.page.Metas {
		asked = asked.Add(robots.ParseMeta(m.Name, m.Content, agent))
	}
	return asked
}

// Parse reads markup in UTF-8. It never fails.
func Parse(text []byte) *Document {
	d := &Document{page: hypertext.Read(text)}
	d.data = linkeddata.Read(d.page.Data...)
	d.Title, d.Base = cut(d.page.Title, MaxTitle), d.page.Base
	for _, l := range d.page.Links {
		if hasWord(l.Rel, "canonical") {
			set(&d.Canonical, l.Address)
		}
	}
	var graph, pragma string
	for _, m := range d.page.Metas {
		if m.Property == "og:title" {
			set(&graph, m.Content)
		}
		d.Robots = d.Robots.Add(robots.ParseMeta(m.Name, m.Content, ""))
		switch strings.ToLower(m.Pragma) {
		case "refresh":
			set(&d.Refresh, refresh(m.Content))
		case "content-language":
			set(&pragma, primary(m.Content))
		}
	}
	for i := 0; d.Title == "" && i < len(d.page.Elements); i++ {
		e := &d.page.Elements[i]
		if e.Name == atom.H1 && e.Flags&(hypertext.Navigation|hypertext.Hidden) == 0 {
			d.Title = d.textOf(e)
		}
	}
	set(&d.Title, cut(joinWords(graph), MaxTitle))
	d.Lang = primary(d.page.Lang)
	set(&d.Lang, pragma)
	d.omit()
	d.NeedsScripts = d.page.Scripts > 0 && d.needsScripts()
	return d
}

// omit adds to Omitted a text for each limit that cut something off the page.
func (d *Document) omit() {
	add := func(omitted bool, format string, args ...any) {
		if omitted {
			d.Omitted = append(d.Omitted, fmt.Sprintf(format, args...))
		}
	}
	c := d.page.Cut
	add(c.Bytes > 0, "%d bytes of markup beyond %d MiB", c.Bytes, hypertext.MaxBytes>>20)
	add(c.Elements, "elements beyond %d", hypertext.MaxElements)
	add(c.References > 0, "%d of %d links", c.References, c.References+hypertext.MaxReferences)
	add(c.Metas > 0, "%d meta and link elements beyond %d of each", c.Metas, hypertext.MaxMetas)
	add(c.Attributes > 0, "%d attributes beyond %d of a tag", c.Attributes, hypertext.MaxAttributes)
	add(c.Values > 0, "the end of %d attributes beyond %d KiB", c.Values, hypertext.MaxValue>>10)
	add(c.Data > 0, "%d bytes of JSON-LD beyond %d MiB", c.Data, hypertext.MaxData>>20)
	add(d.data.Cut, "JSON-LD beyond %d levels, %d objects or %d values", linkeddata.MaxDepth, linkeddata.MaxObjects, linkeddata.MaxValues)
	add(len(d.page.Text) > MaxBody, "text beyond %d MiB", MaxBody>>20)
	headings := 0
	for i := range d.page.Elements {
		if e := &d.page.Elements[i]; hypertext.IsHeading(e.Name) && e.Start < e.End {
			headings++
		}
	}
	images, of := d.omittedImages()
	add(images > 0, "%d of %d images", images, of)
	add(headings > MaxHeadings, "%d of %d headings", headings-MaxHeadings, headings)
	add(c.Anchors > 0, "%d anchors beyond %d, or with names beyond %d bytes", c.Anchors, hypertext.MaxAnchors, hypertext.MaxAnchor)
	add(c.Times > 0, "%d elements with dates beyond %d", c.Times, hypertext.MaxTimes)
	_, terms := d.terms()
	add(terms > 0, "the fragments of %d terms beyond %d, or %d KiB", terms, MaxTerms, MaxFragments>>10)
	fragments := d.omittedFragments()
	add(fragments > 0, "the fragments of %d headings beyond %d KiB", fragments, MaxFragments>>10)
}

// fewWords is the greatest number of words on a page that needs scripts to show its text. It leaves
// room for a name, and a note such as "Please enable JavaScript".
const fewWords = 20

// needsScripts reports whether the page needs scripts to show its text: without them it shows none,
// or it shows at most fewWords words and has a noscript element that mentions JavaScript. A page that
// shows other pages in frames, or leads on to one, needs none.
func (d *Document) needsScripts() bool {
	if d.Refresh != "" || slices.ContainsFunc(d.page.References, d.isFrame) {
		return false
	}
	words, note := 0, false
	for i := range d.page.Blocks {
		b := &d.page.Blocks[i]
		text := d.page.Text[b.Start:b.End]
		switch {
		case b.Flags&hypertext.Hidden != 0:
		case b.Flags&hypertext.NoScript != 0:
			note = note || bytes.Contains(bytes.ToLower(text), []byte("javascript"))
		default:
			if words += len(bytes.Fields(text)); words > fewWords || len(text) > 10*fewWords {
				return false
			}
		}
	}
	return words == 0 || note
}

// isFrame reports whether a reference is a frame that browsers show also with scripts. A frame in a
// noscript element counts visitors.
func (d *Document) isFrame(r hypertext.Reference) bool {
	e := &d.page.Elements[r.Element]
	return (e.Name == atom.Frame || e.Name == atom.Iframe) && e.Flags&(hypertext.Hidden|hypertext.NoScript) == 0
}

// refresh returns the address in the content of a meta refresh, such as a.html for "5;
// url='a.html'". It returns "" if there is none (WHATWG HTML, 4.2.5.3).
func refresh(content string) string {
	_, rest, found := strings.Cut(content, ";")
	rest = strings.TrimSpace(rest)
	if !found || len(rest) < 4 || !strings.EqualFold(rest[:3], "url") {
		return ""
	}
	rest, found = strings.CutPrefix(strings.TrimSpace(rest[3:]), "=")
	if !found {
		return ""
	}
	return strings.Trim(strings.TrimSpace(rest), `"'`)
}

// set stores a value in a variable that is still empty. It does nothing if the variable has a value
// already.
func set(to *string, value string) {
	if *to == "" {
		*to = value
	}
}

// hasWord reports whether a space-separated list has a word, whatever the case of its letters.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}
