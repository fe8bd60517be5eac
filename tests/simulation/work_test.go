package simulation

import (
	"fmt"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
)

// work is what was done, however often.
type work struct {
	requests, packages, segments, merges, books int

	batch int // the most requests for one batch, robots.txt included
}

// built counts an object that a function put, or found to be there already.
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

// taken is the work of the world until now, without what the operator had done
// once more.
func (w *world) taken() work {
	taken := w.work
	taken.segments -= w.ordered.segments
	taken.merges -= w.ordered.merges
	for _, n := range w.web.asked {
		taken.requests += n
	}
	return taken
}

// beyond returns by how much the work is more than another. Packages may also
// be fewer, when they were made later and hold more.
func (w work) beyond(calm work) work {
	return work{
		requests: max(0, w.requests-calm.requests), packages: max(0, w.packages-calm.packages),
		segments: max(0, w.segments-calm.segments), merges: max(0, w.merges-calm.merges), books: max(0, w.books-calm.books),
	}
}

// within reports whether no part is more than that of another.
func (w work) within(most work) bool { return w.beyond(most) == work{} }

// String tells the numbers.
func (w work) String() string {
	return fmt.Sprintf("%d requests, %d packages, %d segments, %d merges, %d books", w.requests, w.packages, w.segments, w.merges, w.books)
}

// times returns n times the work.
func (w work) times(n int) work {
	return work{requests: n * w.requests, packages: n * w.packages, segments: n * w.segments, merges: n * w.merges, books: n * w.books}
}

// plus returns the sum.
func (w work) plus(other work) work {
	return work{
		requests: w.requests + other.requests, packages: w.packages + other.packages,
		segments: w.segments + other.segments, merges: w.merges + other.merges, books: w.books + other.books,
	}
}
