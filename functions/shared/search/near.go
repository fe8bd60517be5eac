package search

import "slices"

// maxNearest is how many matches are looked at again if they score as the last
// of the nearest.
const maxNearest = 2 * nearest

// addNear gives the best matches the bonus of words that stand next to each
// other, and sorts them again. These are the nearest and all that score as the
// last of them, so that it does not matter which is called the last; when those
// are too many, none of them.
func (s *search) addNear(ctx deadline, best []found) error {
	n := len(best)
	if n > nearest {
		least := best[nearest-1].score
		n = nearest + behindScore(best[nearest:], func(score float64) bool { return score < least })
		if n > maxNearest {
			n = behindScore(best, func(score float64) bool { return score <= least })
		}
	}
	best = best[:n]
	if n == 0 || s.query.Size == 0 {
		return nil
	}
	// Those that reach no page up to this one even with the bonus may go without.
	least := best[min(n, s.query.From+s.query.Size)-1].score
	var may []found
	var places []int
	for i, f := range best {
		if f.near > 0 && f.score+f.near >= least {
			may = append(may, f)
			places = append(places, i)
		}
	}
	if len(may) == 0 {
		return nil
	}
	found, err := s.occurring(ctx, may, []*phrase{s.plan.near})
	if err != nil {
		return err
	}
	for i, n := range places {
		if found[i] != nil {
			best[n].score += s.ix.totals.bm25(s.plan.near.weight, &found[i][0].freq, &found[i][0].length)
		}
	}
	slices.SortFunc(best, byScore)
	return nil
}

// behindScore returns how many matches come before the first whose score is
// behind.
func behindScore(best []found, behind func(score float64) bool) int {
	if n := slices.IndexFunc(best, func(f found) bool { return behind(f.score) }); n >= 0 {
		return n
	}
	return len(best)
}
