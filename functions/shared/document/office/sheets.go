package office

import (
	"strconv"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

// spreadsheet reads SpreadsheetML (ECMA-376, Part 1, 18): each sheet that is
// shown, its name as a heading, a line for each row.
func (a *archive) spreadsheet() []byte {
	var w markup.Writer
	part := a.main()
	relations := a.relations(part)
	var shared []string
	for strings := range relations.of("sharedStrings") {
		shared = a.sharedStrings(strings)
	}
	for s := markup.NewScanner(a.read(part)); s.Next() && !w.Full(); {
		if s.Kind != markup.Start || s.Name != "sheet" {
			continue
		}
		if state := s.Attribute("state"); state == "hidden" || state == "veryHidden" {
			continue
		}
		w.Heading(2)
		w.Text(s.Attribute("name"))
		w.Break()
		sheet := relations.target(s.Attribute("r:id"))
		a.sheet(&w, sheet, a.relations(sheet), shared)
	}
	p := a.properties(coreProperties)
	return w.Page(p.title, p.language)
}

// sharedStrings returns the texts that cells refer to by number.
func (a *archive) sharedStrings(part string) []string {
	var shared []string
	text := ""
	for s := markup.NewScanner(a.read(part)); s.Next() && len(shared) < maxStrings; {
		switch {
		case s.Kind == markup.Start && s.Name == "t":
			text += s.Inner()
		case s.Kind == markup.Start && s.Name == "rph": // how it is spoken
			s.Skip()
		case s.Kind == markup.End && s.Name == "si":
			shared = append(shared, text)
			text = ""
		}
	}
	return shared
}

func (a *archive) sheet(w *markup.Writer, part string, relations relations, shared []string) {
	kind := ""
	for s := markup.NewScanner(a.read(part)); s.Next() && !w.Full(); {
		switch {
		case s.Kind == markup.End && s.Name == "row":
			w.Break()
		case s.Kind != markup.Start:
		case s.Name == "c":
			kind = s.Attribute("t")
		case s.Name == "v":
			cell := s.Inner()
			if kind == "s" {
				cell = lookup(shared, cell)
			}
			w.Text(cell + " ")
		case s.Name == "t": // within the cell
			w.Text(s.Inner() + " ")
		case s.Name == "hyperlink":
			if target := web(relations.target(s.Attribute("r:id"))); target != "" {
				w.Link(target)
				w.Text(s.Attribute("display"))
				w.Break()
			}
		case s.Name == "f", s.Name == "rph", s.Name == "headerfooter":
			s.Skip()
		}
	}
}

func lookup(shared []string, number string) string {
	if i, err := strconv.Atoi(number); err == nil && 0 <= i && i < len(shared) {
		return shared[i]
	}
	return ""
}

// presentation reads PresentationML (ECMA-376, Part 1, 19): its slides in
// order, each with its notes.
func (a *archive) presentation() []byte {
	var w markup.Writer
	part := a.main()
	relations := a.relations(part)
	for s := markup.NewScanner(a.read(part)); s.Next() && !w.Full(); {
		if s.Kind != markup.Start || s.Name != "sldid" {
			continue
		}
		slide := relations.target(s.Attribute("r:id"))
		references := a.relations(slide)
		a.slide(&w, slide, references)
		for notes := range references.of("notesSlide") {
			a.slide(&w, notes, a.relations(notes))
		}
	}
	p := a.properties(coreProperties)
	return w.Page(p.title, p.language)
}

// slide reads the paragraphs of a slide's shapes; those of the shape that
// holds the title are headings. Numbers and dates that stand on every slide
// are left out.
func (a *archive) slide(w *markup.Writer, part string, relations relations) {
	title := false
	for s := markup.NewScanner(a.read(part)); s.Next() && !w.Full(); {
		switch {
		case s.Kind == markup.Start:
			switch s.Name {
			case "sld":
				if s.Attribute("show") == "0" {
					return
				}
			case "sp":
				title = false
			case "ph":
				kind := s.Attribute("type")
				title = kind == "title" || kind == "ctrTitle"
			case "p":
				if title {
					w.Heading(1)
				}
			case "br":
				w.Text(" ")
			case "hlinkclick":
				w.Link(web(relations.target(s.Attribute("id"))))
			case "t":
				copyText(w, s)
			case "fld", "fallback":
				s.Skip()
			}
		case s.Kind == markup.End && s.Name == "r":
			w.EndLink()
		case s.Kind == markup.End && s.Name == "p":
			w.Break()
		}
	}
}

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
