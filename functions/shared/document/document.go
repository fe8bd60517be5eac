package document

import (
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/strategy/robots"
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

// heading returns the text of a heading.
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
