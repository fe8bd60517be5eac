package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/command/eval"
	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/local/system"
)

func evalCommand(where *location) *cobra.Command {
	var task eval.Task
	var before, save, weights string
	var asJSON, judged, clicked bool
	tell := func(cmd *cobra.Command, report eval.Report) error {
		if save != "" {
			content, err := reply.Marshal(report, false)
			if err != nil {
				return err
			}
			if err := os.WriteFile(save, content, 0o644); err != nil {
				return err
			}
		}
		out := cmd.OutOrStdout()
		if before == "" {
			if asJSON {
				return printJSON(out, report)
			}
			return printFigures(out, report, nil)
		}
		comparison, err := compare(report, before)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(out, struct {
				eval.Report
				Comparison eval.Comparison `json:"comparison"`
			}{report, comparison})
		}
		return printFigures(out, report, &comparison)
	}
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure the ranking by judged queries",
		Long: "Eval asks queries whose answers are known and prints how well they were found. The\n" +
			"documents are those of --docs, indexed in memory, or else those of the bucket, which\n" +
			"qrels then names by their addresses.\n\n" +
			"  docs     JSON Lines: {\"id\": \"184\", \"title\": \"…\", \"text\": \"…\"}\n" +
			"  queries  number, tab, text\n" +
			"  qrels    number of the query, tab, id of the document, tab, gain from 0\n\n" +
			"With --judged the queries are those that judges have judged on the search page (see\n" +
			"bucketsearch up --help), asked of the bucket as the page asks them. Of several\n" +
			"judgments of a judge the last counts, of several judges their mean. A page without a\n" +
			"judgment counts as no answer; judged@10 is the share of the first ten results that\n" +
			"have one, and where it falls, the figures do so, too.\n\n" +
			"With --clicked they are those with results that readers have clicked three times or\n" +
			"more. A page that was clicked more often than all above it has grade 2, any other\n" +
			"grade 1. Clicks tell what readers tried, not what answered them.",
		Example: "  bucketsearch eval --docs docs.jsonl --queries queries.tsv --qrels qrels.tsv\n" +
			"  bucketsearch eval --queries queries.tsv --qrels qrels.tsv --save monday.json\n" +
			"  bucketsearch eval --queries queries.tsv --qrels qrels.tsv --before monday.json\n" +
			"  bucketsearch eval --judged --save monday.json\n" +
			"  bucketsearch eval --clicked",
		Args: nothing,
		RunE: func(cmd *cobra.Command, args []string) error {
			if weights != "" {
				var err error
				if task.Weights, err = readWeights(weights); err != nil {
					return misuse(err)
				}
			}
			switch {
			case judged && clicked:
				return misuse(errors.New("--judged and --clicked measure by different people; run one after the other"))
			case (judged || clicked) && task.Queries+task.Qrels+task.Docs+strings.Join(task.Among, "") != "":
				return misuse(errors.New("--judged and --clicked take queries and judgments from the bucket; leave out --queries, --qrels, --docs and --among"))
			case judged || clicked:
			case task.Queries == "" || task.Qrels == "":
				return misuse(errors.New("eval needs --queries and --qrels, or --judged or --clicked"))
			case task.Docs == "" && len(task.Among) > 0:
				return misuse(errors.New("--among names documents beside those of --docs, which is not given"))
			case task.Docs != "":
				report, err := task.Run(cmd.Context(), nil)
				if err != nil {
					return err
				}
				return tell(cmd, report)
			}
			return where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
				e, err := openEngine(a)
				if err != nil {
					return err
				}
				e.Weights = task.Weights
				report, err := askBucket(cmd.Context(), a, e, task, judged, clicked)
				if err != nil {
					return err
				}
				return tell(cmd, report)
			})(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&task.Docs, "docs", "", "`file` of documents; without it the bucket is asked")
	flags.StringArrayVar(&task.Among, "among", nil, "`file` of more documents in the same index, none of which is an\nanswer; may be repeated")
	flags.StringVar(&task.Queries, "queries", "", "`file` of queries")
	flags.StringVar(&task.Qrels, "qrels", "", "`file` of judgments")
	flags.BoolVar(&judged, "judged", false, "ask what was judged on the search page")
	flags.BoolVar(&clicked, "clicked", false, "ask what was clicked on the search page")
	flags.StringVar(&weights, "weights", "", "`file` of other weights of scores, in the form of\nfunctions/shared/search/weights.json")
	flags.StringVar(&save, "save", "", "write the figures of every query to this `file`")
	flags.StringVar(&before, "before", "", "compare, query by query, with the figures that --save wrote to\nthis `file`")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// readWeights reads a file with the weights in the formulas of search scores. Its form is that of
