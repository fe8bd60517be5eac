package segment

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// found is a match of a query.
type found struct {
	number uint64 // of the document in the index
	score  float64
	id     layout.Identity
}

// compare orders the better match first.
func (f found) compare(other found) int {
	return cmp.Or(cmp.Compare(other.score, f.score), f.id.Compare(other.id))
}

// top keeps the best matches in a heap, the worst on top.
type top struct {
	ix      *Index
	size    int
	matches []found
}

func newTop(ix *Index, size int) *top { return &top{ix: ix, size: size} }

// offer keeps a match if it is among the best so far.
func (t *top) offer(number uint64, score float64) {
	if t.size == 0 || len(t.matches) == t.size && score < t.matches[0].score {
		return
	}
	n, doc := t.ix.locate(number)
	f := found{number: number, score: score, id: t.ix.segments[n].Identity(doc)}
	if len(t.matches) < t.size {
		heap.Push(t, f)
	} else if f.compare(t.matches[0]) < 0 {
		t.matches[0] = f
		heap.Fix(t, 0)
	}
}

// from returns the matches after the first skip, best first. It ends the use
// of the heap.
func (t *top) from(skip int) []found {
	slices.SortFunc(t.matches, found.compare)
	return t.matches[min(skip, len(t.matches)):]
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (t *top) Len() int           { return len(t.matches) }
func (t *top) Less(i, j int) bool { return t.matches[i].compare(t.matches[j]) > 0 }
func (t *top) Swap(i, j int)      { t.matches[i], t.matches[j] = t.matches[j], t.matches[i] }
func (t *top) Push(x any)         { t.matches = append(t.matches, x.(found)) }

func (t *top) Pop() any {
	last := t.matches[len(t.matches)-1]
	t.matches = t.matches[:len(t.matches)-1]
	return last
}
