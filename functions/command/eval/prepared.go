package eval

import (
	"context"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// Prepared is a task whose documents are indexed in memory once, so that its queries can be run
// many times, with different weights of the score.
type Prepared struct {
	index   *search.Index
	queries []asking
}

// Prepare indexes the task's documents, and reads its queries that have a relevant document. If these
// are more than the given number, Prepare takes only that many of them, spread evenly over queries.tsv.
func (t Task) Prepare(ctx context.Context, most int) (*Prepared, error) {
	queries, _, err := readQueries(t.Queries, t.Qrels)
	if err != nil {
		return nil, err
	}
	p := new(Prepared)
	taken := min(most, len(queries))
	for i := range taken {
		q := queries[i*len(queries)/taken]
		p.queries = append(p.queries, asking{q, search.Query{Text: q.Text, Size: recalled}})
	}
	p.index, err = t.index(ctx)
	return p, err
}

// Run runs the queries with the weights w of the score, and returns the mean of each measure.
func (p *Prepared) Run(ctx context.Context, w search.Weights) (Figures, error) {
	report, _, err := ask(ctx, p.index.WithWeights(w), p.queries, 0)
	return report.Figures, err
}
