package office

import (
	"iter"
	"path"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
)

// relation is what a part of an ECMA-376 document says of another part or an
// address (Part 2, 6.5).
type relation struct {
	kind   string // last word of its type
	target string // member of the archive, or address
}

// relations are those of a part, in order.
type relations struct {
	all  []relation
	byID map[string]int
}

// relations returns those of a part; part "" is the document.
func (a *archive) relations(part string) relations {
	found := relations{byID: map[string]int{}}
	directory, name := path.Split(part)
	for s := markup.NewScanner(a.read(directory + "_rels/" + name + ".rels")); s.Next(); {
		if s.Kind != markup.Start || s.Name != "relationship" {
			continue
		}
		r := relation{path.Base(s.Attribute("type")), s.Attribute("target")}
		if !strings.EqualFold(s.Attribute("targetmode"), "external") {
			r.target = resolve(part, r.target)
		}
		found.byID[s.Attribute("id")] = len(found.all)
		found.all = append(found.all, r)
	}
	return found
}

// target returns what an id stands for, or "".
func (r relations) target(id string) string {
	if i, found := r.byID[id]; found {
		return r.all[i].target
	}
	return ""
}

// of yields the targets of a kind.
func (r relations) of(kind string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, one := range r.all {
			if one.kind == kind && !yield(one.target) {
				return
			}
		}
	}
}

// main returns the part that a reader begins with, or "".
func (a *archive) main() string {
	for part := range a.relations("").of("officeDocument") {
		return part
	}
	return ""
}

// copyText writes the text of the element that starts, as it is spaced, and
// goes to its end.
func copyText(w *markup.Writer, s *markup.Scanner) {
	for s.Next() && s.Kind == markup.Text {
		w.Text(s.Text())
	}
}

// properties are what a document says of itself in the Dublin Core.
type properties struct{ title, language string }

// properties reads the first title and language of a part.
func (a *archive) properties(part string) (p properties) {
	for s := markup.NewScanner(a.read(part)); s.Next(); {
		if s.Kind != markup.Start {
			continue
		}
		switch s.Name {
		case "title":
			set(&p.title, s.Inner())
		case "language":
			set(&p.language, s.Inner())
		case "manifest", "spine": // of an EPUB's package
			return p
		}
	}
	return p
}

func set(to *string, value string) {
	if *to == "" {
		*to = value
	}
}

// web returns a reference if it is an address of the web, else "".
func web(reference string) string {
	reference = strings.TrimSpace(reference)
	if i := strings.Index(reference, "://"); i > 0 && (strings.EqualFold(reference[:i], "http") || strings.EqualFold(reference[:i], "https")) {
		return reference
	}
	return ""
}
