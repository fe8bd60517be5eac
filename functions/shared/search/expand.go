package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

const (
	// MaxExpansions is the greatest number of words that a prefix (fox*) or a word with edits
	// (foks~) matches. If there are more, those with the fewest edits are taken; of words with
	// equally many edits, the most frequent.
	MaxExpansions = 64
	// MaxExpanding is the greatest number of prefixes and words with edits of a query that stand for other
	// words. Further ones are searched as they stand, without their sign.
	MaxExpanding = 8
	// maxExpanded is the greatest number of words that all prefixes and words with edits of a query match
	// together. It is divided evenly among them: six of them match at most 42 words each.
	maxExpanded = 256
	// maxBegun is the greatest number of terms that stand for a lone character of a script without
	// spaces in an older segment. Such a segment has no term for the character alone, so all terms
	// that begin with it (pairs of characters) are searched.
	maxBegun = 512
	// maxSeen is the greatest number of words of a dictionary that are read for a prefix of a query
	// (fox*). Of more words that begin with it, the first in the alphabet are read.
	maxSeen = 20_000
)

// expansions are the words or terms that a word of the query matches, each with the number of
// documents that contain it.
type expansions map[string]uint64

// add adds the words of other expansions, such as those of another segment.
func (e expansions) add(other expansions) {
	for word, documents := range other {
		e[word] += documents
	}
}

// expand sets the variants (terms) of the query's prefixes (fox*) and of its words with edits (foks~).
func (s *search) expand(ctx deadline) error {
	expanding, most, err := s.plan.expanding()
	if err != nil || len(expanding) == 0 {
		return err
	}
	switch {
	case s.isGiven:
	case s.scatters():
		err = s.askExpansions(ctx, len(expanding))
	default:
		s.expanded, err = s.readExpansions(ctx, s.ix, expanding, s.plan.images)
	}
	if err != nil || s.isLeaf && !s.isGiven {
		return err
	}
	if len(s.expanded) != len(expanding) {
		return errOtherPlan
	}
	for i, w := range expanding {
		s.expanded[i] = s.plan.setVariants(w, s.expanded[i], most)
	}
	return nil
}

// expanding returns the words of the plan that stand for other words: prefixes, words with edits, and lone characters
// (see queryWord.begins). The result most is how many words of the index each of the first two kinds may stand for.
func (p *plan) expanding() (words []*queryWord, most int, err error) {
	p.each(func(w *queryWord) {
		if w.expands() {
			words = append(words, w)
		}
	})
	if len(words) == 0 {
		return nil, 0, nil
	}
	most = p.limitExpanding(words)
	for _, w := range words {
		if err := w.setLike(); err != nil {
			return nil, 0, err
		}
	}
	return words, most, nil
}

// readExpansions returns what each of the given words of a query matches in all segments. It reads the pages of
// words of the segments that may have them, in one step. The last parameter says whether the query searches images.
func (g *gathered) readExpansions(ctx deadline, ix *Index, expanding []*queryWord, ofImages bool) ([]expansions, error) {
	var sets []segment.WordSet
	for _, w := range expanding {
		if !w.begins && !w.stands {
			sets = append(sets, w.like)
		}
	}
	found := make([][]expansions, len(g.parts))
	err := g.each(ctx, func(ctx context.Context, part int) (err error) {
		var words *segment.Words
		if len(sets) > 0 {
			if words, err = ix.words(ctx, part, sets); err != nil {
				return err
			}
		}
		of := make([]expansions, len(expanding))
		for i, w := range expanding {
			if err := effort.Spend(ctx, w.effort()); err != nil {
				return err
			}
			if of[i], err = g.expansions(ctx, part, words, w, ofImages); err != nil {
				return err
			}
		}
		found[part] = of
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]expansions, len(expanding))
	for i := range all {
		all[i] = make(expansions)
		for _, of := range found {
			if of != nil {
				all[i].add(of[i])
			}
		}
	}
	return all, nil
}

// limitExpanding limits how many prefixes (fox*) and words with edits (foks~) of the query stand for other words:
// those beyond MaxExpanding are searched as they stand, with a note. The parameter expanding has all such words.
// The result most is how many words of the index each of the others may stand for.
func (p *plan) limitExpanding(expanding []*queryWord) (most int) {
	written := 0
	for _, w := range expanding {
		if w.begins {
			continue // a lone character, written without a sign
		}
		if written++; written > MaxExpanding {
			w.stands = true
		}
	}
	if written > MaxExpanding {
		p.notes = append(p.notes, fmt.Sprintf("Only the first %d prefixes and words with edits of the query stand for other words; the others were searched as they stand.", MaxExpanding))
	}
	return min(MaxExpansions, maxExpanded/max(1, min(written, MaxExpanding)))
}

