package search

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// oracle finds and scores documents by the definitions of the package, looking at every document.
type oracle struct {
	docs      []oracleDoc
	surfaces  map[string]int     // documents that hold a word as written
	terms     map[string]float64 // documents that hold a term
	anchored  map[string]float64 // documents that hold a term in their anchors
	languages map[string]*oracleLanguage
}

// oracleLanguage holds statistics of the documents in a language.
type oracleLanguage struct {
	documents float64
	having    [postings.Fields]float64 // documents that have a field
	mean      [postings.Fields]float64 // length of a field, where there is one
	terms     map[string]float64       // documents that hold a term
	anchored  map[string]float64       // documents that hold a term in their anchors
}

type oracleDoc struct {
	segment.Document
	dead      bool
	positions [postings.Fields]map[string][]int // by term
	length    [postings.Fields]float64
	anchors   *oracleDoc // nil for none
}

func newOracle(docs []segment.Document, dead map[layout.Identity]bool) *oracle {
	o := &oracle{surfaces: map[string]int{}, terms: map[string]float64{}, anchored: map[string]float64{}, languages: map[string]*oracleLanguage{}}
	for _, d := range docs {
		doc := oracleDoc{Document: d, dead: dead[d.ID]}
		surfaces, terms := map[string]bool{}, map[string]bool{}
		last := [postings.Fields]uint32{}
		for f := range doc.positions {
			doc.positions[f] = map[string][]int{}
		}
		for token := range tokens(&d) {
			doc.positions[token.Field][token.Term] = append(doc.positions[token.Field][token.Term], int(token.Position))
			if segment.IsNameTerm(token.Term) {
				continue
			}
			surfaces[token.Word], terms[token.Term] = true, true
			if token.Position != last[token.Field] {
				doc.length[token.Field]++
				last[token.Field] = token.Position
			}
		}
		l := o.languages[d.Lang]
		if l == nil {
			l = &oracleLanguage{terms: map[string]float64{}, anchored: map[string]float64{}}
			o.languages[d.Lang] = l
		}
		l.documents++
		for f, n := range doc.length {
			if n > 0 {
				l.having[f]++
				l.mean[f] += n
			}
			doc.length[f] = float64(postings.LengthOf(postings.LengthCode(uint32(n))))
		}
		for surface := range surfaces {
			o.surfaces[surface]++
		}
		for term := range terms {
			o.terms[term]++
			l.terms[term]++
		}
		o.docs = append(o.docs, doc)
	}
	for _, l := range o.languages {
		for f := range l.mean {
			l.mean[f] /= max(1, l.having[f])
		}
	}
	return o
}

// addAnchors adds the anchors of documents.
func (o *oracle) addAnchors(of map[layout.Identity]segment.Document) {
	for i := range o.docs {
		d := &o.docs[i]
		a, found := of[d.ID]
		if !found {
			continue
		}
		alone := newOracle([]segment.Document{a}, nil)
		d.anchors = &alone.docs[0]
		for term := range alone.terms {
			o.anchored[term]++
			o.languages[d.Lang].anchored[term]++
		}
	}
}

// oracleWord holds the terms that stand for a word.
type oracleWord map[string]oracleTerm

type oracleTerm struct {
	worth float64
	rules string // codes of the rules that make it, each in brackets
}

// add adds the terms of a word by all rules.
func (w oracleWord) add(a analysis.Word, rules []string, worth float64) {
	for i, code := range rules {
		term := a.Terms[a.Of[i]]
		t := w[term]
		t.worth = max(t.worth, worth)
		if code = "[" + code + "]"; !strings.Contains(t.rules, code) {
			t.rules += code
		}
		w[term] = t
	}
}

// oracleQuery holds the languages of a query, the largest first.
type oracleQuery struct {
	*oracle
	languages []*oracleLanguage
	rules     []string  // of each language
	codes     []string  // rules, each once
	shares    []float64 // probability of each language
	average   [postings.Fields]float64
}

