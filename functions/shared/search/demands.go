package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// where says where in a document a word or phrase must occur.
type where int

const (
	anywhere  where = iota // in its texts, in its anchors (texts of links to it), or in the names of its site
	inTexts                // in its texts only; so for all excluded words: a link to a page cannot exclude it
	inTitle                // intitle:
	inAddress              // inurl:
	inAnchors              // inanchor:
)

// fields maps the names before a colon, such as intitle in intitle:fox, to the field of the document in which the
// words must occur. A name that begins with "all" holds for all words that follow it in the query.
var fields = map[string]where{
	"intitle": inTitle, "inurl": inAddress, "inanchor": inAnchors,
	"allintitle": inTitle, "allinurl": inAddress, "allinanchor": inAnchors,
}

// demand is a condition on documents that cannot be expressed by plain words and phrases with + or -. A demand is
// a tree: exactly one of the fields all, any, none, word and phrase is set.
//
// Example: intitle:red (fox OR "blue dog") makes two demands. The first is the word red in the title. The
// second has two demands in any: the word fox and the phrase blue dog. One of these two must hold.
type demand struct {
	all, any []*demand    // all: each of them must hold; any: at least one must hold
	none     *demand      // it must not hold
	word     *queryWord   // the document must have it, in the field below
	phrase   *queryPhrase // the document must have it, in the field below
	field    where
}

// eachLeaf calls do for every word and phrase of the condition.
func (c *demand) eachLeaf(do func(leaf *demand)) {
	if c.word != nil || c.phrase != nil {
		do(c)
	}
	for _, of := range slices.Concat(c.all, c.any) {
		of.eachLeaf(do)
	}
	if c.none != nil {
		c.none.eachLeaf(do)
	}
}

// addGroup adds to the plan a group of alternatives, or a clause with a field such as intitle: (see fields).
//
//	(red OR blue)         becomes one word with two synonyms. It is required only after a +. A document
//	                      with red or blue has the word.
//	(red OR "blue fox")   becomes a condition (see demand): red or the phrase must occur. So does each
//	                      group with a phrase, a field, or an alternative of several words. The words and
//	                      phrases also count for the score.
//	intitle:red           becomes the required word red, and the condition that red is in the title.
func (p *plan) addGroup(c clause) {
	if w := p.synonyms(&c); w != nil {
		p.words = append(p.words, w)
		if !w.required {
			p.plain = append(p.plain, &queryPhrase{words: []*queryWord{w}, open: slices.ContainsFunc(w.any, func(of *queryWord) bool { return of.prefix || of.edits > 0 })})
		}
		return
	}
	of := p.demand(&c, c.sign == '-', c.field != anywhere && c.sign != '-')
	if of == nil {
		return
	}
	if c.sign == '-' {
		of = &demand{none: of}
	}
	p.demands = append(p.demands, of)
}

// synonyms returns one word for a group such as (red OR blue): w.any has a word for each alternative. It returns
// nil for a group that is excluded, or that has an alternative with a field, a group, or more than one word.
func (p *plan) synonyms(c *clause) *queryWord {
	if c.any == nil || c.sign == '-' {
		return nil
	}
	w := &queryWord{times: 1, required: c.sign == '+'}
	var all [][]analysis.Word
	for _, alternative := range c.any {
		if len(alternative) > 1 || alternative[0].field != anywhere || alternative[0].any != nil {
			return nil
		}
		analysed := analysis.Query(alternative[0].text, p.analyzers)
		if len(analysed) > 1 {
			return nil
		}
		all = append(all, analysed)
	}
	for i, analysed := range all {
		of := &c.any[i][0]
		if len(p.take(analysed)) == 0 {
			continue
		}
		synonym := p.word(of, &analysed[0])
		if analysed[0].Text != "" {
			synonym.prefix, synonym.edits = of.prefix, of.edits
		}
		if w.any = append(w.any, synonym); len(w.any) > 1 {
			w.text += " OR "
		}
		w.text += synonym.text
		w.required = w.required || of.quoted || of.sign == '+'
	}
	if len(w.any) == 0 {
		return nil
	}
	w.surface = w.text
	return w
}

