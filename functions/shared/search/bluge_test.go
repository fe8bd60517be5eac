package search

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	bluge "github.com/blugelabs/bluge/search"
	"github.com/blugelabs/bluge/search/searcher"
	api "github.com/blugelabs/bluge_segment_api"

	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// blugeReader presents an index to the searchers of bluge, another search library, as one segment
// whose documents have consecutive numbers. So bluge searches the same bytes in a second way, by
// looking at every posting.
type blugeReader struct {
	t  *testing.T
	ix *Index
}

var _ bluge.Reader = blugeReader{}

// PostingsIterator implements search.Reader.
func (r blugeReader) PostingsIterator(term []byte, field string, _, _, _ bool) (api.PostingsIterator, error) {
	all := &blugePostings{}
	f := slices.Index(fieldNames[:], field)
	base := uint64(0)
	for _, p := range r.ix.parts {
		terms, err := p.Segment.Terms(r.t.Context(), []string{string(term)}, true)
		if err != nil {
			return nil, err
		}
		if terms[0] != nil {
			if err := all.add(r.t, p, terms[0], f, base); err != nil {
				return nil, err
			}
		}
		base += uint64(p.Segment.Documents())
	}
	return all, nil
}

func (blugeReader) CollectionStats(string) (api.CollectionStats, error) {
	return nil, errors.ErrUnsupported
}
func (blugeReader) DictionaryLookup(string) (api.DictionaryLookup, error) {
	return nil, errors.ErrUnsupported
}
func (blugeReader) DictionaryIterator(string, api.Automaton, []byte, []byte) (api.DictionaryIterator, error) {
	return nil, errors.ErrUnsupported
}
func (blugeReader) DocumentValueReader([]string) (api.DocumentValueReader, error) {
	return nil, errors.ErrUnsupported
}
func (blugeReader) VisitStoredFields(uint64, api.StoredFieldVisitor) error {
	return errors.ErrUnsupported
}
func (blugeReader) Close() error { return nil }

// blugePostings are the decoded postings of a term in a field.
type blugePostings struct {
	all []*blugePosting
	at  int
}

func (b *blugePostings) add(t *testing.T, p Part, term *segment.Term, field int, base uint64) error {
	it := term.List.Iterator()
	for doc := it.Next(); doc != postings.NoMore; doc = it.Next() {
		freq, length, _ := it.Payload()
		if freq[field] == 0 || p.Dead != nil && p.Dead.Contains(doc) {
			continue
		}
		offset, size := it.PositionBlock()
		block, err := p.Segment.ReadPositions(t.Context(), []segment.Positions{{Term: term, Offset: offset, Length: size}})
		if err != nil {
			return err
		}
		positions, err := it.Positions(block[0], nil)
		if err != nil {
			return err
		}
		for f := range field {
			positions = positions[freq[f]:]
		}
		posting := &blugePosting{number: base + uint64(doc), length: length[field]}
		for _, position := range positions[:freq[field]] {
			posting.locations = append(posting.locations, blugeLocation{fieldNames[field], int(position)})
		}
		b.all = append(b.all, posting)
	}
	return it.Err()
}

func (b *blugePostings) Next() (api.Posting, error) {
	if b.at == len(b.all) {
		return nil, nil
	}
	b.at++
	return b.all[b.at-1], nil
}

func (b *blugePostings) Advance(number uint64) (api.Posting, error) {
	for b.at < len(b.all) && b.all[b.at].number < number {
		b.at++
	}
	return b.Next()
}

func (b *blugePostings) Count() uint64 { return uint64(len(b.all)) }
func (b *blugePostings) Empty() bool   { return len(b.all) == 0 }
func (b *blugePostings) Size() int     { return 0 }
func (b *blugePostings) Close() error  { return nil }

type blugePosting struct {
	number    uint64
	length    uint8
	locations []api.Location
}

func (p *blugePosting) Number() uint64            { return p.number }
func (p *blugePosting) SetNumber(number uint64)   { p.number = number }
func (p *blugePosting) Frequency() int            { return len(p.locations) }
func (p *blugePosting) Norm() float64             { return float64(p.length) }
func (p *blugePosting) Locations() []api.Location { return p.locations }
func (p *blugePosting) Size() int                 { return 0 }

type blugeLocation struct {
	field    string
	position int
}

