package office

import (
	"net/url"
	"strconv"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

// openDocument reads an ODT, ODS or ODP document (OpenDocument 1.3, Part 3). The
// paragraphs of a table row become one line.
func (a *archive) openDocument() markup.Page {
	var w markup.Writer
	rows, title := 0, false
	for s := markup.NewScanner(a.read("content.xml")); s.Next() && !w.Full(); {
		switch s.Kind {
		case markup.Text:
			w.Text(s.Text())
		case markup.Start:
			switch s.Name {
			case "frame":
				title = s.Attribute("presentation:class") == "title"
			case "table-row":
				rows++
			case "p":
				if rows == 0 && title {
					w.Heading(1)
				}
			case "h":
				level, _ := strconv.Atoi(s.Attribute("outline-level"))
				w.Heading(level)
			case "a":
				w.Link(web(s.Attribute("href")))
			case "s", "tab", "line-break":
				w.Text(" ")
			case "table":
				w.Break()
			case "automatic-styles", "annotation", "tracked-changes", "font-face-decls", "scripts", "forms", "settings", "binary-data",
				"page-number", "page-count", "bibliography-configuration", "sequence-decls", "variable-decls", "user-field-decls":
				s.Skip()
			}
		case markup.End:
			switch s.Name {
			case "table-row":
				rows--
				w.Break()
			case "a":
				w.EndLink()
			case "p", "h":
				if rows > 0 {
					w.EndLink()
					w.Text(" ")
				} else {
					w.Break()
				}
			}
		}
	}
	p := a.properties("meta.xml")
	w.Modified = p.modified
	return w.Page(p.title, p.language)
}

// book reads an EPUB: its chapters in the reading order that the spine gives.
func (a *archive) book() markup.Page {
	var w markup.Writer
	part := ""
	for s := markup.NewScanner(a.read("META-INF/container.xml")); s.Next() && part == ""; {
		if s.Kind == markup.Start && s.Name == "rootfile" {
			part = s.Attribute("full-path")
		}
	}
	chapters := map[string]string{} // names of members by their ids in the manifest
	shown := map[string]bool{"": true}
	for s := markup.NewScanner(a.read(part)); s.Next() && !w.Full(); {
		if s.Kind != markup.Start {
			continue
		}
		switch s.Name {
		case "item":
			if reference, err := url.PathUnescape(s.Attribute("href")); err == nil {
				chapters[s.Attribute("id")] = resolve(part, reference)
			}
		case "itemref":
			if part := chapters[s.Attribute("idref")]; !shown[part] {
				shown[part] = true
				a.chapter(&w, part)
			}
		}
	}
	p := a.properties(part)
	w.Modified = p.modified
	return w.Page(p.title, p.language)
}

// chapter writes the text of a chapter, which is the XHTML member named part. Links to other
// chapters, which have no web address, become text.
func (a *archive) chapter(w *markup.Writer, part string) {
	for s := markup.NewScanner(a.read(part)); s.Next() && !w.Full(); {
		switch s.Kind {
		case markup.Text:
			w.Text(s.Text())
		case markup.Start:
			switch s.Name {
			case "head", "script", "style", "nav", "svg", "rt", "rp":
				s.Skip()
			case "h1", "h2", "h3", "h4", "h5", "h6":
				w.Heading(int(s.Name[1] - '0'))
			case "a":
				w.Link(web(s.Attribute("href")))
			case "img":
				w.Text(s.Attribute("alt"))
			default:
				breakAt(w, s.Name)
			}
		case markup.End:
			switch s.Name {
			case "a":
				w.EndLink()
			case "h1", "h2", "h3", "h4", "h5", "h6":
				w.Break()
			default:
				breakAt(w, s.Name)
			}
		}
	}
	w.Break()
}

func breakAt(w *markup.Writer, name string) {
	switch name {
	case "p", "div", "section", "article", "aside", "blockquote", "pre", "li", "dt", "dd", "tr", "br", "hr", "figcaption", "caption":
		w.Break()
	case "td", "th":
		w.Text(" ")
	}
}
