package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxDepth is the greatest depth of parentheses in a query. Deeper ones are ignored.
	maxDepth = 8
	// mostCapitals is a number of words. In a query of more words, all in capitals, OR is a word like
	// the others: TO BE OR NOT TO BE.
	mostCapitals = 2
)

// parse splits a query's text into clauses, in the query language of the package. It accepts every
// text. The notes say what was ignored.
//
// Parentheses and OR are often ordinary text, as in f(x) or (see above). So the text is read again if
// the first reading finds no group, that is, no OR between two words and no sign before a parenthesis.
// In the second reading, parentheses and OR are ordinary text. A query that has a group is written in the query
// language on purpose, so that each minus in it excludes (see unsign).
func parse(text string) (clauses []clause, notes []string) {
	var p parser
	if strings.ContainsAny(text, "(|") || strings.Contains(text, "OR") {
		p = parser{text: text, grouping: true, or: !isInCapitals(text), start: true}
		clauses = p.sequence(0)
	}
	if !p.grouped {
		p = parser{text: text, start: true}
		clauses = p.sequence(0)
	}
	if !p.grouped && unsign(clauses) {
		p.notes = append(p.notes, `A minus before a single letter or digit, or in the midst of a long sentence, excludes nothing; before quotes, as in -"a", it does.`)
	}
	if p.unclosed {
		p.notes = append(p.notes, "A closing parenthesis is missing, so the group ends with the query.")
	}
	if p.tooDeep {
		p.notes = append(p.notes, fmt.Sprintf("Parentheses are nested more than %d deep: the inner ones were ignored.", maxDepth))
	}
	return append(clauses, p.raised...), slices.Compact(p.notes)
}

// parser reads the text of a query and divides it into clauses.
type parser struct {
	text     string   // the text that is not read yet
	start    bool     // whether this is the start of the query or of a group: a sign needs no space before it here
	grouping bool     // whether parentheses, | and OR may have a meaning; otherwise they are ordinary text
	or       bool     // whether OR may have a meaning; false for a sentence in capitals (see isInCapitals)
	grouped  bool     // whether the text has OR or | between two clauses, or a sign before a parenthesis
	unclosed bool     // whether a closing parenthesis is missing
	tooDeep  bool     // whether there were more than maxDepth parentheses within each other
	raised   []clause // clauses of alternatives that count for the whole query (see raise)
	notes    []string
}

// sequence reads clauses up to the end of the text, or up to the parenthesis that closes the group in which it
// reads. The parameter depth is the number of parentheses that are open: 0 outside of all groups.
func (p *parser) sequence(depth int) (clauses []clause) {
	or := ""            // the sign | or OR that was read last, before the next clause
	follows := anywhere // the field of all following words, after allintitle: and the like
	for {
		rest := strings.TrimLeftFunc(p.text, unicode.IsSpace)
		spaced := p.start || len(rest) < len(p.text) || or != ""
		p.text, p.start = rest, false
		closes := depth > 0 && p.closes()
		if or != "" && (rest == "" || closes) { // no clause follows: the sign is an ordinary word
			clauses = append(clauses, clause{text: or})
		}
		if closes {
			p.text = p.text[1:]
			break
		}
		if rest == "" {
			p.unclosed = p.unclosed || depth > 0
			break
		}
		if sign := p.cutOr(); sign != "" && len(clauses) > 0 {
			or = sign
			continue
		} else if sign != "" {
			clauses = append(clauses, clause{text: sign})
			continue
		}
		c := p.next(depth, spaced)
		if c.field != anywhere && strings.HasPrefix(strings.ToLower(strings.TrimLeft(rest, "+-")), "allin") {
			follows = c.field
		} else if c.sign == 0 {
			c.setField(follows)
		}
		if c.text == "" && c.any == nil {
			if name, _, _ := strings.Cut(strings.TrimLeft(rest, "+-"), ":"); c.filter != "" || c.field != anywhere && c.field != follows {
				p.note(fmt.Sprintf("%s: was ignored, as nothing follows it directly.", name))
			}
			continue
		}
		if or == "" || !p.join(&clauses[len(clauses)-1], c) {
			clauses = append(clauses, c)
		}
		or = ""
	}
	return p.unwrap(clauses)
}

