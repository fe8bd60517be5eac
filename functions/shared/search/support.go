package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

const (
	// longQuery is the least number of words of a long query. A long query describes the wanted
	// pages, while a shorter one names them. Two pairs of characters of a script without spaces
	// count as a word.
	longQuery = 5
	// supporters is the greatest number of matches whose scores increase the score of one match
	// (see support).
	supporters = 4
	// copied is the least cosine of two documents that count as copies. A copy does not increase
	// the score of the other document: a page is no better because it was copied.
	copied = 0.7
)

// isLong reports whether the query is long (see longQuery). It counts p.words, so it must be called
// after unify.
func (p *plan) isLong() bool {
	half := 0
	for _, w := range p.words {
		switch {
		case w.joined:
		case w.isPair():
			half += w.times
		default:
			half += 2 * w.times
		}
	}
	return half >= 2*longQuery
}

// sharpened turns the usual idf of a word into its idf in a long query. It lowers the idf of frequent
// words more than that of rare words, because in a query of many words the rare ones say what is
// searched.
func sharpened(of float64) float64 { return of * of / (of + 1) }

// stopWord returns the probability that a word of the query is a stop word, such as what or you. The
// language of a query is only estimated. So the result is the sum of the probabilities of those languages
// in which the word is a stop word. It is 0 for a word that stands for others, such as not*.
func (p *plan) stopWord(w *queryWord) (probability float64) {
	if w.expands() {
		return 0
	}
	for i := range p.languages {
		if l := &p.languages[i]; l.share > 0 && l.stopWords.Has(w.surface) {
			probability += l.share
		}
	}
	return probability
}

// lowered returns a factor for the idf of a word: from Weights.StopWord for a sure stop word to 1 for a
// word that is none. It is used for the words of long queries, and in every query for pairs of
// neighbouring words. For example, few scientific abstracts have the word you, so its idf there is high,
// although the word says nothing about what is searched.
func (p *plan) lowered(w *queryWord) float64 { return 1 - w.stop*(1-p.weights.StopWord) }

// hasOnlyStopWords reports whether all words of the query are stop words, as in "to be or not to be".
func (p *plan) hasOnlyStopWords() bool {
	return !slices.ContainsFunc(p.words, func(w *queryWord) bool { return !w.isStopWord() })
}

// supports reports whether matches get a bonus for similar matches (see support). They do if the
// query is long and searches pages, not images, and if all segments have the term vectors of their
// documents.
func (s *search) supports() bool {
	return s.plan.long && !s.plan.images && s.query.Size > 0 && !s.byDate() &&
		!slices.ContainsFunc(s.parts, func(p Part) bool { return !p.Unvisited && !p.Segment.HasVectors() })
}

// readVectors returns the term vectors of the matches, in their order. The vector of a match is nil if its page was
// never visited, or if its part was not read in time.
func (s *search) readVectors(ctx deadline, matches []match) ([]segment.EncodedVector, error) {
	found := make([]segment.EncodedVector, len(matches))
	err := s.eachOf(ctx, matches, func(ctx context.Context, part int, of []int, docs []uint32) error {
		if s.parts[part].Unvisited {
			return nil
		}
		vectors, err := s.ix.memory.vectors(ctx, s.parts[part].Segment, docs)
		for i, v := range vectors {
			found[of[i]] = v
		}
		return err
	})
	return found, err
}

