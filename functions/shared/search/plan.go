package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// MaxWords is the greatest number of words of a query that are searched; further words are ignored.
const MaxWords = 256

// plan is an analysed query, ready to be searched.
type plan struct {
	weights *Weights
	// languages in which the query may be written, each with its probability
	languages []queryLanguage
	// codes of the rules, such as stemming, by which words are analysed in the languages of the query
	// (see analysis.Rules). Two languages may have the same rules; each code is here only once.
	rules     []string
	analyzers []*analysis.Analyzer // an analyzer for each element of rules
	words     []*queryWord         // words that count in the score, each once, in the order of the query
	not       []*queryWord         // words that must not occur
	must      []*queryPhrase       // phrases that must occur
	never     []*queryPhrase       // phrases that must not occur
	// what documents must satisfy besides: groups and fields (see addGroup)
	demands []*demand
	grouped []*queryPhrase // phrases of the conditions
	tested  []*queryWord   // excluded words of the conditions
	// phrases that give a document a bonus if it has them. Most are two words that follow each other in
	// the query, without quotes or signs (see setNear).
	near     []*queryPhrase
	filter   filter
	lists    bool       // whether the query has no words to find: then it lists all pages that its filters accept
	images   bool       // whether images are searched instead of pages
	image    imageQuery // excluded words and phrases of a search for images; set by seekImages
	unfolded bool       // whether alike documents are shown one by one
	notes    []string

	// whether some segments have no terms for lone characters of scripts without spaces (see
	// Part.begun)
	begun bool
	used  int // number of the query's words that have been analysed so far
	// the parts of the query without quotes and without a sign (+ or -), divided at spaces into pieces. Each
	// piece is a phrase of the words into which analysis divides it, such as e and mail for e-mail.
	plain   []*queryPhrase
	reduced bool // whether words beyond MaxWords were left out
	long    bool // whether the query is long (see longQuery)
	fresh   bool // whether the query asks for new pages (see asksForNew)
	// for each written word, such as fox but not fox*, the number of documents that have one of its
	// terms by the rules of their own language; set by weigh
	known map[string]float64
	// words of the query that no page has; nil if pages have none of its words. Set by weigh
	absent []*queryWord

	// synonyms of several words; they are searched like terms
	alternatives []*synonymPhrase
	synonymsUsed int  // number of synonyms of the query's words
	cutSynonyms  bool // whether synonyms beyond maxSynonyms or maxAlternatives were left out
	wordwise     bool // whether synonyms of several words are not searched, because the query is translated word by word

	// Set only in a query that is translated (see translator):
	source     int // index in plan.rules of the rules of the query's own language
	translated Translated
}

// plan analyses a query. unquoted says that words in quotes need not stand together.
func (ix *Index) plan(q *Query, unquoted bool) *plan {
	p := &plan{weights: ix.weights, filter: newFilter(q), begun: ix.begun}
	clauses, notes := parse(q.Text)
	p.notes = append(p.notes, notes...)
	if q.apart {
		setApart(clauses)
	}
	if (unquoted || isSentence(clauses)) && unquote(clauses) && !unquoted {
		p.notes = append(p.notes, "In a long sentence, words in quotes need not stand together.")
	}
	for i := range clauses {
		c := &clauses[i]
		if c.isUndated() {
			p.notes = append(p.notes, fmt.Sprintf("%s:%s is no date, so it was searched as words.", c.filter, c.text))
			*c = clause{text: c.filter + " " + c.text}
		}
		switch {
		case c.filter == "":
		case c.filter == dup && c.text == "all" && c.sign != '-':
			p.unfolded = true
		default:
			p.filter.add(*c)
		}
	}
	p.images = p.filter.takeImages()
	p.notes = append(p.notes, p.filter.notes...)
	if p.images {
		clauses = p.withoutConditions(clauses)
	}
	text := p.textOf(clauses)
	p.setAcross(q, text, ix.languages)
	p.fresh = p.asksForNew(text)
	for _, c := range clauses {
		if c.filter == "" {
			p.add(c)
		}
	}
	p.wordwise = q.into != nil
	p.addSynonyms(q.Synonyms)
	p.addApart()
	p.setLists(q)
	switch {
	case len(p.words) > 0 || p.lists || strings.TrimSpace(q.Text) == "":
	case p.images:
		p.notes = append(p.notes, "Images are found by words: the query has none.")
	default:
		p.notes = append(p.notes, "The query has no words, so nothing was searched.")
	}
	if p.reduced {
		p.notes = append(p.notes, fmt.Sprintf("Only the first %d words of the query were used.", MaxWords))
	}
	if q.Fold && !p.unfolded && !p.images && q.From+q.Size > maxFolded {
		p.unfolded = true
		p.notes = append(p.notes, fmt.Sprintf("Beyond hit %d, pages with the same text are shown one by one, and some again.", maxFolded))
	}
	if q.into != nil {
		p.translate(q.into)
	}
	return p
}

// setLists sets p.lists, which says whether the query has no words to find, and so lists all documents that its
// filters accept.
func (p *plan) setLists(q *Query) {
	all := q.All && strings.TrimSpace(q.Text) == ""
	p.lists = len(p.words) == 0 && !p.images && (all || !p.filter.empty() || len(p.not)+len(p.never)+len(p.demands) > 0)
}

