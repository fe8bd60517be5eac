// Package document turns the bytes of a page into links and text.
//
// Whatever it returns depends on its input alone: every limit counts bytes,
// nodes or nesting, never time, but for that of a PDF, which is read within its
// time or not at all. Markup that breaks every rule still gives what can be read
// of it. Functions are safe for concurrent use.
//
// Pages of other formats are read as the HTML that says the same:
//
//	body ─▶ Sniff ─┬─ text/html ─▶ Decode ──────────────────────────▶ Parse ─┬─▶ Links
//	               ├─ RSS, Atom ─▶ Decode ─▶ feed ───┐                  ▲    ├─▶ Content
//	               ├─ DOCX, ODT, EPUB, … ──▶ office ─┼─▶ markup.Writer ─┘    └─▶ Digest
//	               ├─ DOC, PPT ────────────▶ ole ────┤
//	               └─ PDF ─────────────────▶ pdf ────┘
package document

import (
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// Limits on what is read of one page and what is returned about it.
const (
	MaxBytes    = 4 << 20  // of a page's text that are parsed; the rest is cut off
	MaxNodes    = 200_000  // of a page's tree; what follows is not read
	MaxNesting  = 256      // elements; deeper ones become siblings
	MaxLinks    = 5_000    // of one page
	MaxAnchor   = 200      // bytes of a link's text
	MaxAround   = 100      // bytes of the words on each side of a link
	MaxTitle    = 300      // bytes
	MaxHeadings = 200      // of one page, each at most MaxTitle bytes
	MaxBody     = 1 << 20  // bytes of text for the index
	MaxRanges   = 2_000    // of a page's text in emphasis, and as many in larger type
	maxMetas    = 64       // elements of a page that are looked through for our agent's name
	maxSniffed  = 512      // bytes that http.DetectContentType looks at
	maxPrescan  = 16 << 10 // bytes searched for a declared charset; browsers search 1024 at first, and all later (WHATWG HTML, 13.2.3.5)
	maxJunk     = 1024     // bytes before the beginning of a PDF
	maxDetected = 64 << 10 // bytes given to charset detection
)

// Document is a parsed page. Addresses in it are as written, not resolved.
type Document struct {
	Title     string // of the title element, else the first h1, else og:title
	Lang      string // primary subtag that the page declares, or ""
	Robots    robots.Directives
	Canonical string // link rel=canonical
	Base      string // base href
	Refresh   string // address of a meta refresh
	plain     string // the text of a page without markup
	metas     []meta
	root      *html.Node
	nodes     int // in the tree
	size      int // bytes of text
	flow      *flow
}

type meta struct{ name, content string }

// RobotsFor returns what the page asks of all crawlers and of the agent by its
// name.
func (d *Document) RobotsFor(agent string) robots.Directives {
	asked := d.Robots
	for _, m := range d.metas {
		asked = asked.Add(robots.ParseMeta(m.name, m.content, agent))
	}
	return asked
}

// Parse reads markup in UTF-8. It takes what it can read of any text, within
// MaxBytes, MaxNodes and MaxNesting.
func Parse(text []byte) *Document {
	root, nodes, metadata := tree(text)
	d := &Document{root: root, nodes: nodes, size: len(text), flow: flowOf(root, len(text)/2)}
	var graph string
	goquery.NewDocumentFromNode(root).FindNodes(metadata...).Each(func(_ int, s *goquery.Selection) {
		n := s.Get(0)
		switch n.DataAtom {
		case atom.Title:
			if d.Title == "" && !isForeign(n.Parent.DataAtom) {
				d.Title = cut(fold(s.Text()), MaxTitle)
			}
		case atom.Base:
			set(&d.Base, attribute(n, "href"))
		case atom.Link:
			if hasWord(attribute(n, "rel"), "canonical") {
				set(&d.Canonical, attribute(n, "href"))
			}
		case atom.Meta:
			if attribute(n, "property") == "og:title" {
				set(&graph, attribute(n, "content"))
			}
			d.meta(n)
		}
	})
	for _, h := range d.flow.headings {
		if d.Title == "" && h.node.DataAtom == atom.H1 {
			d.Title = d.flow.heading(h)
		}
	}
	set(&d.Title, cut(fold(graph), MaxTitle))
	if lang := primary(attribute(root.FirstChild, "lang")); lang != "" {
		d.Lang = lang
	}
	return d
}

func (d *Document) meta(n *html.Node) {
	content := attribute(n, "content")
	name := attribute(n, "name")
	d.Robots = d.Robots.Add(robots.ParseMeta(name, content, ""))
	if name != "" && len(d.metas) < maxMetas {
		d.metas = append(d.metas, meta{name, content})
	}
	switch strings.ToLower(attribute(n, "http-equiv")) {
	case "refresh":
		set(&d.Refresh, refresh(content))
	case "content-language":
		set(&d.Lang, primary(content))
	}
}

// refresh returns the address in "5; url='a.html'" (WHATWG HTML, 4.2.5.3).
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

func (f *flow) heading(m mark) string { return cut(fold(string(f.text[m.start:m.end])), MaxTitle) }

func set(to *string, value string) {
	if *to == "" {
		*to = value
	}
}

func hasWord(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}