// next reads the next clause. The parameter spaced says whether the clause is at the start of the query, of a
// group or of an alternative, or has white space before it. Only then a + or - is a sign, and a parenthesis may
// open a group.
func (p *parser) next(depth int, spaced bool) (c clause) {
	sign, inner := byte(0), p.text
	if spaced && (inner[0] == '+' || inner[0] == '-') {
		sign, inner = inner[0], inner[1:]
	}
	if p.grouping && spaced && strings.HasPrefix(inner, "(") {
		p.text, p.start = inner[1:], true
		p.tooDeep = p.tooDeep || depth >= maxDepth
		p.grouped = p.grouped || sign != 0
		c = clause{sign: sign, any: [][]clause{p.sequence(depth + 1)}}
		if depth >= maxDepth { // its words count as if there were no parentheses
			c.any[0] = flatten(c.any[0])
		}
		return c
	}
	c, p.text = nextClause(p.text, spaced, func(text string) int { return p.wordEnd(text, depth) })
	return c
}

// flatten returns the words and phrases of the clauses and of all groups in them, as one list without groups. So
// (red OR blue) becomes red, blue.
func flatten(clauses []clause) (all []clause) {
	for _, c := range clauses {
		if c.any == nil {
			all = append(all, c)
		}
		for _, alternative := range c.any {
			all = append(all, flatten(alternative)...)
		}
	}
	return all
}

// wordEnd returns the offset at which the word at the beginning of the text ends: at white space, at a | behind
// the word, at the parenthesis that closes the group, or at the end of the text. The parameter depth is the
// number of open groups.
//
//	red|blue      outside of groups one word; in a group, as in (red|blue), the word red ends at the |
//	f(x)          one word: the closing parenthesis belongs to the one that the word has opened
func (p *parser) wordEnd(text string, depth int) int {
	open := 0
	for i, r := range text {
		switch {
		case unicode.IsSpace(r):
			return i
		case !p.grouping:
		case r == '|' && i > 0 && open == 0 && isBar(text, i) && (depth > 0 || endsWord(text[i+1:])):
			return i
		case r == '(':
			open++
		case r == ')' && open > 0:
			open--
		case r == ')' && depth > 0 && endsWord(text[i+1:]):
			return i
		}
	}
	return len(text)
}

// closes reports whether the text begins with a parenthesis that closes a group.
func (p *parser) closes() bool { return strings.HasPrefix(p.text, ")") && endsWord(p.text[1:]) }

// endsWord reports whether a closing parenthesis or a | ends a word. The parameter text is what follows this
// character: nothing, white space, a quote, a closing parenthesis or a |.
func endsWord(text string) bool {
	next, _ := utf8.DecodeRuneInString(text)
	return text == "" || unicode.IsSpace(next) || isQuote(next) || next == ')' || next == '|'
}

// isBar reports whether text[at] is a single |, not one of ||.
func isBar(text string, at int) bool {
	return text[at] == '|' && (at == 0 || text[at-1] != '|') && (at+1 == len(text) || text[at+1] != '|')
}

// cutOr cuts OR or | off the beginning of the text, and returns what it has cut off; "" if it is not there.
func (p *parser) cutOr() (sign string) {
	if !p.grouping || p.text == "" {
		return ""
	}
	if isBar(p.text, 0) {
		p.text = p.text[1:]
		return "|"
	}
	rest, found := strings.CutPrefix(p.text, "OR")
	next, _ := utf8.DecodeRuneInString(rest)
	if !found || !p.or || rest != "" && !unicode.IsSpace(next) && next != '(' && !isQuote(next) {
		return ""
	}
	p.text = rest
	return "OR"
}

// isInCapitals reports whether a text is a sentence in capitals, such as TO BE OR NOT TO BE, in which OR is a word
// like the others. Such a text has more than mostCapitals words besides OR. It has no lower-case letter, no
// quote, no opening parenthesis and no |.
func isInCapitals(text string) bool {
	words := 0
	for _, word := range strings.Fields(text) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLower(r) || isQuote(r) || r == '(' || r == '|' }) {
			return false
		}
		if word != "OR" && strings.ContainsFunc(word, unicode.IsUpper) {
			words++
		}
	}
	return words > mostCapitals
}

