package eval

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// ErrUnjudged means that there is nothing to measure: judges have marked no page as an answer to any
// query.
var ErrUnjudged = errors.New("no query of the bucket is judged; judges mark results on the search page (see bucketsearch up --help)")

// RunJudged asks the queries that judges have judged (see package judgment), and measures the
// answers by the judges' grades. It asks each query with its filters as the search page does: alike
// pages are one result, and at most two of the first ten results are of one site. Judgments of
// forgotten pages do not count.
func RunJudged(ctx context.Context, bucket blob.Reader, forgotten *takedown.Set, asked Searcher) (Report, error) {
	all, unread, err := judgment.All(ctx, bucket, forgotten)
	if err != nil {
		return Report{}, err
	}
	var asks []asking
	unjudged := 0
	for _, j := range all {
		q := Query{j.Query.Hash(), j.Query.Text, j.Grades()}
		if !slices.ContainsFunc(slices.Collect(maps.Values(q.Grades)), func(grade int) bool { return grade > 0 }) {
			unjudged++
			continue
		}
		asks = append(asks, asking{q, search.Query{
			Text: j.Query.Text, Size: recalled, Fold: true, Spread: true,
			Site: j.Query.Site, Lang: j.Query.Lang, Collection: j.Query.Collection, Type: j.Query.Type,
			After: j.Query.After, Before: j.Query.Before,
		}})
	}
	if len(asks) == 0 {
		return Report{}, ErrUnjudged
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

// judgedShare returns the share, from 0 to 1, of results that judges have graded for their query,
// over all queries together. Only the first 10 results of each query count (see cumulated). The
// share is 0 if there are no results.
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
