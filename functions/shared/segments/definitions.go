package segments

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// A page defines a name if it has an entry for the name in a list of terms. Example: in a manual, the description
// of a function is such an entry, and its term is the signature of the function. The name is a word in the term,
// or a joined word such as shared_buffers. The fragment of the entry's address tells which: of the runs of words
// in the term with which the fragment ends, the longest is taken, and its last word is the name.
//
//	term                       fragment                    name             alone
//	print(*objects, sep=' ')   print                       print            yes
//	exception KeyError         KeyError                    KeyError         yes
//	json.dumps(obj)            json.dumps                  dumps            no
//	shared_buffers (integer)   GUC-SHARED-BUFFERS          shared_buffers   no
//	abstract base class        term-abstract-base-class    none, because of the spaces
//	another note               id17                        none
//
// A name is alone if the fragment has no words but those of the name.

// definition is a name that a page defines: its term (see segment.DefinitionTerm), and the field in which the
// index has it.
type definition struct {
	term  string
	field int
}

// definitions returns the names that the page defines. A name that several entries define is returned once for
// each field.
func (t *tokenizer) definitions(p *Page) (all []definition) {
	if len(p.Entries) == 0 {
		return nil
	}
	seen := make(map[definition]bool)
	for i := range p.Entries {
		e := &p.Entries[i]
		name, alone := t.nameOf(p.Body[e.Start:e.Start+e.Term], e.Fragment)
		d := definition{segment.DefinitionTerm(name), segment.Body}
		if alone {
			d.field = segment.Headings
		}
		if name != "" && !seen[d] && len(d.term) <= segment.MaxTerm {
			seen[d] = true
			all = append(all, d)
		}
	}
	return all
}

// define yields a token for each of the definitions whose field is the given one. The tokens get the positions
// base+1, base+2 and so on. define returns the last position.
func (t *tokenizer) define(all []definition, field, base int) int {
	for _, d := range all {
		if d.field == field && t.more {
			base++
			t.more = t.yield(segment.Token{Field: field, Term: d.term, Position: uint32(base)})
		}
	}
	return base
}

// nameOf returns the term of the name that an entry of a list of terms defines, and whether the name is alone (see
// the comment at the top). If the entry defines no name, the term is "".
func (t *tokenizer) nameOf(term, fragment string) (name string, alone bool) {
	words, address := t.spell(term), t.spell(fragment)
	last, longest := 0, 0
	for i := range words {
		n := 0
		for n <= i && n < len(address) && words[i-n].term == address[len(address)-1-n].term {
			n++
		}
		if n > longest {
			last, longest = i, n
		}
	}
	if longest == 0 {
		return "", false
	}
	w := words[last]
	if longest < w.parts || strings.ContainsAny(term[words[last-longest+1].start:w.end], " \n") {
		return "", false
	}
	return w.whole, w.parts == len(address)
}

// spelled is a word of a text. Joined words are divided into their parts: dumps_all gives the words dumps and all.
// If the word is the last part of a joined word, the field whole is the term of the joined word, and parts is the
// number of its parts. For all other words, whole is the same as term, and parts is 1.
type spelled struct {
	term, whole       string
	start, end, parts int // range in the text, in bytes; number of parts
}

// spell returns the words of a text.
func (t *tokenizer) spell(text string) (words []spelled) {
	t.analyzer.Each(text, func(o analysis.Occurrence) bool {
		last := len(words) - 1
		switch {
		case o.Parts > 0:
			words[last].whole, words[last].parts = o.Term, o.Parts
		case last < 0 || o.Start >= words[last].end: // otherwise it is a second term of the last word
			words = append(words, spelled{o.Term, o.Term, o.Start, o.End, 1})
		}
		return true
	})
	return words
}
