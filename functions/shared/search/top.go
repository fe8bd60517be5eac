package search

import (
	"cmp"
	"slices"
)

// found is a match of a query.
type found struct {
	score float64 // at most, while phrases have not been looked for
	words float64 // the part of the score that words make
	near  float64 // at most, for words next to each other
	part  int32   // of the index
	doc   uint32
}

// top keeps the best matches, and all that tie with the worst of them.
type top struct {
	size int
	best []found // a heap of at most size, the worst first
	ties []found // that score as the worst, when best is full
}

func (t *top) reset(size int) { t.size, t.best, t.ties = size, t.best[:0], t.ties[:0] }

// least returns what a match must score to be kept; below 0 while all are.
func (t *top) least() float64 {
	switch {
	case len(t.best) < t.size:
		return -1
	case t.size == 0:
		return maxScore
	}
	return t.best[0].score
}

const maxScore = 1e300

// offer keeps a match if it is among the best so far.
func (t *top) offer(f found) {
	if len(t.best) < t.size {
		t.best = append(t.best, f)
		t.up(len(t.best) - 1)
		return
	}
	if t.size == 0 || f.score < t.best[0].score {
		return
	}
	if f.score == t.best[0].score {
		t.ties = append(t.ties, f)
		return
	}
	out := t.best[0]
	t.best[0] = f
	t.down()
	if t.best[0].score == out.score {
		t.ties = append(t.ties, out)
	} else {
		t.ties = t.ties[:0]
	}
}

func (t *top) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if t.best[parent].score <= t.best[i].score {
			return
		}
		t.best[parent], t.best[i] = t.best[i], t.best[parent]
		i = parent
	}
}

func (t *top) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(t.best) {
			return
		}
		if child+1 < len(t.best) && t.best[child+1].score < t.best[child].score {
			child++
		}
		if t.best[i].score <= t.best[child].score {
			return
		}
		t.best[i], t.best[child] = t.best[child], t.best[i]
		i = child
	}
}

// sorted returns the best matches and what ties with the worst of them, the
// highest score first. It ends the use of the heap.
func (t *top) sorted() []found {
	t.best = append(t.best, t.ties...)
	slices.SortFunc(t.best, byScore)
	return t.best
}

// byScore orders the better match first, and equal ones by their place.
func byScore(a, b found) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.part, b.part), cmp.Compare(a.doc, b.doc))
}
