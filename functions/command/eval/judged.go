package eval

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Errors which mean that there is nothing to measure. ErrUnjudged: judges have marked no page as an
// answer to any query. ErrUnclicked: readers have clicked on no result of any query often enough.
var (
	ErrUnjudged  = errors.New("no query of the bucket is judged; judges mark results on the search page (see bucketsearch up --help)")
	ErrUnclicked = fmt.Errorf("no result of any query has %d clicks; readers' clicks are counted on the search page (see bucketsearch up --help)", judgment.LeastClicks)
)

// RunJudged runs the queries that judges have judged (see package judgment) with the given Searcher,
// and measures the answers by the judges' grades. It runs each query with its filters as the search
// page does: alike pages are one result, and at most two of the first ten results are of one site.
// Judgments of forgotten pages do not count.
func RunJudged(ctx context.Context, bucket blob.Reader, forgotten *takedown.Set, asked Searcher) (Report, error) {
	all, unread, err := judgment.All(ctx, bucket, forgotten)
	if err != nil {
		return Report{}, err
	}
	var queries []graded
	for _, j := range all {
		queries = append(queries, graded{j.Query, j.Grades()})
	}
	return replay(ctx, asked, queries, unread, ErrUnjudged)
}

// RunClicked is like RunJudged, with readers' clicks in place of judgments. It runs the queries for
// which readers have clicked results, and measures the answers by the grades that follow from the
// clicks (see judgment.Clicked).
func RunClicked(ctx context.Context, bucket blob.Reader, forgotten *takedown.Set, asked Searcher) (Report, error) {
	all, few, unread, err := judgment.AllClicks(ctx, bucket, forgotten)
	if err != nil {
		return Report{}, err
	}
	var queries []graded
	for _, c := range all {
		queries = append(queries, graded{c.Query, c.Grades()})
	}
	report, err := replay(ctx, asked, queries, unread, ErrUnclicked)
	report.FewClicks = few
	return report, err
}

// graded is a query with the grades of pages, by URL.
type graded struct {
	query  judgment.Query
	grades map[string]int
}

// replay runs the queries as the search page does, and measures the answers by the grades. If no query
// has a page with a grade above 0, it returns the error that the caller passes as the last parameter.
// The parameter unread has an error for each object with judgments or clicks that could not be read.
// The report gets only the number of these errors.
func replay(ctx context.Context, asked Searcher, queries []graded, unread []error, nothing error) (Report, error) {
	var asks []asking
	unjudged := 0
	for _, g := range queries {
		q := g.query
		if !slices.ContainsFunc(slices.Collect(maps.Values(g.grades)), func(grade int) bool { return grade > 0 }) {
			unjudged++
			continue
		}
		asks = append(asks, asking{Query{q.Hash(), q.Text, g.grades}, search.Query{
			Text: q.Text, Size: recalled, Fold: true, Spread: true,
			Site: q.Site, Lang: q.Lang, Collection: q.Collection, Type: q.Type, After: q.After, Before: q.Before,
		}})
	}
	if len(asks) == 0 {
		return Report{}, nothing
	}
	report, answers, err := ask(ctx, asked, asks, unjudged)
	if err != nil {
		return Report{}, err
	}
	report.Unread = len(unread)
	share := judgedShare(asks, answers)
	report.Judged = &share
	return report, nil
}

// judgedShare returns the number of results that have a grade, divided by the number of all results.
// Of each query it counts only the first 10 results (see the constant cumulated). It returns 0 if
// there are no results.
func judgedShare(asks []asking, answers [][]string) float64 {
	judged, shown := 0, 0
	for i, q := range asks {
		for _, address := range answers[i][:min(len(answers[i]), cumulated)] {
			if _, found := q.Grades[address]; found {
				judged++
			}
			shown++
		}
	}
	if shown == 0 {
		return 0
	}
	return float64(judged) / float64(shown)
}