// join makes the clause before and the clause c, between which stands OR or |, alternatives of one group: it
// replaces *before by the group. It returns false, and joins nothing, if one of them is excluded, or if both are
// values of the same filter. Then both hold for the whole query.
func (p *parser) join(before *clause, c clause) bool {
	p.grouped = true
	if before.sign == '-' || c.sign == '-' {
		p.note("OR does not join excluded words: what follows - is excluded from all pages.")
		return false
	}
	if before.filter != "" && before.filter == c.filter { // values of one filter are alternatives already
		return false
	}
	sign := max(before.sign, c.sign)
	before.sign, c.sign = 0, 0
	*before = clause{sign: sign, any: slices.Concat(before.alternatives(), c.alternatives())}
	return true
}

func (p *parser) note(note string) { p.notes = append(p.notes, note) }

// alternatives returns the alternatives of a group. For any other clause it returns one alternative, the clause
// itself.
func (c *clause) alternatives() [][]clause {
	switch {
	case c.any == nil:
		return [][]clause{{*c}}
	case len(c.any) == 1 && len(c.any[0]) == 1 && c.any[0][0].any != nil && c.any[0][0].sign == 0: // ((red OR blue))
		return c.any[0][0].any
	}
	return c.any
}

// setField makes f the field of the clause (where its words must occur), unless the clause has a field already or
// is a filter. In a group, it sets the field of each clause that has no sign.
func (c *clause) setField(f where) {
	if c.any == nil && c.filter == "" && c.field == anywhere {
		c.field = f
	}
	for _, alternative := range c.any {
		for i := range alternative {
			if alternative[i].sign == 0 {
				alternative[i].setField(f)
			}
		}
	}
}

// unwrap removes parentheses that group no alternatives, and gives the sign before them to each clause within. It
// also does so for an excluded group, if each of its alternatives is a single clause:
//
//	(red fox)                 red fox
//	+(red fox)                +red +fox
//	-(red OR fox)             -red -fox
//	-(red OR (blue fox))      stays a group
func (p *parser) unwrap(clauses []clause) (flat []clause) {
	if !slices.ContainsFunc(clauses, func(c clause) bool { return c.any != nil }) {
		return clauses
	}
	for _, c := range clauses {
		if c.any == nil {
			flat = append(flat, c)
			continue
		}
		if len(c.any) > 1 {
			if c = p.raise(c); c.any == nil {
				continue
			}
		}
		if excludes := c.sign == '-' && !slices.ContainsFunc(c.any, func(of []clause) bool { return len(of) > 1 }); len(c.any) > 1 && !excludes {
			flat = append(flat, c)
			continue
		}
		signed := slices.Concat(c.any...)
		for i := range signed {
			if inner := &signed[i]; c.sign == '-' || inner.sign == 0 {
				inner.sign = c.sign
			}
		}
		if len(c.any) == 1 {
			signed = p.unwrap(signed)
		}
		flat = append(flat, signed...)
	}
	return flat
}

// raise takes out of a group the clauses that cannot be alternatives, and appends them to p.raised: filters, and
// alternatives in which all words are excluded. These clauses hold for the whole query. It returns the rest of
// the group.
func (p *parser) raise(group clause) clause {
	var alternatives [][]clause
	filters := 0
	for _, alternative := range group.any {
		var kept []clause
		excluded := !slices.ContainsFunc(alternative, func(c clause) bool { return c.filter == "" && c.sign != '-' })
		for _, c := range alternative {
			switch {
			case c.filter != "":
				if group.sign == '-' {
					c.sign = '-'
				}
				p.raised = append(p.raised, c)
				filters++
			case excluded:
				p.raised = append(p.raised, c)
				p.note("OR does not join excluded words: what follows - is excluded from all pages.")
			default:
				kept = append(kept, c)
			}
		}
		if len(kept) > 0 {
			alternatives = append(alternatives, kept)
		}
	}
	if filters > 0 && len(alternatives) > 0 {
		p.note("OR joins words, not filters: the filters hold for all pages.")
	}
	group.any = alternatives
	return group
}
