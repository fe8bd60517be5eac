package document

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/layout"
)

// flow is the visible text of a page in reading order, and where in it its
// elements stand. White space is folded to one space, and every block of text
// is a line of its own, so that the block around any place lies between two
// line feeds.
type flow struct {
	text       []byte
	links      []mark // elements that refer to addresses, in document order
	headings   []mark
	navigation []mark // outermost regions of navigation
	mains      []mark // elements that say of themselves that they are the main part
	emphasis   unlikeElements
	large      unlikeElements
}

// mark is an element and its text[start:end].
type mark struct {
	node       *html.Node
	start, end int
	navigation bool
	alt        string // of the first image within
}

// flowOf returns the flow of a page, with room for so many bytes of text.
func flowOf(root *html.Node, room int) *flow {
	f := &flow{text: make([]byte, 0, room)}
	f.walk(root, false, -1)
	return f
}

// walk adds an element's children. link is the index of the link around them,
// or -1. Recursion is bounded by MaxNesting.
func (f *flow) walk(parent *html.Node, navigation bool, link int) {
	for n := parent.FirstChild; n != nil; n = n.NextSibling {
		switch {
		case n.Type == html.TextNode:
			f.add(n.Data)
		case n.Type == html.ElementNode:
			f.element(n, navigation, link)
		}
	}
}

func (f *flow) element(n *html.Node, navigation bool, link int) {
	block := isBlock(n.DataAtom)
	if block || n.DataAtom == atom.Br {
		f.breakLine()
	}
	outermost := !navigation && isNavigation(n)
	if outermost {
		f.breakLine()
		navigation = true
	}
	start := len(f.text)
	own := -1
	if refers(n) && len(f.links) < MaxLinks {
		if n.DataAtom == atom.Img && link >= 0 && f.links[link].alt == "" {
			f.links[link].alt = attribute(n, "alt")
		}
		own = len(f.links)
		f.links = append(f.links, mark{node: n, start: start, navigation: navigation})
		if n.DataAtom == atom.A {
			link = own
		}
	}
	look := f.look(n.DataAtom)
	if look != nil {
		look.inside++
	}
	if !isUnseen(n.DataAtom) {
		f.walk(n, navigation, link)
	}
	if look != nil {
		look.close(start, len(f.text))
	}
	if own >= 0 {
		f.links[own].end = len(f.text)
	}
	if isMain(n) {
		f.mains = append(f.mains, mark{node: n, start: start, end: len(f.text)})
	}
	if isHeading(n.DataAtom) && !navigation && len(f.headings) < MaxHeadings {
		f.headings = append(f.headings, mark{node: n, start: start, end: len(f.text)})
	}
	if block || outermost {
		f.breakLine()
	}
	if outermost {
		f.navigation = append(f.navigation, mark{node: n, start: start, end: len(f.text)})
	}
}

// add appends text, its white space folded.
func (f *flow) add(data string) {
	if first, _ := utf8.DecodeRuneInString(data); unicode.IsSpace(first) {
		f.space()
	}
	inside := false
	for word := range strings.FieldsSeq(data) {
		if inside {
			f.space()
		}
		f.text = append(f.text, word...)
		inside = true
	}
	if last, _ := utf8.DecodeLastRuneInString(data); unicode.IsSpace(last) {
		f.space()
	}
}

// space appends a space, unless there is one or a line begins.
func (f *flow) space() {
	if last := len(f.text) - 1; last >= 0 && f.text[last] != ' ' && f.text[last] != '\n' {
		f.text = append(f.text, ' ')
	}
}

func (f *flow) breakLine() {
	last := len(f.text) - 1
	if last < 0 || f.text[last] == '\n' {
		return
	}
	if f.text[last] == ' ' {
		f.text[last] = '\n'
		return
	}
	f.text = append(f.text, '\n')
}

// body returns the text without its navigation.
func (f *flow) body() passage { return f.between(0, len(f.text)) }

// main returns the text of the one element that is the page's main part by its
// name or role, without its navigation, or nothing.
func (f *flow) main() passage {
	if len(f.mains) != 1 {
		return passage{}
	}
	return f.between(f.mains[0].start, f.mains[0].end)
}

func (f *flow) all() passage { return passage{f.text, []layout.Span{{Start: 0, End: len(f.text)}}} }

// isNavigation reports whether an element says of itself that it holds
// navigation and not the text of the page: by its name, its role, or a word of
// its class or id. A header within an article belongs to the article.
func isNavigation(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside:
		return true
	case atom.Header:
		return !within(n, atom.Article, atom.Main, atom.Section)
	case atom.Html, atom.Body, atom.Main, atom.Article, atom.A:
		return false
	}
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "class", "id":
			for word := range strings.FieldsSeq(n.Attr[i].Val) {
				if saysNavigation(strings.ToLower(word)) {
					return true
				}
			}
		case "role":
			switch strings.ToLower(strings.TrimSpace(n.Attr[i].Val)) {
			case "navigation", "banner", "contentinfo", "complementary", "menu", "menubar", "search":
				return true
			}
		}
	}
	return false
}

// isMain reports whether an element says of itself that it is the main part of
// the page (WHATWG HTML, 4.4.14; WAI-ARIA 1.2, main).
func isMain(n *html.Node) bool {
	return n.DataAtom == atom.Main || strings.EqualFold(strings.TrimSpace(attribute(n, "role")), "main")
}

func within(n *html.Node, names ...atom.Atom) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		for _, name := range names {
			if p.DataAtom == name {
				return true
			}
		}
	}
	return false
}

func saysNavigation(word string) bool {
	switch word {
	case "footer", "menu", "related", "toc", "contents", "pager", "pagination":
		return true
	}
	for _, prefix := range [...]string{"has-", "with-", "no-"} { // about another element
		if strings.HasPrefix(word, prefix) {
			return false
		}
	}
	for _, prefix := range [...]string{"nav", "breadcrumb", "sidebar", "topbar", "toolbar"} {
		if strings.HasPrefix(word, prefix) {
			return true
		}
	}
	for _, suffix := range [...]string{"sidebar", "-nav", "_nav", "-menu", "_menu", "navigation", "navbar"} {
		if strings.HasSuffix(word, suffix) {
			return true
		}
	}
	return false
}
