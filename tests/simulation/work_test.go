package simulation

import (
	"fmt"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
)

// work counts requests to sites and created objects by kind, repetitions included.
type work struct {
	requests, packages, segments, merges, books int

	batch int // maximum number of requests for one batch, robots.txt included
}

// built counts an object that a function has created. It also counts an object that existed already
// when a function tried to create it, because the function did the work nevertheless.
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

// taken returns the work that the world (the simulation) has done so far: its numbers of requests
// and created objects. Segments that were made because the operator ordered it do not count.
func (w *world) taken() work {
	taken := w.work
	taken.segments -= w.ordered.segments
	taken.merges -= w.ordered.merges
	for _, n := range w.web.asked {
		taken.requests += n
	}
	return taken
}

// beyond compares w with the work of a run without faults. Each number of the result is the excess
// of w's number over the other run's, or 0 if w's number is not greater. It may be lower because
// faults delay packing, so that fewer packages with more pages are made.
func (w work) beyond(calm work) work {
	return work{
		requests: max(0, w.requests-calm.requests), packages: max(0, w.packages-calm.packages),
		segments: max(0, w.segments-calm.segments), merges: max(0, w.merges-calm.merges), books: max(0, w.books-calm.books),
	}
}

// within reports whether no number of w is greater than the corresponding number of the given
// maximum.
func (w work) within(most work) bool { return w.beyond(most) == work{} }

// String returns the work as a text such as "9 requests, 2 packages, 2 segments, 1 merges, 1 books".
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