// textOf returns the words of all clauses as one text. It adds notes about words that look like something else,
// such as a filter that only other search engines have.
func (p *plan) textOf(clauses []clause) string {
	var text strings.Builder
	for i := range clauses {
		c := &clauses[i]
		if c.filter != "" {
			continue
		}
		if c.open && c.quoted {
			p.notes = append(p.notes, fmt.Sprintf("A closing quote is missing, so all that follows was searched together: %q.", c.text))
		}
		if note := c.misnamed(); note != "" {
			p.notes = append(p.notes, note)
		}
		text.WriteString(c.text + " ")
		for _, alternative := range c.any {
			text.WriteString(p.textOf(alternative))
		}
	}
	return text.String()
}

// add adds the words of a clause to the plan.
func (p *plan) add(c clause) {
	if c.any != nil || c.field != anywhere {
		p.addGroup(c)
		return
	}
	analysed := p.take(analysis.Query(c.text, p.analyzers))
	if len(analysed) == 0 {
		return
	}
	together := &queryPhrase{slop: c.slop, open: c.prefix || c.edits > 0}
	last := len(analysed) - 1
	if analysed[last].Parts > 0 {
		last--
	}
	for i, a := range analysed {
		if a.Parts > 0 {
			if c.sign == 0 && !c.quoted && !together.open {
				p.join(&c, &a, together.words[len(together.words)-a.Parts:])
			}
			continue
		}
		w := p.word(&c, &a)
		w.required = c.sign == '+' || c.quoted
		if i == last && a.Text != "" {
			w.prefix, w.edits = c.prefix, c.edits
		}
		if c.sign != '-' {
			p.words = append(p.words, w)
		}
		together.words = append(together.words, w)
		together.at = append(together.at, uint32(a.Position-analysed[0].Position))
	}
	one := len(together.words) == 1
	switch {
	case c.sign == '-' && one:
		p.not = append(p.not, together.words...)
	case c.sign == '-':
		p.never = append(p.never, together)
	case c.sign == 0 && !c.quoted:
		p.plain = append(p.plain, together)
	case !one:
		p.must = append(p.must, together)
	}
}

// take returns those of the analysed words that are within the limit MaxWords for a query, and counts them as used.
func (p *plan) take(analysed []analysis.Word) []analysis.Word {
	if left := MaxWords - p.used; len(analysed) > left {
		analysed, p.reduced = analysed[:left], true
	}
	p.used += len(analysed)
	return analysed
}

// word returns the word of the query for a, which analysis has found in the text of the clause, with its terms.
func (p *plan) word(c *clause, a *analysis.Word) *queryWord {
	w := &queryWord{times: 1, text: c.text[a.Start:a.End], lone: a.Lone, begins: a.Lone && p.begun, surface: a.Text}
	p.addAll(w, a, 1)
	return w
}

// join adds the joined form of a written word to the plan, so that the query e-mail also finds email.
// The joined form is added twice:
//
//	as a variant of each part    a document with email counts as having both e and mail
//	as a further word            documents with this word come first, but it is not required
func (p *plan) join(c *clause, a *analysis.Word, parts []*queryWord) {
	w := &queryWord{times: 1, text: c.text[a.Start:a.End], joined: true, parts: slices.Clone(parts)}
	p.addAll(w, a, 1)
	p.words = append(p.words, w)
	for _, part := range parts {
		p.addAll(part, a, p.weights.Joined)
	}
}

// unify replaces words that have the same variants by one word, and counts how often the query
// has that word.
func (p *plan) unify() {
	p.unite()
	same := make(map[*queryWord]*queryWord, len(p.words))
	var words []*queryWord
	for _, w := range p.words {
		slices.SortFunc(w.variants, func(a, b variant) int { return cmp.Compare(a.term, b.term) })
		n := slices.IndexFunc(words, func(other *queryWord) bool {
			return other.joined == w.joined && slices.Equal(other.variants, w.variants)
		})
		if n < 0 {
			n = len(words)
			words = append(words, w)
		} else {
			words[n].times += w.times
		}
		same[w] = words[n]
		words[n].required = words[n].required || w.required
		words[n].grouped = words[n].grouped && w.grouped
	}
	p.words = words
	for _, w := range words {
		for i, part := range w.parts {
			w.parts[i] = cmp.Or(same[part], part)
		}
	}
	p.long = p.isLong()
	for _, ph := range slices.Concat(p.must, p.plain, p.grouped) {
		for i, w := range ph.words {
			ph.words[i] = cmp.Or(same[w], w)
		}
	}
	p.eachLeaf(func(leaf *demand) { leaf.word = cmp.Or(same[leaf.word], leaf.word) })
}

// written returns the number of words in p.words that a document needs to have all words of the query. Three kinds of
// words are not among these: joined words, such as email for e-mail; words of conditions (see addGroup); and stop words
// of a long query, unless it has no other words.
func (p *plan) written() (n int) {
	for _, w := range p.words {
		if !w.isOptional() {
			n++
		}
	}
	return n
}

func (p *plan) hasPhrases() bool { return len(p.must)+len(p.never)+len(p.grouped) > 0 }

// each calls the function do for every word of the plan that is looked up: those of p.words, p.not and p.tested,
// and those in the phrases of p.never and p.alternatives. For a word that stands for a group, such as (red OR
// blue), it calls do for each word of the group instead. The words of all other phrases are in p.words or p.tested.
func (p *plan) each(do func(w *queryWord)) {
	for _, w := range p.words {
		for _, synonym := range w.any {
			do(synonym)
		}
		if len(w.any) == 0 {
			do(w)
		}
	}
	for _, w := range p.not {
		do(w)
	}
	for _, w := range p.tested {
		do(w)
	}
	for _, ph := range p.never {
		for _, w := range ph.words {
			do(w)
		}
	}
	for _, a := range p.alternatives {
		for _, w := range a.words {
			do(w)
		}
	}
}
