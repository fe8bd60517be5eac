package office

import "github.com/bucketsearch/bucketsearch/functions/shared/document/markup"

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
