package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Kind says what is wrong.
type Kind string

// The kinds of problems.
const (
	Missing     Kind = "missing"     // it is named and not there
	Damaged     Kind = "damaged"     // it is there, and not what was written
	Unaccounted Kind = "unaccounted" // it is there, and nothing names it
	Double      Kind = "double"      // it is there more than once
	Behind      Kind = "behind"      // it should be gone, or should have come, by now
	Stale       Kind = "stale"       // it is searched, and the page is no more
	Lost        Kind = "lost"        // it proves that generations are lost which listed what is there
	Foreign     Kind = "foreign"     // it is there, and nobody here has written it
)

// Problem is one thing that is wrong.
type Problem struct {
	Kind      Kind             `json:"kind"`
	Partition layout.Partition `json:"partition"`
	Key       string           `json:"key,omitempty"`    // of the object
	Offset    int64            `json:"offset,omitempty"` // of the page in the package that is the object
	URL       string           `json:"url,omitempty"`    // of the page, or of what has no object
	Detail    string           `json:"detail"`           // what is said of them
}

// String returns one clear sentence.
func (p Problem) String() string {
	subject := make([]string, 0, 2)
	if p.URL != "" {
		subject = append(subject, p.URL)
	}
	if p.Key != "" {
		key := p.Key
		if p.Offset > 0 {
			key = fmt.Sprintf("%s at byte %d", key, p.Offset)
		}
		subject = append(subject, key)
	}
	if len(subject) == 0 {
		subject = append(subject, "partition "+p.Partition.String())
	}
	return strings.Join(subject, " in ") + " " + p.Detail
}

// compare orders problems by where they are.
func (p Problem) compare(q Problem) int {
	return cmp.Or(
		cmp.Compare(p.Partition, q.Partition),
		cmp.Compare(p.Key, q.Key),
		cmp.Compare(p.Offset, q.Offset),
		cmp.Compare(p.URL, q.URL),
		cmp.Compare(p.Kind, q.Kind),
		cmp.Compare(p.Detail, q.Detail),
	)
}

// MaxProblems is how many problems a report tells; the rest are counted.
const MaxProblems = 10_000

// problems gathers what is wrong. It is safe for concurrent use.
type problems struct {
	mu    sync.Mutex // protects the fields below
	first []Problem
	more  int
}

func (c *problems) add(p Problem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.first) == MaxProblems {
		c.more++
		return
	}
	c.first = append(c.first, p)
}

func (c *problems) sorted() []Problem {
	slices.SortFunc(c.first, Problem.compare)
	return c.first
}
