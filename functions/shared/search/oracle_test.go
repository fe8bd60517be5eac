package search

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// oracle finds and scores documents by the rules of the package comment. It is slow, because it
// looks at every document, but simple: tests compare searches with it.
type oracle struct {
	docs      []oracleDoc
	surfaces  map[string]int     // number of documents that have each word as written
	terms     map[string]float64 // number of documents that have each term
	anchored  map[string]float64 // number of documents whose anchors have each term
	languages map[string]*oracleLanguage
}

// oracleLanguage holds statistics of the documents in a language.
type oracleLanguage struct {
	documents float64
	having    [postings.Fields]float64 // number of documents that have each field
	mean      [postings.Fields]float64 // mean length of each field in the documents that have it
	terms     map[string]float64       // number of documents that have each term
	anchored  map[string]float64       // number of documents whose anchors have each term
}

type oracleDoc struct {
	segment.Document
	dead      bool
	positions [postings.Fields]map[string][]int // positions of each term in each field
	length    [postings.Fields]float64
	anchors   *oracleDoc // texts of links to the document, as a document of its own; nil if there are none
	vector    segment.Vector
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
	o.setVectors()
	for _, l := range o.languages {
		for f := range l.mean {
			l.mean[f] /= max(1, l.having[f])
		}
	}
	return o
}

// addAnchors adds anchors (texts of links) to documents. The keys of the map are identities of documents;
// the values hold the anchors of these documents.
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

type oracleHit struct {
	id    layout.Identity
	score float64
}

// search returns all matches, sorted as a search must sort them. If no document matches the query with
// its quotes, it returns the matches of the query without quotes.
func (o *oracle) search(q Query) (hits []oracleHit) {
	clauses, _ := parse(q.Text)
	if hits = o.answer(q, clauses); len(hits) == 0 && unquote(clauses) {
		hits = o.answer(q, clauses)
	}
	return hits
}