// expansions returns what the word w of a query matches in one segment: for a lone character (see
// queryWord.begins) the terms that begin with it, else words of the segment. The parameter words has those
// in the word's set. ofImages is true if the query searches images, and false if it searches pages.
func (g *gathered) expansions(ctx context.Context, part int, words *segment.Words, w *queryWord, ofImages bool) (expansions, error) {
	found := expansions{}
	switch {
	case w.stands:
		found[w.surface] = 1
		return found, nil
	case w.begins:
		if !g.parts[part].begun() {
			return found, nil
		}
		for _, v := range w.variants {
			terms, _, err := g.parts[part].Segment.Prefix(ctx, v.term, maxSeen)
			if err != nil {
				return nil, err
			}
			for _, t := range terms {
				if term, ofImage := segment.CutImageTerm(t.Text); ofImage == ofImages && !segment.IsNameTerm(t.Text) {
					found[term] += uint64(t.Summary.Documents)
				}
			}
		}
		return found, nil
	}
	return found, found.collect(ctx, words, w.like)
}

// setLike sets the field w.like, if w is a prefix or a word with edits.
func (w *queryWord) setLike() (err error) {
	switch {
	case w.stands:
	case w.prefix:
		w.like = segment.Beginning(w.surface)
	case w.edits > 0:
		w.like, err = segment.Near(w.surface, w.edits)
	}
	return err
}

// collect adds the words of a set to e. It stops when e has more than maxSeen words.
func (e expansions) collect(ctx context.Context, words *segment.Words, set segment.WordSet) error {
	var refused error
	err := words.Each(set, func(word []byte, documents uint64) bool {
		if len(e)%256 == 255 {
			refused = effort.Spend(ctx, perFound)
		}
		e[string(word)] = documents
		return refused == nil && len(e) <= maxSeen
	})
	return errors.Join(err, refused)
}

// setVariants sets the terms that are searched for the word w (its variants) if w is such as fox* or foks~.
// The parameter found has the words of the index that match w. The variants are the terms of the best of
// these words: those with the fewest edits, then the most frequent; at most the given number, or maxBegun
// for a lone character. If some words are left out, setVariants adds a note to the plan. It returns the words that are
// searched.
func (p *plan) setVariants(w *queryWord, found expansions, most int) (searched expansions) {
	if w.begins {
		most = maxBegun
	}
	best := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(cmp.Compare(w.like.Edits(a), w.like.Edits(b)), cmp.Compare(found[b], found[a]), cmp.Compare(a, b))
	})
	switch {
	case len(found) > maxSeen:
		p.notes = append(p.notes, fmt.Sprintf("More than %d words begin with %q. Of the first of them in the alphabet, the %d most frequent are searched: write more of its letters.", maxSeen, w.text, most))
	case len(best) > most:
		p.notes = append(p.notes, fmt.Sprintf("%q stands for %d words, of which the %d most frequent are searched: write more of its letters.", w.text, len(best), most))
	}
	searched = make(expansions)
	for _, word := range best[:min(len(best), most)] {
		searched[word] = found[word]
		if w.begins {
			worth := 1.0
			if analysis.IsOutside(word) {
				worth = p.weights.Outside
			}
			if !slices.ContainsFunc(w.variants, func(v variant) bool { return v.term == word }) {
				w.variants = append(w.variants, variant{term: word, worth: worth, rules: math.MaxUint64})
			}
			continue
		}
		worth := 1 / (1 + float64(w.like.Edits(word)))
		if analysed := analysis.Query(word, p.analyzers); len(analysed) > 0 { // a leaf may have sent anything
			p.addAll(w, &analysed[0], worth)
		}
	}
	return searched
}

// isOneTerm reports whether the word is searched by a single term. The term may have two forms: one for
// pages with the word in their main part, and one for pages with the word only outside of it. The index
// stores for each form how many pages have it. Since no page has both, the sum of these two numbers is
// the number of pages with the word.
func (w *queryWord) isOneTerm() bool {
	return len(w.neighbours) == 0 && (len(w.variants) == 1 || len(w.variants) == 2 && w.variants[1].term == analysis.Outside(w.variants[0].term))
}

// addAll adds variants to w: the terms of the analysed word a, under which documents with this word are
// indexed. The rules of each language of the query may give another term, such as another stem. Each term
// has a second form, for pages that have the word only outside of their main part. In scores, a term counts
// by the factor worth, and its second form by worth · Weights.Outside.
func (p *plan) addAll(w *queryWord, a *analysis.Word, worth float64) {
	for n, term := range a.Terms {
		w.add(term, worth, worth*p.weights.Outside, rulesOf(a, n))
	}
}

// rulesOf returns the set of rules of analysis that give the n-th term of the word a (see variant.rules).
func rulesOf(a *analysis.Word, n int) (rules uint64) {
	for r, of := range a.Of {
		if of == n {
			rules |= 1 << r
		}
	}
	return rules
}

// add adds two variants to w: the given term, and a second form of this term, for pages that have the word
// only outside of their main part. The parameters worth and outside are the factors of the term and of its
// second form in scores. The parameter rules has the rules of analysis that give the term (see
// variant.rules). If w has the two variants already, add only adds these rules to them.
func (w *queryWord) add(term string, worth, outside float64, rules uint64) {
	if n := slices.IndexFunc(w.variants, func(v variant) bool { return v.term == term }); n >= 0 {
		w.variants[n].rules |= rules
		w.variants[n+1].rules |= rules
		return
	}
	w.variants = append(w.variants, variant{term: term, worth: worth, rules: rules},
		variant{term: analysis.Outside(term), worth: outside, rules: rules})
}
