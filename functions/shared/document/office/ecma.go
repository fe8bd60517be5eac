package office

import (
	"strconv"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

const coreProperties = "docProps/core.xml"

// word reads the Word document in the archive (WordprocessingML: ECMA-376, Part 1, 17).
func (a *archive) word() markup.Page {
	var w markup.Writer
	part := a.main()
	relations := a.relations(part)
	levels := a.headings(relations)
	a.story(&w, part, relations, levels)
	for _, kind := range []string{"footnotes", "endnotes"} {
		for notes := range relations.of(kind) {
			a.story(&w, notes, a.relations(notes), levels)
		}
	}
	p := a.properties(coreProperties)
	w.Modified = p.modified
	return w.Page(p.title, p.language)
}

// story writes the paragraphs of one part of a Word document, such as its main text. The parameter
// levels maps the paragraph styles of headings to the levels of the headings.
func (a *archive) story(w *markup.Writer, part string, relations relationTable, levels map[string]int) {
	for s := markup.NewScanner(a.read(part)); s.Next() && !w.Full(); {
		switch {
		case s.Kind == markup.Start:
			wordStart(w, s, relations, levels)
		case s.Kind == markup.End && s.Name == "p":
			w.Break()
		case s.Kind == markup.End && s.Name == "hyperlink":
			w.EndLink()
		}
	}
}

func wordStart(w *markup.Writer, s *markup.Scanner, relations relationTable, levels map[string]int) {
	switch s.Name {
	case "p":
		w.Break()
	case "pstyle":
		if level := levels[s.Attribute("val")]; level > 0 {
			w.Heading(level)
		}
	case "hyperlink":
		w.Link(web(relations.target(s.Attribute("id"))))
	case "t":
		copyText(w, s)
	case "tab", "br", "cr", "ptab":
		w.Text(" ")
	case "nobreakhyphen":
		w.Text("-")
	case "fallback", "del", "movefrom": // an alternative to content that was read; deleted text
		s.Skip()
	}
}

// headings returns, for the id of each paragraph style of headings, the level of these headings,
// from 1 on. The level is in the style's name, such as "heading 2". Such names are English even in
// translated versions of Word. If a style has no level in its name, its outline level counts, if
// it has one.
func (a *archive) headings(relations relationTable) map[string]int {
	levels := map[string]int{}
	for styles := range relations.of("styles") {
		id := ""
		for s := markup.NewScanner(a.read(styles)); s.Next(); {
			if s.Kind != markup.Start {
				continue
			}
			switch s.Name {
			case "style":
				id = s.Attribute("styleid")
			case "name":
				if level := namedLevel(strings.ToLower(s.Attribute("val"))); level > 0 {
					levels[id] = level
				}
			case "outlinelvl":
				if level, err := strconv.Atoi(s.Attribute("val")); err == nil && 0 <= level && level < 9 && levels[id] == 0 {
					levels[id] = level + 1
				}
			}
		}
	}
	return levels
}

func namedLevel(style string) int {
	if style == "title" {
		return 1
	}
	if number, is := strings.CutPrefix(style, "heading "); is {
		level, _ := strconv.Atoi(number)
		return level
	}
	return 0
}

// spreadsheet reads the spreadsheet in the archive (SpreadsheetML: ECMA-376, Part 1, 18): each
// visible sheet, with its name as a heading and one line for each row.
func (a *archive) spreadsheet() markup.Page {
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
	w.Modified = p.modified
	return w.Page(p.title, p.language)
}

// sharedStrings returns the strings to which cells refer by index, at most maxStrings.
func (a *archive) sharedStrings(part string) []string {
	var shared []string
	var text strings.Builder
	for s := markup.NewScanner(a.read(part)); s.Next() && len(shared) < maxStrings; {
		switch {
		case s.Kind == markup.Start && s.Name == "t":
			text.WriteString(s.Inner())
		case s.Kind == markup.Start && s.Name == "rph": // how it is spoken
			s.Skip()
		case s.Kind == markup.End && s.Name == "si":
			shared = append(shared, text.String())
			text.Reset()
		}
	}
	a.cut = a.cut || len(shared) == maxStrings
	return shared
}

func (a *archive) sheet(w *markup.Writer, part string, relations relationTable, shared []string) {
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

// presentation reads the presentation in the archive (PresentationML: ECMA-376, Part 1, 19): the
// slides in order, each with its notes.
func (a *archive) presentation() markup.Page {
	var w markup.Writer
	part := a.main()
	relations := a.relations(part)
	shown := map[string]bool{"": true} // "" is the name of a missing slide
	for s := markup.NewScanner(a.read(part)); s.Next() && !w.Full(); {
		if s.Kind != markup.Start || s.Name != "sldid" {
			continue
		}
		slide := relations.target(s.Attribute("r:id"))
		if shown[slide] {
			continue
		}
		shown[slide] = true
		references := a.relations(slide)
		a.slide(&w, slide, references)
		for notes := range references.of("notesSlide") {
			a.slide(&w, notes, a.relations(notes))
		}
	}
	p := a.properties(coreProperties)
	w.Modified = p.modified
	return w.Page(p.title, p.language)
}

// slide writes the paragraphs of a slide; those of its title are headings. Hidden slides,
// slide numbers and dates are left out.
func (a *archive) slide(w *markup.Writer, part string, relations relationTable) {
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