// support adds to the score of each of the best matches a part of the scores of the matches most
// similar to it, and sorts the matches again. Documents that answer a long query well are similar to
// each other, while a document that has some of its words by chance stands alone (Diaz, Regularizing Ad
// Hoc Retrieval Scores, 2005).
//
// Only the best matches take part, as many as the function examined returns. To the score of each of them,
// support adds
//
//	Weights.Support · doubt · Σ cosine · (score − least)
//
//	Σ        over the other matches that are most similar to this match; at most as many as the constant
//	         supporters, and no copies (see copied)
//	cosine   of the angle between the term vectors of the two matches
//	score    score of the other match before the call
//	least    lowest score before the call
//	doubt    result of plan.doubt
func (s *search) support(ctx deadline, best []match, doubt float64) error {
	best = best[:examined(best)]
	weight := s.plan.weights.Support * doubt
	if len(best) < 2 || weight == 0 {
		return nil
	}
	var vectors []segment.EncodedVector
	if s.carried == nil {
		var err error
		if vectors, err = s.readVectors(ctx, best); err != nil {
			return err
		}
	} else {
		for _, f := range best {
			vectors = append(vectors, s.carried[spot{f.part, f.doc}].vector)
		}
	}
	cosines := cosinesOf(vectors)
	least := best[len(best)-1].score
	scores := make([]float64, len(best))
	similar := make([]supporter, 0, supporters+1)
	for i := range best {
		similar = similar[:0]
		for j, cosine := range cosines[i*len(best) : (i+1)*len(best)] {
			if i == j || cosine <= 0 || cosine >= copied {
				continue
			}
			other := supporter{cosine, best[j].score - least}
			at := len(similar)
			for at > 0 && other.compare(similar[at-1]) < 0 {
				at--
			}
			if at < supporters {
				similar = slices.Insert(similar, at, other)
				similar = similar[:min(len(similar), supporters)]
			}
		}
		for _, other := range similar {
			scores[i] += weight * other.cosine * other.score
		}
	}
	for i := range best {
		best[i].support = scores[i]
		best[i].score += scores[i]
	}
	slices.SortFunc(best, byScore)
	return nil
}

// doubt tells queries that name a page (by its title) from queries that describe pages. The result
// is 0 if the query names a page, and 1 if it describes pages. For a short query it is 0. For a long one
// it is 2 · (1 − S/G), but at least 0 and at most 1. S is the score of the best match, and G is the
// greatest score that the words of the query can give. If S is nearly G, the best match has all words in
// its title, or has them often, so the query probably names this page.
func (p *plan) doubt(best []match) float64 {
	most := p.weights.AllWords * p.weights.mostScore() * p.weight()
	if !p.long || len(best) == 0 || best[0].score >= most {
		return 0
	}
	return min(1, 2*(1-best[0].score/most))
}

// supporter is a match that is similar to another one. The fields are the cosine of the angle
// between the two term vectors, and the supporter's score minus the lowest score of all examined
// matches.
type supporter struct{ cosine, score float64 }

// compare orders supporters: the more similar one comes first; of equally similar ones, the one
// with the higher score.
func (s supporter) compare(other supporter) int {
	return cmp.Or(cmp.Compare(other.cosine, s.cosine), cmp.Compare(other.score, s.score))
}

// component is a component of the term vector of a matching document. So that components are sorted as numbers, it is
// one: the hash of the term in the upper 16 bits, the index of the document among the matches in the next 32, and the
// weight of the term in the lowest 16.
type component uint64

func componentOf(t segment.VectorTerm, of int) component {
	return component(uint64(t.Hash)<<48 | uint64(uint32(of))<<16 | uint64(t.Weight))
}

func (c component) hash() uint16 { return uint16(c >> 48) }

func (c component) match() int { return int(uint32(c >> 16)) }

func (c component) weight() float64 { return float64(uint16(c)) }

// cosinesOf returns the cosine of the angle between every two of n term vectors, which are those of matches. The
// cosine of the vectors i and j has the index i·n+j. The weight of a term in these vectors is its
// weight in segment.Vector times ln(1 + n/d), where d is the number of matches that have the term.
func cosinesOf(vectors []segment.EncodedVector) []float64 {
	n := len(vectors)
	components := make([]component, 0, n*segment.VectorTerms)
	for i, v := range vectors {
		for _, t := range v.Decode() {
			components = append(components, componentOf(t, i))
		}
	}
	slices.Sort(components)
	products, squares := make([]float64, n*n), make([]float64, n)
	for len(components) > 0 {
		hash, end := components[0].hash(), 1
		for end < len(components) && components[end].hash() == hash {
			end++
		}
		rarity := math.Log(1 + float64(n)/float64(end))
		of := components[:end]
		for k, c := range of {
			i, value := c.match(), c.weight()*rarity
			squares[i] += value * value
			for _, other := range of[k+1:] {
				j, product := other.match(), value*(other.weight()*rarity)
				products[i*n+j] += product
				products[j*n+i] += product
			}
		}
		components = components[end:]
	}
	for i := range n {
		for j := range i {
			if products[i*n+j] > 0 {
				products[i*n+j] /= math.Sqrt(squares[i] * squares[j])
				products[j*n+i] = products[i*n+j]
			}
		}
	}
	return products
}
