package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

const (
	// MaxWords is the greatest number of words of a query that are searched; further words are
	// ignored.
	MaxWords = 256
	// scoredWords is the greatest number of words of a query that count in scores. Of a longer
	// query they are the rarest.
	scoredWords = 64
	// nearPairs is the greatest number of pairs of neighbouring words of a query that are looked
	// for near each other in documents, for a bonus. Of more pairs, those with the rarest words are
	// taken.
	nearPairs = 16
)

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

// setNear sets p.near, the phrases that give a document a bonus. It makes them of the words that the
// query has without quotes or signs. A run is a word of a script without spaces, which analysis has
// divided into overlapping pairs of characters. The phrases are
//
//	for two neighbours    the two exactly as in the query, and the two with slop; a neighbour is a
//	                      word or a run (see addNear)
//	for a run             see addRun
//
// Prefixes (fox*) and words with edits (foks~) are left out.
func (p *plan) setNear() {
	var last *queryPhrase // the last word of what is read, or the run at its end
	for _, together := range p.plain {
		n := len(together.words)
		if together.open {
			n--
		}
		for i := 0; i < n; {
			run := together.runAt(i)
			i += len(run.words)
			if run.words[0].begins {
				last = nil
				continue
			}
			if len(run.words) > 1 {
				p.addRun(run)
			}
			if last != nil {
				gap := last.at[len(last.at)-1] + 1
				if last.words[len(last.words)-1].isPair() {
					gap++
				}
				if start := i - len(run.words); start > 0 {
					gap = last.at[len(last.at)-1] + together.at[start] - together.at[start-1]
				}
				p.addNear(last, run, gap)
			}
			last = run
		}
		if together.open {
			last = nil
		}
	}
}

// runAt returns the run of overlapping pairs of characters that begins with word i of the phrase, such as
// AB, BC, CD for the text ABCD. If word i is not a pair, or no pair that overlaps it follows, runAt
// returns word i alone.
func (ph *queryPhrase) runAt(i int) *queryPhrase {
	run := &queryPhrase{words: ph.words[i : i+1], at: []uint32{0}}
	for end := i + 1; end < len(ph.words) && ph.words[end-1].isPair() && ph.words[end].isPair() && ph.at[end] == ph.at[end-1]+1; end++ {
		run.words, run.at = ph.words[i:end+1], append(run.at, ph.at[end]-ph.at[i])
	}
	return run
}

// addRun adds phrases to p.near for a run of overlapping pairs of characters. Two successive pairs make two
// phrases: an exact one, and one with slop (see MaxSlop). The whole run makes an exact phrase if it has at
// most maxRun pairs. For example, the text ABCD has the run AB, BC, CD and makes the phrases
//
//	AB BC       exact
//	AB BC       with slop
//	BC CD       exact
//	BC CD       with slop
//	AB BC CD    exact
func (p *plan) addRun(run *queryPhrase) {
	for i := 1; i < len(run.words); i++ {
		if run.words[i-1] != run.words[i] {
			pair, at := run.words[i-1:i+1], []uint32{0, 1}
			p.near = append(p.near, &queryPhrase{words: pair, at: at, overlap: true}, &queryPhrase{words: pair, at: at, slop: nearSlop, overlap: true})
		}
	}
	if len(run.words) <= maxRun {
		p.near = append(p.near, &queryPhrase{words: run.words, at: run.at, run: true})
	}
}

// addNear adds two phrases to p.near for two neighbours a and b in the query: an exact phrase, and one with
// slop. Each neighbour is one word, or a run of pairs of characters (see setNear), where each pair counts
// as a word. Both phrases have all words of a, and then all words of b. If these are more than maxRun
// words, the phrases have only the last word of a and the first word of b. gap is the number of positions
// from the beginning of a to the beginning of b.
func (p *plan) addNear(a, b *queryPhrase, gap uint32) {
	if len(a.words)+len(b.words) > maxRun {
		end := len(a.words) - 1
		gap -= a.at[end]
		a, b = &queryPhrase{words: a.words[end:], at: []uint32{0}}, &queryPhrase{words: b.words[:1], at: b.at[:1]}
	}
	if len(a.words) == 1 && len(b.words) == 1 && a.words[0] == b.words[0] {
		return
	}
	words, at := slices.Concat(a.words, b.words), slices.Clone(a.at)
	for _, offset := range b.at {
		at = append(at, gap+offset)
	}
	p.near = append(p.near, &queryPhrase{words: words, at: at}, &queryPhrase{words: words, at: at, slop: nearSlop})
}

