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

// oracle finds and scores documents by looking at every one, from the
// definition of scores alone.
type oracle struct {
	docs      []oracleDoc
	mean      [postings.Fields]float64 // length of a field, where there is one
	surfaces  map[string]int           // documents that hold a word as written
	terms     map[string]float64       // documents that hold a term
	languages map[string]int
}

type oracleDoc struct {
	segment.Document
	dead      bool
	positions [postings.Fields]map[string][]int // by term
	length    [postings.Fields]float64
}

func newOracle(docs []segment.Document, dead map[layout.Identity]bool) *oracle {
	o := &oracle{surfaces: map[string]int{}, terms: map[string]float64{}, languages: map[string]int{}}
	var having [postings.Fields]float64
	for _, d := range docs {
		doc := oracleDoc{Document: d, dead: dead[d.ID]}
		surfaces, terms := map[string]bool{}, map[string]bool{}
		last := [postings.Fields]uint32{}
		for f := range doc.positions {
			doc.positions[f] = map[string][]int{}
		}
		for token := range tokens(&d) {
			doc.positions[token.Field][token.Term] = append(doc.positions[token.Field][token.Term], int(token.Position))
			surfaces[token.Word], terms[token.Term] = true, true
			if token.Position != last[token.Field] {
				doc.length[token.Field]++
				last[token.Field] = token.Position
			}
		}
		for f, n := range doc.length {
			if n > 0 {
				having[f]++
				o.mean[f] += n
			}
			doc.length[f] = float64(postings.LengthOf(postings.LengthCode(uint32(n))))
		}
		for surface := range surfaces {
			o.surfaces[surface]++
		}
		for term := range terms {
			o.terms[term]++
		}
		o.languages[d.Lang]++
		o.docs = append(o.docs, doc)
	}
	for f := range o.mean {
		o.mean[f] /= having[f]
	}
	return o
}

// oracleWord is the worth of the terms that stand for a word.
type oracleWord map[string]float64

type oraclePhrase struct {
	words []oracleWord
	at    []int
	slop  int
}

