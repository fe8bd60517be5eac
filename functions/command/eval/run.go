package eval

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/language"
)

// Task is one evaluation with queries and judgments in files. RunJudged and RunClicked evaluate with
// the judgments and clicks in the bucket.
type Task struct {
	Docs    string   // path of the documents, docs.jsonl; "": the queries are run on the bucket
	Among   []string // paths of further files of documents; these are indexed, too, but answer no query
	Queries string   // path of queries.tsv
	Qrels   string   // path of qrels.tsv, the relevance judgments

	// Languages into which the queries are translated. If there are any, only documents in these
	// languages are found.
	Across search.Across

	// weights of the parts of a document's score; nil for the standard ones. They are ignored if the
	// queries are run on the bucket.
	Weights *search.Weights
}

// Report is the result of an evaluation. Its JSON begins with the means of the figures:
//
//	{"ndcg@10": 0.43, "map": 0.45, "recall@100": 0.77, "mrr": 0.82, "queries": 225, …}
type Report struct {
	Figures     // means over all queries
	Queries int `json:"queries"`
	Unread  int `json:"unread,omitempty"` // number of objects with judgments or clicks that could not be read
	// share of the first 10 results that have a grade; nil if the judgments are in a file
	Judged    *float64  `json:"judged_at_10,omitempty"`
	FewClicks int       `json:"few_clicks,omitempty"` // number of pairs (query, page) left out for too few clicks
	Unjudged  int       `json:"unjudged"`             // number of queries without a relevant document in the judgments; they are not run
	Interval  Figures   `json:"interval"`             // half the width of the 95 % confidence interval of each mean
	Each      []Outcome `json:"each"`                 // results of the queries, in the order of queries.tsv
}

// Outcome is the result of an evaluation for one query.
type Outcome struct {
	ID      string  `json:"id"`
	Text    string  `json:"text"`
	Figures Figures `json:"figures"`
}

// Searcher answers queries: an index in memory, or a bucket.
type Searcher interface {
	Search(ctx context.Context, q search.Query) (search.Result, error)
}

// Run runs all queries and measures the answers. If Docs is set, it searches an index that it
// builds of these documents; if Docs is empty, it searches the bucket.
func (t Task) Run(ctx context.Context, bucket Searcher) (Report, error) {
	queries, unjudged, err := readQueries(t.Queries, t.Qrels)
	if err != nil {
		return Report{}, err
	}
	asked := bucket
	if t.Docs != "" {
		built, err := t.index(ctx)
		if err != nil {
			return Report{}, err
		}
		if t.Weights != nil {
			built = built.WithWeights(*t.Weights)
		}
		asked = built
	}
	asks := make([]asking, len(queries))
	for i, q := range queries {
		asks[i] = asking{q, search.Query{Text: q.Text, Size: recalled, Across: t.Across, Lang: t.Across.Into}}
	}
	report, _, err := ask(ctx, asked, asks, unjudged)
	return report, err
}

// asking is a query with its grades, and with the search that is to be run for it (the field how).
// The search has the query's text. If the query was asked on the search page, it also has the
// filters that were set there.
type asking struct {
	Query
	how search.Query
}

