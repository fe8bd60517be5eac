package segment

import (
	"context"
	"fmt"

	"github.com/blugelabs/bluge/search"
)

// MaxHits is how deep into a result a query may reach.
const MaxHits = 10_000

// Query asks for hits From to From+Size of a text's result.
type Query struct {
	Text       string // see the package's documentation
	From, Size int
}

// Result is what a query found.
type Result struct {
	Total int  // matching documents
	Exact bool // whether Total is exact
	Hits  []Hit
}

// Hit is a document that matches, without its body.
type Hit struct {
	Document
	Score       float64
	MarkedTitle []Fragment // the title, its matches marked
	Snippet     []Fragment // a part of the body, its matches marked
}

// Search returns the documents that match, the highest score first, equal
// scores in the order of identities. It stops with ctx's error when ctx ends.
func (ix *Index) Search(ctx context.Context, q Query) (Result, error) {
	if q.From < 0 || q.Size < 0 || q.From > MaxHits-min(q.Size, MaxHits) || q.Size > MaxHits {
		return Result{}, fmt.Errorf("cannot return %d hits from %d: ask within the first %d", q.Size, q.From, MaxHits)
	}
	a := ix.analyzers.Get().(*analyzer)
	defer ix.analyzers.Put(a)
	parsed := parse(q.Text, a)
	plan := newPlan(ix)
	searcher, err := plan.searcher(parsed)
	if err != nil {
		return Result{}, fmt.Errorf("cannot search %q: %w", q.Text, err)
	}
	result := Result{Exact: true}
	if searcher == nil {
		return result, ctx.Err()
	}
	top := newTop(ix, q.From+q.Size)
	if result.Total, err = collect(ctx, searcher, top); err != nil {
		return Result{}, fmt.Errorf("cannot search %q: %w", q.Text, err)
	}
	marker := newMarker(a, parsed.words, func(word string) float64 { return plan.weights[word] })
	for _, found := range top.from(q.From) {
		hit, err := ix.hit(found, marker)
		if err != nil {
			return Result{}, fmt.Errorf("cannot search %q: %w", q.Text, err)
		}
		result.Hits = append(result.Hits, hit)
	}
	return result, ctx.Err()
}

// collect offers all matches to top and counts them.
func collect(ctx context.Context, searcher search.Searcher, top *top) (total int, err error) {
	defer searcher.Close()
	matches := search.NewSearchContext(searcher.DocumentMatchPoolSize(), 0)
	for {
		if total%256 == 0 && ctx.Err() != nil {
			return total, ctx.Err()
		}
		match, err := searcher.Next(matches)
		if match == nil || err != nil {
			return total, err
		}
		total++
		top.offer(match.Number, match.Score)
		matches.DocumentMatchPool.Put(match)
	}
}

func (ix *Index) hit(found found, m *marker) (Hit, error) {
	n, doc := ix.locate(found.number)
	d, err := ix.segments[n].document(doc)
	if err != nil {
		return Hit{}, err
	}
	hit := Hit{Document: d, Score: found.score, MarkedTitle: m.whole(d.Title), Snippet: m.snippet(d.Body)}
	hit.Body = ""
	return hit, nil
}
