package document

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

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
