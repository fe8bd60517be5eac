package segment

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxWords is how many words of a query are used.
	MaxWords = 64
	// MaxText is how many bytes of a query are read.
	MaxText = 4096
	// nearWords is up to how many words of a query are looked for as a phrase.
	nearWords = 3
)

// parsed is what a query asks for. A phrase of one term is a word.
type parsed struct {
	words []string   // that score, each once
	plain []string   // those without quotes or a sign, in their order
	must  [][]string // phrases that must occur
	not   [][]string // phrases that must not
	used  int        // terms so far
}

// parse reads a query; see the package's documentation for the language. No
// text is wrong.
func parse(text string, a *analyzer) parsed {
	var p parsed
	if len(text) > MaxText {
		text = cutRune(text[:MaxText])
	}
	for text != "" && p.used < MaxWords {
		text = p.clause(text, a)
	}
	return p
}

// clause reads the first clause of the text and returns the rest.
func (p *parsed) clause(text string, a *analyzer) string {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	sign := byte(0)
	if text != "" && (text[0] == '+' || text[0] == '-') {
		sign, text = text[0], text[1:]
	}
	first, width := utf8.DecodeRuneInString(text)
	quoted := isQuote(first)
	ends := unicode.IsSpace
	if quoted {
		text, ends = text[width:], isQuote
	}
	end := strings.IndexFunc(text, ends)
	rest := ""
	if end >= 0 {
		rest = text[end:]
		if quoted {
			_, width := utf8.DecodeRuneInString(rest)
			rest = rest[width:]
		}
		text = text[:end]
	}
	p.add(p.terms(text, a), sign, quoted)
	return rest
}

func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' || r == '„' }

// terms returns the terms of a text, as many as may still be used.
func (p *parsed) terms(text string, a *analyzer) (terms []string) {
	a.each(text, func(o occurrence) bool {
		terms = append(terms, o.term)
		p.used++
		return p.used < MaxWords
	})
	return terms
}

func (p *parsed) add(terms []string, sign byte, quoted bool) {
	if len(terms) == 0 {
		return
	}
	if sign == '-' {
		p.not = append(p.not, terms)
		return
	}
	for _, term := range terms {
		if !slices.Contains(p.words, term) {
			p.words = append(p.words, term)
		}
	}
	if sign == '+' || quoted {
		p.must = append(p.must, terms)
	} else {
		p.plain = append(p.plain, terms...)
	}
}

// near returns the words to look for next to each other, if any.
func (p *parsed) near() []string {
	if len(p.plain) < 2 || len(p.plain) > nearWords {
		return nil
	}
	return p.plain
}

// cutRune removes the beginning of a character at the end of the text.
func cutRune(text string) string {
	for i := 0; i < utf8.UTFMax && text != ""; i++ {
		if r, width := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || width != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}