// unite gives each word that stands for a group, such as (red OR blue), the variants (terms to look up) of all
// words of the group. It must be called after the variants of prefixes and of words with edits are known.
func (p *plan) unite() {
	for _, w := range p.words {
		for _, synonym := range w.any {
			for _, v := range synonym.variants {
				if n := slices.IndexFunc(w.variants, func(known variant) bool { return known.term == v.term }); n < 0 {
					w.variants = append(w.variants, v)
				} else {
					w.variants[n].rules |= v.rules
					w.variants[n].worth = max(w.variants[n].worth, v.worth)
				}
			}
		}
		w.any = nil
	}
}

// demand returns the condition that a clause makes; nil if the clause has no words. The parameter excluded says
// whether the clause, or a group around it, must not occur: then its words do not count for the score. The
// parameter required says whether every document must have the words of the clause.
func (p *plan) demand(c *clause, excluded, required bool) *demand {
	if c.any == nil {
		return p.leaf(c, excluded, required)
	}
	group := &demand{}
	for _, alternative := range c.any {
		all := &demand{}
		for i := range alternative {
			inner := &alternative[i]
			of := p.demand(inner, excluded || inner.sign == '-', false)
			if of == nil {
				continue
			}
			if inner.sign == '-' {
				of = &demand{none: of}
			}
			all.all = append(all.all, of)
		}
		if len(all.all) > 0 {
			group.any = append(group.any, all)
		}
	}
	if len(group.any) == 0 {
		return nil
	}
	return group
}

// leaf returns the condition that a clause without a group makes; nil if none of its words is indexed. If the
// written word consists of several words of the index, as os.path does, these must occur as a phrase. Two
// exceptions: of a joined word, such as e-mail, the word email alone is enough. In anchors (texts of links)
// the words of a phrase need not stand together, because the positions of words in anchors are not read.
func (p *plan) leaf(c *clause, excluded, required bool) *demand {
	analysed := p.take(analysis.Query(c.text, p.analyzers))
	in := c.field
	if excluded && in == anywhere {
		in = inTexts
	}
	phrase := &queryPhrase{slop: c.slop}
	joined, whole := &demand{}, &demand{}
	for i := range analysed {
		a := &analysed[i]
		w := p.word(c, a)
		w.grouped, w.tested = !required, excluded
		if a.Parts > 0 {
			if c.quoted {
				continue
			}
			w.grouped, w.joined = true, true
			joined.any = append(joined.any, &demand{word: w, field: in})
		} else {
			w.required = required
			phrase.words, phrase.at = append(phrase.words, w), append(phrase.at, uint32(a.Position-analysed[0].Position))
			whole.all = append(whole.all, &demand{word: w, field: in})
		}
		if excluded {
			p.tested = append(p.tested, w)
		} else {
			p.words = append(p.words, w)
		}
	}
	switch n := len(phrase.words); {
	case n == 0:
		return nil
	case n == 1:
		w := phrase.words[0]
		if w.surface != "" {
			w.prefix, w.edits = c.prefix, c.edits
		}
	case in != inAnchors && !isLoose(c):
		if last := phrase.words[n-1]; last.surface != "" {
			last.prefix, last.edits = c.prefix, c.edits
		}
		phrase.excluded = excluded
		p.grouped = append(p.grouped, phrase)
		whole = &demand{phrase: phrase, field: in}
	}
	if len(joined.any) == 0 {
		return whole
	}
	for _, w := range phrase.words { // the joined word will do instead
		w.required, w.grouped = false, true
	}
	return &demand{any: append(joined.any, whole)}
}

// isLoose reports whether the clause has several words that need not stand together, because the function
// unquote has removed the quotes around them.
func isLoose(c *clause) bool { return !c.quoted && strings.ContainsFunc(c.text, unicode.IsSpace) }

// eachLeaf calls do for every word and phrase in the conditions of the plan.
func (p *plan) eachLeaf(do func(leaf *demand)) {
	for _, c := range p.demands {
		c.eachLeaf(do)
	}
}