func (judge *oracle) answer(q Query, clauses []clause) (hits []oracleHit) {
	var words, known, not []oracleWord
	var plain, must, never []oraclePhrase
	var times, knownTimes []float64 // in the query
	var written []oracleWord        // the known words that stand for no others
	required, expanded := map[int]bool{}, map[int]bool{}
	f := newFilter(&q)
	text := ""
	for _, c := range clauses {
		if c.filter == "" {
			text += c.text + " "
		} else {
			f.add(c)
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
		for i, word := range phrase.words {
			n := slices.IndexFunc(words, func(other oracleWord) bool { return maps.Equal(word, other) })
			if n < 0 {
				n = len(words)
				words, times = append(words, word), append(times, 0)
			}
			times[n]++
			expanded[n] = expanded[n] || (c.prefix || c.edits > 0) && i == len(phrase.words)-1
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
	if len(words) == 0 {
		return judge.list(&f, func(d *oracleDoc) bool {
			return slices.ContainsFunc(not, func(word oracleWord) bool { return o.word(d, word, 1)-o.anchors(d, word, 1) > 0 }) ||
				slices.ContainsFunc(never, func(p oraclePhrase) bool { return o.bm25f(d, 1, func(f int) int { return p.occurrences(d, f) }) > 0 })
		}, len(not)+len(never) > 0)
	}
	o.judge(words)
	for _, n := range times {
		o.length += n
	}
	for n, word := range words {
		if o.idf(word) > 0 {
			known, knownTimes = append(known, o.weighed(word)), append(knownTimes, times[n])
			if !expanded[n] {
				written = append(written, word)
			}
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
			weight := o.weight(word, knownTimes[n])
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
			score *= 1.5
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
	doubt := 0.0
	if o.long() && q.Size > 0 && len(hits) > 0 {
		weights := 0.0
		for n, word := range known {
			weights += o.weight(word, knownTimes[n])
		}
		doubt = max(0, min(1, 2-2*hits[0].score/(1.5*2.5*weights)))
		best := hits[:ofNearest(hits)]
		o.support(best, doubt)
		slices.SortFunc(best, order)
	}
	if q.Size > 0 {
		best := hits[:ofNearest(hits)]
		for i := range best {
			best[i].score += o.titled(best[i].id, known, knownTimes) + o.defined(best[i].id, known, knownTimes)
		}
		slices.SortFunc(best, order)
	}
	if near := pairs(plain, o); len(near) > 0 || o.long() {
		n := ofNearest(hits)
		for i := range hits[:n] {
			d := &o.docs[slices.IndexFunc(o.docs, func(d oracleDoc) bool { return d.ID == hits[i].id })]
			for _, p := range near {
				weight := 0.6 * (1 - 0.5*doubt)
				if p.slop > 0 {
					weight = 0.15 * (1 - 0.5*doubt)
				}
				weight *= o.idf(p.words[0]) + o.idf(p.words[1])
				hits[i].score += o.bm25f(d, weight, func(f int) int { return p.occurrences(d, f) })
			}
			if o.long() && len(written) > 1 {
				hits[i].score += doubt * o.passage(d, written)
			}
		}
		slices.SortFunc(hits[:n], order)
	}
	return hits
}

func (d *oracleDoc) hasText() bool {
	return d.length[segment.Title]+d.length[segment.Headings]+d.length[segment.Body] > 0
}

// list returns the documents that a query without words lists: those that pass its filters and are not
// excluded, the newest first.
func (o *oracle) list(f *filter, isExcluded func(*oracleDoc) bool, excludes bool) (hits []oracleHit) {
	if f.empty() && !excludes {
		return nil
	}
	days := map[layout.Identity]int64{}
	for i := range o.docs {
		if d := &o.docs[i]; !d.dead && d.hasText() && o.passes(d, f) && !isExcluded(d) {
			hits = append(hits, oracleHit{d.ID, 0})
			days[d.ID] = d.Date.Unix() / (24 * 60 * 60) // of pages without a date far below 0
		}
	}
	slices.SortFunc(hits, func(a, b oracleHit) int { return cmp.Or(cmp.Compare(days[b.id], days[a.id]), a.id.Compare(b.id)) })
	return hits
}

// titled returns the bonus of a document for a title that the query names. The given words are those of
// the query, with the number of times that it has them.
func (o *oracleQuery) titled(id layout.Identity, words []oracleWord, times []float64) float64 {
	d := &o.docs[slices.IndexFunc(o.docs, func(d oracleDoc) bool { return d.ID == id })]
	in, all, n, content := 0.0, 0.0, 0.0, 1.0
	for i, word := range words {
		most := 0
		for term := range word {
			times := len(d.positions[segment.Title][term])
			most = max(most, times)
			if times > 0 && len(d.positions[segment.Body][term]) > 0 {
				content = min(1, 16*d.length[segment.Body]/max(1, o.average[segment.Body]))
			}
		}
		weight := o.weight(word, times[i])
		if most > 4 && float64(2*most) > d.length[segment.Title] {
			most = 1
		}
		all, n = all+weight, n+float64(most)
		if most > 0 {
			in += weight
		}
	}
	if in == 0 {
		return 0
	}
	return in * math.Pow(in/all, 2) * min(1, n/d.length[segment.Title]) * content
}

// defined returns the bonus of a document for names of the query that it defines. The words are as in titled.
func (o *oracleQuery) defined(id layout.Identity, words []oracleWord, times []float64) float64 {
	d := &o.docs[slices.IndexFunc(o.docs, func(d oracleDoc) bool { return d.ID == id })]
	in, all := 0.0, 0.0
	for i, word := range words {
		worth := 0.0
		for term, t := range word {
			name := segment.DefinitionTerm(term)
			if len(d.positions[segment.Body][name]) > 0 {
				worth = max(worth, t.worth)
			}
			if len(d.positions[segment.Headings][name]) > 0 {
				worth = max(worth, 1.5*t.worth)
			}
		}
		all, in = all+o.weight(word, times[i]), in+worth*o.weight(word, times[i])
	}
	if in == 0 {
		return 0
	}
	return in * math.Pow(min(1, in/all), 2)
}

// passage returns the bonus of a document for the passage of its body that has the most of the words.
func (o *oracleQuery) passage(d *oracleDoc, words []oracleWord) float64 {
	all, best, last := 0.0, 0.0, 0
	for _, word := range words {
		all += o.idf(word)
		for term := range word {
			last = max(last, slices.Max(append(d.positions[segment.Body][term], 0)))
		}
	}
	for from := range last + 1 {
		sum := 0.0
		for _, word := range words {
			in := func(at int) bool { return from <= at && at <= from+25 }
			for term := range word {
				if slices.ContainsFunc(d.positions[segment.Body][term], in) {
					sum += o.idf(word)
					break
				}
			}
		}
		best = max(best, sum)
	}
	length := d.length[segment.Body]
	return 2 * best * math.Pow(best/all, 2) * length / (length + 300)
}

// ofNearest returns the number of best hits that are examined for words near each other.
func ofNearest(hits []oracleHit) int {
	n := min(len(hits), nearest)
	for n >= nearest && n < len(hits) && hits[n].score > hits[nearest-1].score-1e-9 {
		n++ // the tests have fewer ties than maxNearest
	}
	return n
}

// pairs returns two phrases for every pair of neighbouring plain words: an exact phrase, and one with
// slop. It leaves out pairs of equal words, and pairs with a word that the index lacks.
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
	return f.after.IsZero() && f.before.IsZero() || !d.Date.IsZero() && !d.Date.Before(f.after) && (f.before.IsZero() || d.Date.Before(f.before))
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

// differs describes how a result differs from the wanted hits; "" if it does not.
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
