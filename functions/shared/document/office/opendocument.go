package office

import (
	"strconv"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

// openDocument reads the content of an OpenDocument (OASIS, Part 3). The
// paragraphs of a table's row are one line.
func (a *archive) openDocument() []byte {
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
	return w.Page(p.title, p.language)
}