// written returns the number of words in p.words that a document needs to have all words of the query. Two kinds of
// words are not among these: joined words, such as email for e-mail, and words of conditions (see addGroup).
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

// weigh sets the weights of words and phrases, and removes the words that no document has. It
// returns false if no document can match.
func (p *plan) weigh(t *Totals) bool {
	p.countDocuments(t)
	p.setShares(t)
	p.known = make(map[string]float64, len(p.words))
	for _, w := range p.words {
		if w.surface != "" && !w.expands() {
			p.known[w.surface] = 0
			for _, n := range w.in {
				p.known[w.surface] += n
			}
		}
	}
	for _, w := range p.words {
		if w.documents == 0 {
			continue
		}
		w.idf = 0
		for i := range p.languages {
			l := &p.languages[i]
			w.idf += l.share * idf(w.in[i], l.documents)
		}
		w.stop = p.stopWord(w)
		if p.long {
			w.idf = sharpened(w.idf) * p.lowered(w)
		}
		w.weight = w.idf * p.weights.repeated(w.times)
		p.weighVariants(w)
	}
	p.reduce()
	unknown := func(w *queryWord) bool { return w.documents == 0 }
	if slices.ContainsFunc(p.words, func(w *queryWord) bool { return w.required && unknown(w) }) {
		return false
	}
	p.words = slices.DeleteFunc(p.words, unknown)
	p.not = slices.DeleteFunc(p.not, unknown)
	p.never = slices.DeleteFunc(p.never, func(ph *queryPhrase) bool { return slices.ContainsFunc(ph.words, unknown) })
	p.near = slices.DeleteFunc(p.near, func(ph *queryPhrase) bool { return slices.ContainsFunc(ph.words, unknown) })
	p.eachLeaf(func(leaf *demand) { // of words that are not searched any more
		if leaf.word != nil {
			leaf.word.place = -1
		}
	})
	for _, ph := range p.grouped {
		for _, w := range ph.words {
			w.place = -1
		}
	}
	for i, w := range p.words {
		w.place = i
	}
	for i, w := range p.tested {
		w.place = i
	}
	for _, ph := range p.must {
		ph.weight = p.weights.Quoted * ph.rarity()
	}
	for _, ph := range p.grouped {
		if !ph.excluded && !slices.ContainsFunc(ph.words, unknown) {
			ph.weight = p.weights.Quoted * ph.rarity()
		}
	}
	p.weighNear()
	p.addPassage()
	return len(p.words) > 0 || p.lists
}

// reduce removes words from a plan with more than scoredWords words. It keeps the scoredWords
// rarest words, all required words, and all words of required phrases.
func (p *plan) reduce() {
	if len(p.words) <= scoredWords {
		return
	}
	stays := make(map[*queryWord]bool)
	for _, ph := range slices.Concat(p.must, p.grouped) {
		for _, w := range ph.words {
			stays[w] = true
		}
	}
	p.eachLeaf(func(leaf *demand) { stays[leaf.word] = true })
	rarest := slices.SortedStableFunc(slices.Values(p.words), func(a, b *queryWord) int { return cmp.Compare(b.idf, a.idf) })
	for _, w := range rarest[:scoredWords] {
		stays[w] = true
	}
	all := len(p.words)
	dropped := func(w *queryWord) bool { return !stays[w] && !w.required }
	p.near = slices.DeleteFunc(p.near, func(ph *queryPhrase) bool { return slices.ContainsFunc(ph.words, dropped) })
	p.words = slices.DeleteFunc(p.words, dropped)
	p.notes = append(p.notes, fmt.Sprintf("Of the query's %d words, the %d rarest were used.", all, len(p.words)))
}

