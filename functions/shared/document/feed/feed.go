// Package feed reads XML feeds: RSS 0.9 to 2.0 and Atom (RFC 4287).
//
// It returns HTML with the same content: for each entry a heading with the entry's link,
// and its text. The result depends only on the feed's bytes. Functions are safe for
// concurrent use.
package feed

import (
	"bytes"
	"cmp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

const maxProlog = 4096 // number of bytes within which the first element of a feed must begin

// Is reports whether a text is a feed: its first element is rss, feed or rdf.
func Is(text []byte) bool {
	s := markup.NewScanner(text[:min(len(text), maxProlog)])
	for s.Next() {
		if s.Kind == markup.Start {
			return s.Name == "rss" || s.Name == "feed" || s.Name == "rdf"
		}
	}
	return false
}

// HTML converts a feed in UTF-8 to a page of HTML with the same content (see the package comment).
func HTML(text []byte) markup.Page {
	var (
		w               markup.Writer
		title, language string
		e               *entry // the open entry, or nil
	)
	for s := markup.NewScanner(text); s.Next() && !w.Full(); {
		switch {
		case s.Kind == markup.Start && (s.Name == "item" || s.Name == "entry"):
			e = &entry{}
		case s.Kind == markup.End && (s.Name == "item" || s.Name == "entry") && e != nil:
			e.write(&w)
			e = nil
		case s.Kind != markup.Start:
		case e != nil:
			e.read(s)
		default:
			switch s.Name {
			case "feed":
				language = s.Attribute("xml:lang")
			case "language":
				language = s.Inner()
			case "title":
				title = cmp.Or(title, strings.TrimSpace(plain(s.Inner())))
			case "description", "subtitle":
				fragment(&w, s.Inner())
				w.Break()
			case "image", "textinput":
				s.Skip()
			}
		}
	}
	if e != nil { // the feed breaks off
		e.write(&w)
	}
	return w.Page(title, language)
}

// entry is an entry of a feed. Its texts are HTML.
type entry struct {
	title, link, id string
	summary         string
	content         string
}

func (e *entry) read(s *markup.Scanner) {
	switch s.Name {
	case "title":
		e.title = cmp.Or(e.title, s.Inner())
	case "link":
		e.readLink(s)
	case "guid":
		if s.Attribute("ispermalink") != "false" {
			e.id = cmp.Or(e.id, s.Inner())
		}
	case "description", "summary":
		e.summary = cmp.Or(e.summary, s.Inner())
	case "encoded", "content":
		e.content = cmp.Or(e.content, s.Inner())
	case "source", "author", "contributor", "category":
		s.Skip()
	}
}

// readLink sets the entry's link to the text of a link element (RSS) or to its href (Atom). Link
// elements with another rel than "alternate" are ignored. Of the others, the first one counts.
func (e *entry) readLink(s *markup.Scanner) {
	reference, rel := s.Attribute("href"), s.Attribute("rel")
	if reference == "" {
		reference = s.Inner()
	}
	if rel == "" || rel == "alternate" {
		e.link = cmp.Or(e.link, strings.TrimSpace(reference))
	}
}

func (e *entry) write(w *markup.Writer) {
	if e.link = cmp.Or(e.link, e.id); e.title != "" || e.link != "" {
		w.Heading(2)
		w.Link(e.link)
		w.Text(plain(e.title))
		w.Break()
	}
	fragment(w, cmp.Or(e.content, e.summary))
	w.Break()
}

// isPlain reports whether a piece of HTML has no markup and no character references.
func isPlain(piece string) bool { return !strings.ContainsAny(piece, "<&") }

func plain(piece string) string {
	if isPlain(piece) {
		return piece
	}
	var w strings.Builder
	z := html.NewTokenizer(strings.NewReader(piece))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return w.String()
		case html.TextToken:
			w.Write(z.Text())
		}
	}
}

// fragment writes a piece of HTML to w: its text, its line breaks and its links.
func fragment(w *markup.Writer, piece string) {
	if isPlain(piece) {
		w.Text(piece)
		return
	}
	unseen := false
	z := html.NewTokenizer(bytes.NewReader([]byte(piece)))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			if !unseen {
				w.Text(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			unseen = token.DataAtom == atom.Script || token.DataAtom == atom.Style
			start(w, token)
		case html.EndTagToken:
			token := z.Token()
			unseen = false
			if token.DataAtom == atom.A {
				w.EndLink()
			} else {
				start(w, token)
			}
		}
	}
}

func start(w *markup.Writer, token html.Token) {
	switch token.DataAtom {
	case atom.A:
		for _, a := range token.Attr {
			if a.Key == "href" {
				w.Link(a.Val)
			}
		}
	case atom.P, atom.Div, atom.Br, atom.Li, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Blockquote, atom.Pre, atom.Tr, atom.Dt, atom.Dd, atom.Figcaption, atom.Hr:
		w.Break()
	case atom.Td, atom.Th:
		w.Text(" ")
	}
}
