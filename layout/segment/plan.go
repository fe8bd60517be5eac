package segment

import (
	"github.com/blugelabs/bluge/search"
	"github.com/blugelabs/bluge/search/searcher"
)

// plan makes bluge's searchers for a query over an index.
type plan struct {
	reader  reader
	options search.SearcherOptions
	weights map[string]float64 // inverse document frequency of a term; 0 if absent
}

func newPlan(ix *Index) *plan {
	return &plan{reader: reader{ix}, weights: map[string]float64{}}
}

// searcher returns what finds and scores the documents that match; nil if none
// can.
func (p *plan) searcher(q parsed) (search.Searcher, error) {
	should, err := p.should(q)
	if should == nil || err != nil || len(q.must)+len(q.not) == 0 {
		return should, err
	}
	var must, not []search.Searcher
	for _, phrase := range q.must {
		s, err := p.phrase(phrase, nearWeight)
		if s == nil || err != nil {
			return nil, err
		}
		must = append(must, s)
	}
	for _, phrase := range q.not {
		s, err := p.phrase(phrase, 0)
		if err != nil {
			return nil, err
		}
		if s != nil {
			not = append(not, s)
		}
	}
	var all, none search.Searcher
	if len(must) > 0 {
		if all, err = searcher.NewConjunctionSearcher(p.reader, must, sum{}, p.options); err != nil {
			return nil, err
		}
	}
	if len(not) > 0 {
		if none, err = p.any(not, sum{}); err != nil {
			return nil, err
		}
	}
	return searcher.NewBooleanSearcher(all, should, none, sum{}, p.options)
}

// should scores the words of a query, and their standing together.
func (p *plan) should(q parsed) (search.Searcher, error) {
	var words []search.Searcher
	for _, word := range q.words {
		s, err := p.word(word, 1)
		if err != nil {
			return nil, err
		}
		if s != nil {
			words = append(words, s)
		}
	}
	if len(words) == 0 {
		return nil, nil
	}
	should, err := p.any(words, sum{all: len(words), bonus: allWords})
	if err != nil || len(q.near()) == 0 {
		return should, err
	}
	near, err := p.phrase(q.near(), nearWeight)
	if near == nil || err != nil {
		return should, err
	}
	return p.any([]search.Searcher{should, near}, sum{})
}

// any finds what at least one of the searchers finds.
func (p *plan) any(searchers []search.Searcher, scorer sum) (search.Searcher, error) {
	return searcher.NewDisjunctionSearcher(p.reader, searchers, 0, scorer, p.options)
}

// word finds a term in any field; nil if there is none.
func (p *plan) word(term string, weight float64) (search.Searcher, error) {
	rarity, err := p.rarity(term)
	if rarity == 0 || err != nil {
		return nil, err
	}
	return p.fields(func(field int) (search.Searcher, error) {
		return searcher.NewTermSearcher(p.reader, term, fieldNames[field], 1, p.scorer(field, weight*rarity), p.options)
	})
}

// phrase finds terms that follow each other in a field; nil if none can. It
// scores as a term that is as rare as all of them together.
func (p *plan) phrase(terms []string, weight float64) (search.Searcher, error) {
	if len(terms) == 1 {
		return p.word(terms[0], 0)
	}
	together := 0.0
	for _, term := range terms {
		rarity, err := p.rarity(term)
		if rarity == 0 || err != nil {
			return nil, err
		}
		together += rarity
	}
	return p.fields(func(field int) (search.Searcher, error) {
		return newPhraseSearcher(p.reader, terms, fieldNames[field], p.scorer(field, weight*together))
	})
}

// fields finds what any field's searcher finds, and adds the scores.
func (p *plan) fields(of func(field int) (search.Searcher, error)) (search.Searcher, error) {
	var searchers []search.Searcher
	for field := range fieldCount {
		s, err := of(field)
		if err != nil {
			return nil, err
		}
		searchers = append(searchers, s)
	}
	return p.any(searchers, sum{})
}

func (p *plan) scorer(field int, weight float64) bm25 {
	return newBM25(weight*fieldWeights[field], p.reader.ix.fields[field].averageLength())
}

// rarity returns the inverse document frequency of a term in the field where
// it is most frequent, 0 if it occurs nowhere.
func (p *plan) rarity(term string) (float64, error) {
	if weight, known := p.weights[term]; known {
		return weight, nil
	}
	most := uint64(0)
	for _, field := range fieldNames {
		n, err := p.reader.frequency(term, field)
		if err != nil {
			return 0, err
		}
		most = max(most, n)
	}
	weight := 0.0
	if most > 0 {
		weight = idf(most, p.reader.ix.Documents())
	}
	p.weights[term] = weight
	return weight, nil
}