// ask runs the given queries and measures the answers. It returns a report and, in answers[i], the
// addresses of the pages found for queries[i], the best first. If a hit stands for several alike
// pages, the method judged chooses one address. There may be further queries that are not run,
// because nothing is judged for them. The parameter unjudged is their number, for the report.
func ask(ctx context.Context, asked Searcher, queries []asking, unjudged int) (report Report, answers [][]string, err error) {
	answers = make([][]string, len(queries))
	report = Report{Queries: len(queries), Unjudged: unjudged, Each: make([]Outcome, len(queries))}
	all := make([]Figures, len(queries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, q := range queries {
		group.Go(func() error {
			found, err := asked.Search(ctx, q.how)
			if err != nil {
				return fmt.Errorf("query %s: %w", q.ID, err)
			}
			for _, hit := range found.Hits {
				answers[i] = append(answers[i], q.judged(hit))
			}
			all[i] = measure(answers[i], q.Grades)
			report.Each[i] = Outcome{q.ID, q.Query.Text, all[i]}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return Report{}, nil, err
	}
	report.Figures, report.Interval = mean(all)
	return report, answers, nil
}

// judged returns the address under which a hit is graded. A hit stands for its own page and for
// alike pages. Of their addresses, judged returns the one with the highest grade in q.Grades. If
// none has a grade, it returns the address of the hit's own page.
func (q Query) judged(hit search.Hit) string {
	address := hit.URL
	best, found := q.Grades[address]
	for _, other := range hit.Alike {
		if grade, is := q.Grades[other]; is && (!found || grade > best) {
			address, best, found = other, grade, true
		}
	}
	return address
}

// segmentSize is the greatest number of documents of one segment of the index. A larger collection
// has several segments. The search then sums statistics over the segments, as it does in a bucket.
const segmentSize = 20_000

// index builds an index of the task's documents in memory.
func (t Task) index(ctx context.Context) (*search.Index, error) {
	var parts []search.Part
	var pages []*segments.Page
	build := func() error {
		if len(pages) == 0 {
			return nil
		}
		content, err := segments.Build(pages)
		if err != nil {
			return err
		}
		built, err := segment.OpenBytes(content)
		parts, pages = append(parts, search.Part{Segment: built}), nil
		return err
	}
	for number, path := range slices.Concat([]string{t.Docs}, t.Among) {
		err := eachDocument(path, func(d Document) error {
			if number > 0 { // a document of Among may have the same id as one of Docs
				d.ID = fmt.Sprintf("%d %s", number, d.ID)
			}
			if pages = append(pages, pageOf(d)); len(pages) < segmentSize {
				return ctx.Err()
			}
			return build()
		})
		if err != nil {
			return nil, err
		}
	}
	if err := build(); err != nil {
		return nil, err
	}
	return search.New(parts, nil)
}

// pageOf returns a document in the form in which the index function indexes a page.
func pageOf(d Document) *segments.Page {
	code, source := language.Decide(d.Title+"\n"+d.Text, d.Lang)
	print := fingerprint.Of(d.Title, d.Text)
	return &segments.Page{Document: segment.Document{
		ID: layout.IdentityOf(d.ID), Version: layout.Version{Epoch: 1, Token: 1}, URL: d.ID, Title: strings.TrimSpace(d.Title), Body: d.Text, Lang: code, LangSource: string(source),
		MIME: "text/plain", TitleHash: print.TitleHash, TextHash: print.TextHash, Simhash: print.Simhash, Sketch: print.Sketch,
	}}
}

// Comparison compares an evaluation with an earlier one, by the queries that both have run.
type Comparison struct {
	Better int `json:"better"` // number of queries with a greater nDCG than in the earlier evaluation
	Worse  int `json:"worse"`  // number of queries with a smaller nDCG than in the earlier evaluation
	Same   int `json:"same"`
	// mean of the figures of this evaluation minus the mean of the earlier one
	Difference Figures `json:"difference"`
	Interval   Figures `json:"interval"` // half the widths of the 95 % confidence intervals of Difference
}

// Compare compares this evaluation with an earlier one, query by query. Queries that only one of
// the two ran do not count.
func (r Report) Compare(before Report) Comparison {
	earlier := make(map[string]Figures, len(before.Each))
	for _, o := range before.Each {
		earlier[o.ID] = o.Figures
	}
	var c Comparison
	var differences []Figures
	for _, o := range r.Each {
		was, known := earlier[o.ID]
		if !known {
			continue
		}
		const least = 1e-6 // smaller differences count as none: stored figures are rounded to six digits
		difference := o.Figures
		each([]*Figures{&difference, &was}, func(v []*float64) { *v[0] -= *v[1] })
		differences = append(differences, difference)
		switch {
		case difference.NDCG > least:
			c.Better++
		case difference.NDCG < -least:
			c.Worse++
		default:
			c.Same++
		}
	}
	c.Difference, c.Interval = mean(differences)
	return c
}