// scans keeps values of the type scan, with the memory that they have allocated, for later
// searches.
var scans = sync.Pool{New: func() any { return new(scan) }}

// begin prepares a scan of all segments for a search.
func (s *scan) begin(of *search) {
	s.statistics, s.plan = of.statistics, of.plan
	s.count, s.passed, s.seen, s.extra = 0, false, nil, 0
	if s.dated = of.byDate(); s.dated {
		s.extra = dayWorth * (math.MaxUint16 + 1) // so no match is too low for the best
	}
	s.required, s.joined, s.optional, s.written = s.required[:0], s.joined[:0], s.optional[:0], of.plan.written()
	for _, w := range of.plan.words {
		s.required = append(s.required, w.required)
		s.joined = append(s.joined, w.joined)
		s.optional = append(s.optional, w.isOptional())
	}
	for _, ph := range slices.Concat(of.plan.must, of.plan.grouped) {
		s.extra += ph.weight * s.plan.weights.mostScore() * slack
	}
}

// open prepares a scan of one segment. It returns false if no document there can
// match.
func (s *scan) open(of *search, part int) bool {
	s.part, s.accept, s.dates, s.factor = int32(part), of.accept[part], of.dates[part], 1
	if s.written > 1 {
		s.factor = s.plan.weights.AllWords
	}
	s.words = cursors(s.words, of, part, of.plan.words, s.statistics, true)
	s.not = cursors(s.not, of, part, of.plan.not, s.statistics, false)
	s.tested = cursors(s.tested, of, part, of.plan.tested, s.statistics, true)
	occurs := false
	for i := range s.words {
		if len(s.words[i].lists) > 0 {
			occurs = true
		} else if s.required[i] {
			return false
		} else if !s.optional[i] {
			s.factor = 1
		}
	}
	s.lacking = 1
	if s.written < len(s.words) {
		s.lacking = s.factor
	}
	return occurs || s.plan.lists && !of.parts[part].Unvisited
}

// cursors returns a cursor for each of the words, in a part of the index. The cursors reuse the
// memory of the cursors in the parameter old. If anchored is true, a document also has the words of
// its anchors (texts of links to it) and of its site's names. For excluded words, anchored must be
// false: otherwise a link with such a word would hide the page to which it leads.
func cursors(old []cursor, of *search, part int, words []*queryWord, t *statistics, anchored bool) []cursor {
	for len(old) < len(words) {
		old = append(old, cursor{})
	}
	for i, w := range words {
		old[i].reset()
		old[i].rules = of.rules[part]
		for _, v := range w.searched() {
			if entry := of.terms[part][v.number]; entry != nil {
				old[i].add(entry.List, w.weight*v.worth, v.rules, t)
			}
			if anchored && v.named >= 0 && of.terms[part][v.named] != nil {
				old[i].addNames(of.terms[part][v.named].List, w.weight*v.worth, t)
			}
			if anchored && v.defined >= 0 && of.terms[part][v.defined] != nil {
				old[i].addDefinitions(of.terms[part][v.defined].List, v.worth, t)
			}
			if entry := of.anchor(part, v.number); entry != nil && anchored {
				old[i].addAnchors(entry.List, w.weight*v.worth, v.rules, of.ix.anchors)
			}
		}
	}
	return old[:len(words)]
}

// err returns the first error of a cursor, which means that a posting list is damaged.
func (s *scan) err() error {
	for i := range s.words {
		if err := s.words[i].err(); err != nil {
			return err
		}
	}
	for i := range s.not {
		if err := s.not[i].err(); err != nil {
			return err
		}
	}
	for i := range s.tested {
		if err := s.tested[i].err(); err != nil {
			return err
		}
	}
	return nil
}