// words returns the words of a clause.
func (o *oracle) words(c clause, languages []string) oraclePhrase {
	phrase := oraclePhrase{slop: c.slop}
	analysed := analysis.Query(c.text, languages)
	for i, a := range analysed {
		word := oracleWord{}
		for _, term := range a.Terms {
			word[term] = 1
		}
		if a.Prefix { // of terms; the tests have fewer of them than maxBegun
			word = oracleWord{}
			for term := range o.terms {
				if strings.HasPrefix(term, a.Terms[0]) {
					word[term] = 1
				}
			}
		}
		if i == len(analysed)-1 && a.Text != "" && (c.prefix || c.edits > 0) {
			edits := map[string]int{}
			for surface := range o.surfaces {
				if n := editDistance(a.Text, surface); c.edits > 0 && n <= c.edits {
					edits[surface] = n
				} else if c.prefix && strings.HasPrefix(surface, a.Text) {
					edits[surface] = 0
				}
			}
			best := slices.SortedFunc(maps.Keys(edits), func(a, b string) int {
				return cmp.Or(cmp.Compare(edits[a], edits[b]), cmp.Compare(o.surfaces[b], o.surfaces[a]), cmp.Compare(a, b))
			})
			for _, surface := range best[:min(len(best), MaxExpansions)] {
				for _, term := range analysis.Query(surface, languages)[0].Terms {
					word[term] = max(word[term], 1/float64(1+edits[surface]))
				}
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

func (o *oracle) idf(word oracleWord) float64 {
	n := 0.0
	for term := range word {
		n += o.terms[term]
	}
	if n == 0 {
		return 0
	}
	all := float64(len(o.docs))
	n = min(n, all)
	return math.Log(1 + (all-n+0.5)/(n+0.5))
}

// bm25 scores occurrences in the fields.
func (o *oracle) bm25(d *oracleDoc, weight float64, freq func(field int) int) (score float64) {
	for f := range postings.Fields {
		if n := float64(freq(f)); n > 0 {
			score += fieldWeights[f] * weight * n * 2.2 / (n + 1.2*(0.25+0.75*d.length[f]/o.mean[f]))
		}
	}
	return score
}

func (o *oracle) word(d *oracleDoc, word oracleWord, idf float64) (score float64) {
	for term, worth := range word {
		score = max(score, o.bm25(d, idf*worth, func(f int) int { return len(d.positions[f][term]) }))
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

// search returns all matches in their order.
func (o *oracle) search(q Query) (hits []oracleHit) {
	var words, known, not []oracleWord
	var plain, must, never []oraclePhrase
	var times, knownTimes []float64 // in the query
	required := map[int]bool{}
	f := newFilter(&q)
	text := ""
	for _, c := range parse(q.Text) {
		if c.filter == "" {
			text += c.text + " "
		} else if err := f.add(c); err != nil {
			panic(err)
		}
	}
	languages := analysis.Likely(text, f.languages(o.languages))
	for _, c := range parse(q.Text) {
		if c.filter != "" {
			continue
		}
		phrase := o.words(c, languages)
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
	for n, word := range words {
		if o.idf(word) > 0 {
			known, knownTimes = append(known, word), append(knownTimes, times[n])
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
		score, held := 0.0, 0
		for n, word := range known {
			if s := o.word(d, word, o.idf(word)*9*knownTimes[n]/(8+knownTimes[n])); s > 0 {
				held++
				score += s
			}
		}
		if held > 1 && held == len(known) {
			score *= 2
		}
		matches := held > 0 && !d.dead && o.passes(d, &f)
		for n, word := range words {
			matches = matches && (!required[n] || o.word(d, word, 1) > 0)
		}
		for _, word := range not {
			matches = matches && o.word(d, word, 1) == 0
		}
		for _, p := range must {
			s := o.bm25(d, phraseWeight(p), func(f int) int { return p.occurrences(d, f) })
			matches = matches && s > 0
			score += s
		}
		for _, p := range never {
			matches = matches && o.bm25(d, 1, func(f int) int { return p.occurrences(d, f) }) == 0
		}
		if matches {
			hits = append(hits, oracleHit{d.ID, score})
		}
	}
	order := func(a, b oracleHit) int { return cmp.Or(cmp.Compare(b.score, a.score), a.id.Compare(b.id)) }
	slices.SortFunc(hits, order)
	if near := joined(plain); near != nil && phraseWeight(*near) > 0 {
		n := min(len(hits), nearest)
		for n == nearest && n < len(hits) && hits[n].score > hits[nearest-1].score-1e-9 {
			n++ // the tests have fewer ties than maxNearest
		}
		for i := range hits[:n] {
			d := &o.docs[slices.IndexFunc(o.docs, func(d oracleDoc) bool { return d.ID == hits[i].id })]
			hits[i].score += o.bm25(d, phraseWeight(*near), func(f int) int { return near.occurrences(d, f) })
		}
		slices.SortFunc(hits[:n], order)
	}
	return hits
}

// joined returns plain words as one phrase, if they are looked for next to each
// other.
func joined(plain []oraclePhrase) *oraclePhrase {
	near := &oraclePhrase{}
	end := 0
	for _, p := range plain {
		if p.slop < 0 {
			return nil
		}
		for i, word := range p.words {
			near.words = append(near.words, word)
			near.at = append(near.at, end+p.at[i])
		}
		end = near.at[len(near.at)-1] + 1
	}
	if n := len(near.words); n < 2 || n > 3 && len(plain) > 1 {
		return nil
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
		indexes := map[string]*Index{}
		for _, n := range [][]int{{1, 100}, {10}, {1, 3}, {10}}[seed] {
			ix := indexWithout(t, dead, divide(random, docs, n)...)
			pruning := *ix
			pruning.exactly = 0
			indexes[fmt.Sprint(n, " segments")] = ix
			indexes[fmt.Sprint(n, " segments, passing over what cannot compete")] = &pruning
		}
		for range racetest.Rounds(40, 4) {
			q := randomQuery(random)
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