func (l blugeLocation) Field() string { return l.field }
func (l blugeLocation) Start() int    { return l.position }
func (l blugeLocation) End() int      { return l.position + 1 }
func (l blugeLocation) Pos() int      { return l.position }
func (l blugeLocation) Size() int     { return 0 }

// blugeScorer scores a word in one field: by its frequency there, times the gain of the field (see
// statistics.gain).
type blugeScorer struct {
	statistics *statistics
	field      int
}

func (s blugeScorer) Score(freq int, norm float64) float64 {
	return s.statistics.counted(s.field, uint32(freq), uint8(norm)) * s.statistics.gain[s.field][uint8(norm)]
}
func (s blugeScorer) Explain(int, float64) *bluge.Explanation { return nil }

// blugeWord computes the score of a word from the sum of its scores in the fields (see
// blugeScorer).
type blugeWord struct{ weight float64 }

func (w blugeWord) ScoreComposite(of []*bluge.DocumentMatch) float64 {
	sum := 0.0
	for _, c := range of {
		sum += c.Score
	}
	return w.weight * standard.saturated(sum)
}
func (blugeWord) ExplainComposite([]*bluge.DocumentMatch) *bluge.Explanation { return nil }

// blugeSum adds the scores of the words of a query. It multiplies the sum by Weights.AllWords if the
// query has at least two words, and the document has all of them.
type blugeSum struct{ all int }

func (s blugeSum) ScoreComposite(of []*bluge.DocumentMatch) (score float64) {
	for _, c := range of {
		score += c.Score
	}
	if s.all > 1 && len(of) == s.all {
		score *= standard.AllWords
	}
	return score
}
func (blugeSum) ExplainComposite([]*bluge.DocumentMatch) *bluge.Explanation { return nil }

// blugePlan makes the searchers of the library bluge for a query that has no prefixes (fox*) and no
// words with edits (foks~).
type blugePlan struct {
	reader     blugeReader
	statistics *statistics
	weights    map[string]float64
	options    bluge.SearcherOptions
}

func (p *blugePlan) check(s bluge.Searcher, err error) bluge.Searcher {
	p.reader.t.Helper()
	if err != nil {
		p.reader.t.Fatal(err)
	}
	return s
}

// fields returns a searcher that finds a document if it matches in at least one field. The given
// function makes the searcher for a field.
func (p *blugePlan) fields(weight float64, of func(field int) (bluge.Searcher, error)) bluge.Searcher {
	var all []bluge.Searcher
	for field := range postings.Fields {
		all = append(all, p.check(of(field)))
	}
	return p.check(searcher.NewDisjunctionSearcher(p.reader, all, 1, blugeWord{weight}, p.options))
}

func (p *blugePlan) word(term string, weight float64) bluge.Searcher {
	return p.fields(weight, func(field int) (bluge.Searcher, error) {
		return searcher.NewTermSearcher(p.reader, term, fieldNames[field], 1, blugeScorer{p.statistics, field}, p.options)
	})
}

func (p *blugePlan) phrase(terms []string, slop int) bluge.Searcher {
	if len(terms) == 1 {
		return p.word(terms[0], 0)
	}
	var slots [][]string
	for _, term := range terms {
		slots = append(slots, []string{term})
	}
	return p.fields(0, func(field int) (bluge.Searcher, error) {
		return searcher.NewSloppyMultiPhraseSearcher(p.reader, slots, fieldNames[field], slop, blugeScorer{p.statistics, field}, p.options)
	})
}

// matches returns the score that each matching document gets for the query's words, by the number
// of the document.
func (p *blugePlan) matches(clauses []clause) map[uint64]float64 {
	var words, must, not []bluge.Searcher
	times := map[string]int{}
	for _, c := range clauses {
		texts := strings.Fields(c.text)
		if c.sign == '-' {
			not = append(not, p.phrase(texts, c.slop))
			continue
		}
		for _, term := range texts {
			times[term]++
		}
		if c.sign == '+' || c.quoted {
			must = append(must, p.phrase(texts, c.slop))
		}
	}
	for _, term := range slices.Sorted(maps.Keys(times)) {
		if p.weights[term] > 0 {
			words = append(words, p.word(term, p.weights[term]*standard.repeated(times[term])))
		}
	}
	found := map[uint64]float64{}
	if len(words) == 0 {
		return found
	}
	s := p.check(searcher.NewDisjunctionSearcher(p.reader, words, 1, blugeSum{all: len(words)}, p.options))
	var all, none bluge.Searcher
	if len(must) > 0 {
		all = p.check(searcher.NewConjunctionSearcher(p.reader, must, blugeSum{}, p.options))
	}
	if len(not) > 0 {
		none = p.check(searcher.NewDisjunctionSearcher(p.reader, not, 1, blugeSum{}, p.options))
	}
	if all != nil || none != nil {
		s = p.check(searcher.NewBooleanSearcher(all, s, none, blugeSum{}, p.options))
	}
	matches := bluge.NewSearchContext(s.DocumentMatchPoolSize(), 0)
	for {
		matched, err := s.Next(matches)
		if err != nil {
			p.reader.t.Fatal(err)
		}
		if matched == nil {
			return found
		}
		found[matched.Number] = matched.Score
		matches.DocumentMatchPool.Put(matched)
	}
}

