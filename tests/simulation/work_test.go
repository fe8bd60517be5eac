package simulation

import (
	"fmt"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
)

// work counts requests and created objects, repetitions included.
type work struct {
	requests, packages, segments, merges, books int

	batch int // maximum number of requests for one batch, with robots.txt
}

// built counts an object that a function has created, or found to exist already.
func (w *work) built(function, key string) {
	switch {
	case strings.HasPrefix(key, layout.Packages):
		w.packages++
	case strings.HasPrefix(key, layout.Segments) && function == task.Merge:
		w.merges++
	case strings.HasPrefix(key, layout.Segments):
		w.segments++
	case strings.HasPrefix(key, layout.Books):
		w.books++
	}
}

// taken returns the work of the world so far, without the work that the operator ordered.
func (w *world) taken() work {
	taken := w.work
	taken.segments -= w.ordered.segments
	taken.merges -= w.ordered.merges
	for _, n := range w.web.asked {
		taken.requests += n
	}
	return taken
}

// beyond returns by how much each number exceeds that of calm; 0 if it is not higher. There may
// be fewer packages, which were made later and hold more pages.
func (w work) beyond(calm work) work {
	return work{
		requests: max(0, w.requests-calm.requests), packages: max(0, w.packages-calm.packages),
		segments: max(0, w.segments-calm.segments), merges: max(0, w.merges-calm.merges), books: max(0, w.books-calm.books),
	}
}

// within reports whether no number exceeds that of most.
func (w work) within(most work) bool { return w.beyond(most) == work{} }

// String returns the numbers as a text.
func (w work) String() string {
	return fmt.Sprintf("%d requests, %d packages, %d segments, %d merges, %d books", w.requests, w.packages, w.segments, w.merges, w.books)
}

// times returns the work with all numbers multiplied by n.
func (w work) times(n int) work {
	return work{requests: n * w.requests, packages: n * w.packages, segments: n * w.segments, merges: n * w.merges, books: n * w.books}
}

// plus returns the sum of two works.
func (w work) plus(other work) work {
	return work{
		requests: w.requests + other.requests, packages: w.packages + other.packages,
		segments: w.segments + other.segments, merges: w.merges + other.merges, books: w.books + other.books,
	}
}
