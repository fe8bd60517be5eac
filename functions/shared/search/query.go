package search

import (
	"fmt"
	"time"
)

// MaxHits is how deep into a result a query may reach.
const MaxHits = 10_000

// Query asks for hits From to From+Size of a text's result. Filters may stand
// here and in the text; values of one filter are joined by OR, filters by AND.
type Query struct {
	Text       string // see the package's documentation
	From, Size int

	Site, Lang, Collection, Type []string
	After, Before                time.Time // fetched at After or later, before Before; zero: whenever

	Facets   []string  // of Facets: count the matches by these
	Explain  bool      // say how each score came about
	Deadline time.Time // after which what was found is returned; zero: none but ctx's
}

// The names of the facets, and of the filters in a query's text.
const (
	Site       = "site"
	Lang       = "lang"
	Collection = "collection"
	Type       = "type"
)

func (q *Query) check() error {
	if q.From < 0 || q.Size < 0 || q.From > MaxHits-min(q.Size, MaxHits) || q.Size > MaxHits {
		return &Refusal{fmt.Sprintf("cannot return %d hits from %d: ask within the first %d", q.Size, q.From, MaxHits)}
	}
	for _, name := range q.Facets {
		switch name {
		case Site, Lang, Collection, Type:
		default:
			return &Refusal{fmt.Sprintf("cannot count by %q: facets are %s, %s, %s and %s", name, Site, Lang, Collection, Type)}
		}
	}
	return nil
}

// Refusal is the error of a query that is wrong or too dear: a sentence that
// says what to do instead.
type Refusal struct{ Sentence string }

func (r *Refusal) Error() string { return r.Sentence }
