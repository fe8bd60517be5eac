package office

import (
	"strconv"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

const coreProperties = "docProps/core.xml"

// word reads WordprocessingML (ECMA-376, Part 1, 17).
func (a *archive) word() []byte {
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
	return w.Page(p.title, p.language)
}

// story reads one part that holds paragraphs.
func (a *archive) story(w *markup.Writer, part string, relations relations, levels map[string]int) {
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

func wordStart(w *markup.Writer, s *markup.Scanner, relations relations, levels map[string]int) {
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
	case "fallback", "del", "movefrom": // said twice; deleted
		s.Skip()
	}
}

// headings returns the levels of the paragraph styles that are headings: by
// their outline level, or by their name, which is English whatever the
// language of the program.
func (a *archive) headings(relations relations) map[string]int {
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
