package search

import (
	"context"
	"slices"
)

const (
	// maxCandidates is how many documents that hold the words of phrases are
	// looked at at all, the best ones.
	maxCandidates = 1 << 16
	// verified is how many of them are looked at in one step.
	verified = 1024
)

// verify returns those of the candidates, best first, that hold the phrases
// that they must and none that they must not, as many as are needed.
func (s *search) verify(ctx deadline, candidates []found) ([]found, error) {
	phrases := slices.Concat(s.plan.must, s.plan.never)
	var top top
	top.reset(s.kept())
	count, looked := 0, 0
	for looked < len(candidates) && (looked < s.atLeast() || candidates[looked].score >= top.least()) {
		if ctx.passed(ctx.read) {
			s.result.Partial = true
			break
		}
		batch := candidates[looked:min(len(candidates), max(verified, 4*looked))]
		found, err := s.occurring(ctx, batch, phrases)
		if err != nil {
			return nil, err
		}
		for i, f := range batch {
			if found[i] == nil {
				continue
			}
			if score, match := s.withPhrases(f.words, found[i]); match {
				f.score = score
				top.offer(f)
				count++
				if len(s.query.Facets) > 0 {
					s.see(f.part, f.doc)
				}
			}
		}
		looked += len(batch)
	}
	s.result.Exact = s.result.Exact && looked == len(candidates) && len(candidates) == s.result.Total
	s.result.Total = count
	s.result.Facets = s.facets(float64(len(candidates)) / float64(max(1, looked)))
	return top.sorted(), nil
}

// atLeast returns how many candidates are looked at though they cannot be among
// the best: to count them.
func (s *search) atLeast() int {
	if len(s.query.Facets) > 0 {
		return 8 * verified
	}
	return verified
}

// withPhrases adds the phrases that must occur to the score of the words, and
// reports whether the document matches.
func (s *search) withPhrases(score float64, found []occurrence) (float64, bool) {
	for i := range s.plan.must {
		if found[i].none() {
			return 0, false
		}
		score += s.ix.totals.bm25(s.plan.must[i].weight, &found[i].freq, &found[i].length)
	}
	for i := range s.plan.never {
		if !found[len(s.plan.must)+i].none() {
			return 0, false
		}
	}
	return score, true
}

// occurring looks for phrases in matches, all parts at once; nil where a part
// could not be read in time.
func (s *search) occurring(ctx deadline, matches []found, phrases []*phrase) ([][]occurrence, error) {
	result := make([][]occurrence, len(matches))
	byPart := make([][]int, len(s.parts)) // indexes of matches
	for i, f := range matches {
		byPart[f.part] = append(byPart[f.part], i)
	}
	err := s.each(ctx, func(ctx context.Context, part int) error {
		of := byPart[part]
		if len(of) == 0 {
			return nil
		}
		slices.SortFunc(of, func(a, b int) int { return int(matches[a].doc) - int(matches[b].doc) })
		docs := make([]uint32, len(of))
		for i, n := range of {
			docs[i] = matches[n].doc
		}
		found, err := s.occurrences(ctx, part, docs, phrases)
		if err != nil {
			return err
		}
		for i, n := range of {
			result[n] = found[i]
		}
		return nil
	})
	return result, err
}