// queryIn returns a query in the languages that a filter accepts.
func (o *oracle) queryIn(text string, f *filter) *oracleQuery {
	q := &oracleQuery{oracle: o}
	for _, name := range slices.SortedFunc(maps.Keys(o.languages), func(a, b string) int {
		return cmp.Or(cmp.Compare(o.languages[b].documents, o.languages[a].documents), cmp.Compare(a, b))
	}) {
		if f.acceptsLanguage(name) {
			code := analysis.Rules(name, text)
			q.languages, q.rules = append(q.languages, o.languages[name]), append(q.rules, code)
			if !slices.Contains(q.codes, code) {
				q.codes = append(q.codes, code)
			}
		}
	}
	if len(q.codes) == 0 {
		q.codes = []string{""}
	}
	return q
}

func (q *oracleQuery) analyzers() (all []*analysis.Analyzer) {
	for _, code := range q.codes {
		all = append(all, analysis.For(code))
	}
	return all
}

// count returns the documents of language i that hold a word.
func (q *oracleQuery) count(word oracleWord, i int) (n float64) {
	for term, t := range word {
		if strings.Contains(t.rules, "["+q.rules[i]+"]") {
			if q.inTexts(word) {
				n += q.languages[i].terms[term]
			} else {
				n += q.languages[i].anchored[term]
			}
		}
	}
	return min(n, q.languages[i].documents)
}

// inTexts reports whether the text of any document holds a word.
func (q *oracleQuery) inTexts(word oracleWord) bool {
	for term := range word {
		if q.terms[term] > 0 {
			return true
		}
	}
	return false
}

// judge sets the probabilities of the languages by the words of the query.
func (q *oracleQuery) judge(words []oracleWord) {
	all, sum := 0.0, 0.0
	for _, l := range q.languages {
		all += l.documents
	}
	q.shares = make([]float64, len(q.languages))
	for i, l := range q.languages {
		q.shares[i] = l.documents / all
		for _, word := range words {
			having := 0.0
			for other := range q.languages {
				having += q.count(word, other)
			}
			if having > 0 {
				q.shares[i] *= (0.9*q.count(word, i)/l.documents + 0.1*having/all) / (having / all) // so that many do not become 0
			}
		}
		sum += q.shares[i]
	}
	for i, l := range q.languages {
		q.shares[i] /= sum
		for f, n := range l.mean {
			q.average[f] += q.shares[i] * max(1, n)
		}
	}
}

// weighed returns a word whose terms by rules of unlikely languages are worth less.
func (q *oracleQuery) weighed(word oracleWord) oracleWord {
	share := func(t oracleTerm) (sum float64) {
		for i, of := range q.shares {
			if strings.Contains(t.rules, "["+q.rules[i]+"]") {
				sum += of
			}
		}
		return sum
	}
	best := 0.0
	for _, t := range word {
		best = max(best, share(t))
	}
	if best == 0 {
		return word
	}
	weighed := oracleWord{}
	for term, t := range word {
		t.worth *= 0.6 + 0.4*share(t)/best
		weighed[term] = t
	}
	return weighed
}

type oraclePhrase struct {
	words []oracleWord
	at    []int
	slop  int
}

// words returns the words of a clause.
func (q *oracleQuery) words(c clause) oraclePhrase {
	phrase := oraclePhrase{slop: c.slop}
	analysed := analysis.Query(c.text, q.analyzers())
	analysed = slices.DeleteFunc(analysed, func(w analysis.Word) bool { return w.Parts > 0 }) // the tests have none
	for i, a := range analysed {
		word := oracleWord{}
		word.add(a, q.codes, 1)
		if a.Lone { // of terms; the tests have fewer of them than maxBegun, and segments of an old version
			for term := range q.terms {
				if strings.HasPrefix(term, a.Terms[0]) {
					word[term] = oracleTerm{1, "[" + strings.Join(q.codes, "][") + "]"}
				}
			}
		}
		if i == len(analysed)-1 && a.Text != "" && (c.prefix || c.edits > 0) {
			edits := map[string]int{}
			for surface := range q.surfaces {
				if n := editDistance(a.Text, surface); c.edits > 0 && n <= c.edits {
					edits[surface] = n
				} else if c.prefix && strings.HasPrefix(surface, a.Text) {
					edits[surface] = 0
				}
			}
			best := slices.SortedFunc(maps.Keys(edits), func(a, b string) int {
				return cmp.Or(cmp.Compare(edits[a], edits[b]), cmp.Compare(q.surfaces[b], q.surfaces[a]), cmp.Compare(a, b))
			})
			for _, surface := range best[:min(len(best), MaxExpansions)] {
				word.add(analysis.Query(surface, q.analyzers())[0], q.codes, 1/float64(1+edits[surface]))
			}
		}
		phrase.words = append(phrase.words, word)
		phrase.at = append(phrase.at, a.Position-analysed[0].Position)
	}
	return phrase
}