// TestSearchAgainstBluge compares the matches, and the scores of words, with those of bluge's
// searchers, which look at every posting of the same segments.
func TestSearchAgainstBluge(t *testing.T) {
	word := func(random *rand.Rand) string {
		return fmt.Sprintf("%c", 'a'+rune(20*random.Float64()*random.Float64()))
	}
	for seed := range racetest.Rounds(uint64(3), 1) {
		random := rand.New(rand.NewPCG(seed, 2))
		var docs []segment.Document
		for i := range 200 {
			var body []string
			for range random.IntN(40) {
				body = append(body, word(random))
			}
			d := page(fmt.Sprint(word(random), "/", i), strings.Join(body, " "))
			d.Title, d.Headings, d.Lang = word(random)+" "+word(random), []string{word(random) + " " + word(random)}, "xx"
			docs = append(docs, d)
		}
		ix := indexOf(t, divide(random, docs, 4)...)
		ix.exactly = 0
		only := &ix.languages[0]
		planned := &blugePlan{reader: blugeReader{t, ix}, statistics: newStatistics([]queryLanguage{{corpusLanguage: only, share: 1}}, standard, false), weights: map[string]float64{}}
		for c := 'a'; c <= 'z'; c++ {
			n := uint64(0)
			for _, p := range ix.parts {
				terms, err := p.Segment.Terms(t.Context(), []string{string(c)}, false)
				if err != nil {
					t.Fatal(err)
				}
				if terms[0] != nil {
					n += uint64(terms[0].Summary.Documents)
				}
			}
			if n > 0 {
				planned.weights[string(c)] = idf(float64(n), only.documents)
			}
		}
		for range racetest.Rounds(40, 10) {
			var clauses []string
			for range 1 + random.IntN(4) {
				text := word(random)
				// For bluge, no position can serve two words of a phrase, even if they are not neighbours.
				if second, third := word(random), word(random); random.IntN(3) == 0 && text != second && text != third && second != third {
					text = fmt.Sprintf(`"%s %s %s"~%d`, text, second, third, random.IntN(4))
				}
				clauses = append(clauses, []string{"", "", "+", "-"}[random.IntN(4)]+text)
			}
			text := strings.Join(clauses, " ")
			if planned := ix.plan(&Query{Text: text}, false); planned.lists || parsedLong(planned) {
				continue // bluge has no other weights for long queries, and lists nothing
			}
			asked, _ := parse(text)
			want := planned.matches(asked)
			if len(want) == 0 && unquote(asked) {
				want = planned.matches(asked)
			}
			got := find(t, ix, Query{Text: text, Size: 500, Explain: true})
			if len(got.Hits) != len(want) {
				t.Fatalf("seed %d, %s: %d hits, bluge finds %d", seed, text, len(got.Hits), len(want))
			}
			byID := map[string]float64{}
			base := uint64(0)
			for _, p := range ix.parts {
				identities, err := p.Segment.Identities(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for doc, id := range identities {
					if score, matches := want[base+uint64(doc)]; matches {
						byID[id.String()] = score
					}
				}
				base += uint64(len(identities))
			}
			for _, hit := range got.Hits {
				words := 0.0
				for _, part := range hit.Explanation.Parts {
					if strings.HasPrefix(part.What, "word") || strings.HasPrefix(part.What, "holds all") {
						words += part.Value
					}
				}
				if score, matches := byID[hit.ID.String()]; !matches || cmp.Compare(max(score-words, words-score), 1e-9) > 0 {
					t.Fatalf("seed %d, %s: the words of %s score %v, by bluge %v (matches: %v)", seed, text, hit.URL, words, score, matches)
				}
			}
		}
	}
}