// functions/shared/search/weights.json.
func readWeights(path string) (*search.Weights, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	w, err := search.ParseWeights(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &w, nil
}

// askBucket runs queries on the bucket and reports how well the results match what people found
// good. If clicked is true, the queries and the people's opinions come from the clicks in the
// bucket. Otherwise, if judged is true, they come from the judgments in the bucket. If both are
// false, they come from the task.
func askBucket(ctx context.Context, a *system.Attached, e *engine.Engine, task eval.Task, judged, clicked bool) (eval.Report, error) {
	if !judged && !clicked {
		return task.Run(ctx, bucketSearcher{e})
	}
	inForce, err := a.Settings.Get(ctx)
	if err != nil {
		return eval.Report{}, err
	}
	measure := eval.RunJudged
	if clicked {
		measure = eval.RunClicked
	}
	return measure(ctx, a.Bucket, &inForce.Takedowns, bucketSearcher{e})
}

// bucketSearcher is an eval.Searcher that searches the index of a bucket.
type bucketSearcher struct{ *engine.Engine }

// Search implements eval.Searcher.
func (b bucketSearcher) Search(ctx context.Context, q search.Query) (search.Result, error) {
	found, err := b.Engine.Search(ctx, engine.Query{Query: q})
	return found.Result, err
}

// compare compares a report with an earlier report, which the command eval wrote to the file at the
// path because of its flag --save.
func compare(report eval.Report, path string) (eval.Comparison, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return eval.Comparison{}, err
	}
	var before eval.Report
	if err := json.Unmarshal(content, &before); err != nil {
		return eval.Comparison{}, fmt.Errorf("%s was not written by --save: %w", path, err)
	}
	return report.Compare(before), nil
}

func printFigures(out io.Writer, r eval.Report, c *eval.Comparison) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	heading, row := "\tnDCG@10\tMAP\trecall@100\tMRR", func(name string, f, interval eval.Figures, form string) {
		fmt.Fprint(w, name)
		for _, v := range [][2]float64{{f.NDCG, interval.NDCG}, {f.MAP, interval.MAP}, {f.Recall, interval.Recall}, {f.MRR, interval.MRR}} {
			fmt.Fprintf(w, "\t"+form+" ± %.4f", v[0], v[1])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, heading)
	row(count(r.Queries, "query"), r.Figures, r.Interval, "%.4f")
	if c != nil {
		row("difference", c.Difference, c.Interval, "%+.4f")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if c != nil {
		fmt.Fprintf(out, "%d better, %d worse, %d the same, by nDCG@10\n", c.Better, c.Worse, c.Same)
	}
	if r.Judged != nil {
		fmt.Fprintf(out, "judged@10 %.2f\n", *r.Judged)
	}
	if r.Unread > 0 {
		fmt.Fprintf(out, "judgments or clicks are missing: %s cannot be read; to see why: bucketsearch verify\n", count(r.Unread, "object"))
	}
	if r.FewClicks > 0 {
		fmt.Fprintf(out, "%s with too few clicks not used\n", count(r.FewClicks, "result"))
	}
	if r.Unjudged > 0 {
		fmt.Fprintf(out, "%s without an answer not asked\n", count(r.Unjudged, "query"))
	}
	return nil
}
