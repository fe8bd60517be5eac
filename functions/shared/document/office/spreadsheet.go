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