// editDistance counts letters put in, left out, replaced and swapped.
func editDistance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := d[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// idf returns the inverse document frequency of a word, 0 if no document holds it.
func (q *oracleQuery) idf(word oracleWord) (sum float64) {
	known := false
	for term := range word {
		known = known || q.terms[term] > 0 || q.anchored[term] > 0
	}
	if !known {
		return 0
	}
	for i, l := range q.languages {
		n := q.count(word, i)
		sum += q.shares[i] * math.Log(1+(l.documents-n+0.5)/(n+0.5))
	}
	return sum
}

// bm25f scores occurrences in the fields.
func (q *oracleQuery) bm25f(d *oracleDoc, weight float64, freq func(field int) int) float64 {
	sum := 0.0
	for f := range postings.Fields {
		if n := float64(freq(f)); n > 0 {
			b := []float64{0.3, 0.3, 0.3, 0.75}[f]
			sum += []float64{3, 1, 0.25, 1}[f] * n / (1 - b + b*min(3, d.length[f]/max(1, q.average[f])))
		}
	}
	return weight * 2.5 * sum / (1.5 + sum)
}

func (q *oracleQuery) word(d *oracleDoc, word oracleWord, weight float64) (score float64) {
	for term, t := range word {
		score = max(score, q.bm25f(d, weight*t.worth, func(f int) int { return len(d.positions[f][term]) }))
	}
	return score + q.anchors(d, word, weight)
}

// anchors scores a word in the anchors of a document.
func (q *oracleQuery) anchors(d *oracleDoc, word oracleWord, weight float64) (score float64) {
	if d.anchors == nil {
		return 0
	}
	for term, t := range word {
		sum := float64(len(d.anchors.positions[1][term]))
		score = max(score, 0.5*weight*t.worth*2.5*sum/(1.5+sum))
	}
	return score
}

// occurrences counts a phrase in a field: the positions of its first word from
// which the others are within reach.
func (p *oraclePhrase) occurrences(d *oracleDoc, f int) (n int) {
	positions := func(i int) map[int]bool {
		found := map[int]bool{}
		for term := range p.words[i] {
			for _, position := range d.positions[f][term] {
				found[position] = true
			}
		}
		return found
	}
	at := make([]map[int]bool, len(p.words))
	for i := range at {
		if at[i] = positions(i); len(at[i]) == 0 {
			return 0
		}
	}
	var reaches func(i, from, slop int) bool
	reaches = func(i, from, slop int) bool {
		if i == len(p.words) {
			return true
		}
		for position := range at[i] {
			off := position - from - (p.at[i] - p.at[i-1])
			if off = max(off, -off); off <= slop && (position != from || p.slop == 0) && reaches(i+1, position, slop-off) {
				return true
			}
		}
		return false
	}
	for start := range at[0] {
		if reaches(1, start, p.slop) {
			n++
		}
	}
	return n
}

type oracleHit struct {
	id    layout.Identity
	score float64
}

// search returns all matches in their order: if quotes have none, those without quotes.
func (o *oracle) search(q Query) (hits []oracleHit) {
	clauses := parse(q.Text)
	if hits = o.answer(q, clauses); len(hits) == 0 && unquote(clauses) {
		hits = o.answer(q, clauses)
	}
	return hits
}

func (judge *oracle) answer(q Query, clauses []clause) (hits []oracleHit) {
	var words, known, not []oracleWord
	var plain, must, never []oraclePhrase
	var times, knownTimes []float64 // in the query
	required := map[int]bool{}
	f := newFilter(&q)
	text := ""
	for _, c := range clauses {
		if c.filter == "" {
			text += c.text + " "
		} else if err := f.add(c); err != nil {
			panic(err)
		}
	}
	o := judge.queryIn(text, &f)
	for _, c := range clauses {
		if c.filter != "" {
			continue
		}
		phrase := o.words(c)
		if len(phrase.words) == 0 {
			continue
		}
		if c.sign == '-' {
			if len(phrase.words) == 1 {
				not = append(not, phrase.words[0])
			} else {
				never = append(never, phrase)
			}
			continue
		}
		for _, word := range phrase.words {
			n := slices.IndexFunc(words, func(other oracleWord) bool { return maps.Equal(word, other) })
			if n < 0 {
				n = len(words)
				words, times = append(words, word), append(times, 0)
			}
			times[n]++
			required[n] = required[n] || c.sign == '+' || c.quoted
		}
		if c.sign == '+' || c.quoted {
			if len(phrase.words) > 1 {
				must = append(must, phrase)
			}
		} else {
			if c.prefix || c.edits > 0 {
				phrase.slop = -1
			}
			plain = append(plain, phrase)
		}
	}
	o.judge(words)
	for n, word := range words {
		if o.idf(word) > 0 {
			known, knownTimes = append(known, o.weighed(word)), append(knownTimes, times[n])
		} else if required[n] {
			return nil
		}
	}
	phraseWeight := func(p oraclePhrase) (sum float64) {
		for _, word := range p.words {
			if o.idf(word) == 0 {
				return 0
			}
			sum += 0.5 * o.idf(word)
		}
		return sum
	}
	for i := range o.docs {
		d := &o.docs[i]
		score, held, all, named := 0.0, 0, 0.0, 0.0
		for n, word := range known {
			weight := o.idf(word) * 9 * knownTimes[n] / (8 + knownTimes[n])
			if s := o.word(d, word, weight); s > 0 {
				held++
				score += s
			}
			worth := 0.0
			for term, t := range word {
				if len(d.positions[segment.Address][segment.NameTerm(term)]) > 0 {
					worth = max(worth, t.worth)
				}
			}
			all, named = all+weight, named+weight*worth
		}
		if held > 1 && held == len(known) {
			score *= 2
		}
		score += 4 * named * math.Pow(named/max(all, 1e-300), 4)
		matches := held > 0 && !d.dead && o.passes(d, &f)
		for n, word := range words {
			matches = matches && (!required[n] || o.word(d, word, 1) > 0)
		}
		for _, word := range not {
			matches = matches && o.word(d, word, 1)-o.anchors(d, word, 1) == 0
		}
		for _, p := range must {
			s := o.bm25f(d, phraseWeight(p), func(f int) int { return p.occurrences(d, f) })
			matches = matches && s > 0
			score += s
		}
		for _, p := range never {
			matches = matches && o.bm25f(d, 1, func(f int) int { return p.occurrences(d, f) }) == 0
		}
		if matches {
			hits = append(hits, oracleHit{d.ID, score})
		}
	}
	order := func(a, b oracleHit) int { return cmp.Or(cmp.Compare(b.score, a.score), a.id.Compare(b.id)) }
	slices.SortFunc(hits, order)
	if near := pairs(plain, o); len(near) > 0 {
		n := min(len(hits), nearest)
		for n >= nearest && n < len(hits) && hits[n].score > hits[nearest-1].score-1e-9 {
			n++ // the tests have fewer ties than maxNearest
		}
		for i := range hits[:n] {
			d := &o.docs[slices.IndexFunc(o.docs, func(d oracleDoc) bool { return d.ID == hits[i].id })]
			for _, p := range near {
				weight := 0.4
				if p.slop > 0 {
					weight = 0.1
				}
				weight *= o.idf(p.words[0]) + o.idf(p.words[1])
				hits[i].score += o.bm25f(d, weight, func(f int) int { return p.occurrences(d, f) })
			}
		}
		slices.SortFunc(hits[:n], order)
	}
	return hits
}

// pairs returns the phrases of two plain words that follow each other: in order, and near
// each other. Both words must occur, and differ.
func pairs(plain []oraclePhrase, o *oracleQuery) (near []oraclePhrase) {
	var last oracleWord
	for _, p := range plain {
		for i, word := range p.words {
			if p.slop < 0 && i == len(p.words)-1 {
				last = nil
				continue
			}
			gap := 1
			if i > 0 {
				gap = p.at[i] - p.at[i-1]
			}
			if last != nil && !maps.Equal(last, word) && o.idf(last) > 0 && o.idf(word) > 0 {
				of := oraclePhrase{words: []oracleWord{last, word}, at: []int{0, gap}}
				near = append(near, of)
				of.slop = 6
				near = append(near, of)
			}
			last = word
		}
	}
	return near
}

func (o *oracle) passes(d *oracleDoc, f *filter) bool {
	of := map[string][]string{Site: {d.Site}, Lang: {d.Lang}, Type: {d.MIME}, Collection: d.Collections}
	for name, values := range of {
		has := func(wanted []string) bool {
			for _, value := range values {
				for _, w := range wanted {
					if sameValue(name, value, w) {
						return true
					}
				}
			}
			return false
		}
		if len(f.any[name]) > 0 && !has(f.any[name]) || has(f.none[name]) {
			return false
		}
	}
	return (f.after.IsZero() || !d.Fetched.Before(f.after)) && (f.before.IsZero() || d.Fetched.Before(f.before))
}

func TestSearchAgainstOracle(t *testing.T) {
	for seed := range racetest.Rounds(uint64(4), 2) {
		random := rand.New(rand.NewPCG(seed, 1))
		docs := randomDocuments(random, 200)
		dead := map[layout.Identity]bool{}
		for _, d := range docs {
			if seed%2 == 1 && random.IntN(5) == 0 {
				dead[d.ID] = true
			}
		}
		judge := newOracle(docs, dead)
		anchors := randomAnchors(random, docs)
		judge.addAnchors(anchors)
		indexes := map[string]*Index{}
		for _, n := range [][]int{{1, 100}, {10}, {1, 3}, {10}}[seed] {
			groups := divide(random, docs, n)
			ix := withAnchors(t, indexWithout(t, dead, groups...), anchors, groups...)
			pruning := *ix
			pruning.exactly = 0
			indexes[fmt.Sprint(n, " segments")] = ix
			indexes[fmt.Sprint(n, " segments, passing over what cannot compete")] = &pruning
		}
		for range racetest.Rounds(40, 4) {
			q := randomQuery(random)
			if random.IntN(4) == 0 {
				q.Text += " " + linkWord
			}
			want := judge.search(q)
			for name, ix := range indexes {
				got := find(t, ix, q)
				if problem := differs(got, want, q); problem != "" {
					t.Fatalf("seed %d, %s, %+v: %s", seed, name, q, problem)
				}
			}
		}
	}
}

// differs returns what is wrong with a result; "" if nothing is.
func differs(got Result, want []oracleHit, q Query) string {
	if got.Total > len(want) || got.Exact && got.Total != len(want) || got.Partial {
		return fmt.Sprintf("%d matches (exact: %v), want %d", got.Total, got.Exact, len(want))
	}
	to := min(len(want), q.From+q.Size)
	want = want[min(q.From, to):to]
	if len(got.Hits) != len(want) {
		return fmt.Sprintf("%d hits, want %d", len(got.Hits), len(want))
	}
	for i, hit := range got.Hits {
		if hit.ID != want[i].id || math.Abs(hit.Score-want[i].score) > 1e-9 {
			return fmt.Sprintf("hit %d is %s with %v, want %s with %v", i, hit.ID, hit.Score, want[i].id, want[i].score)
		}
	}
	return ""
}
