// Train fits the weights of scores to judged queries, by coordinate ascent (Metzler and Croft,
// Linear Feature-Based Models for Information Retrieval, 2007). It raises and lowers one weight
// after another, and keeps a change that makes the mean nDCG@10 greater. When no change does, it
// halves the step. If it is run again with the same collections, it finds the same weights. If there
// are several collections, the queries of each are measured twice: on an index of the collection's
// own documents, and on an index of the documents of all collections.
//
//	go run ./functions/command/eval/train -out weights.json DIR...
//
// Each DIR has the files docs.jsonl, queries.tsv and qrels.tsv (see package eval). The program
// prints the figures before and after. Its weights are a proposal: they may raise the figures of the
// given collections and lower those of others. So measure them on other collections, by bucketsearch
// eval --weights, and only then put them into functions/shared/search/weights.json.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/command/eval"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

const (
	firstStep = 0.4  // the first steps multiply a weight by 1 + firstStep, or divide it by that
	lastStep  = 0.1  // the last steps multiply a weight by 1 + lastStep, or divide it by that
	least     = 1e-4 // least rise of the mean nDCG@10 for which a changed weight is kept
)

func main() {
	out := flag.String("out", "", "file to which the weights are written; without it they are printed")
	most := flag.Int("queries", 120, "greatest number of queries of a collection")
	flag.Parse()
	if err := run(context.Background(), flag.Args(), *most, *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dirs []string, most int, out string) error {
	if len(dirs) == 0 {
		return fmt.Errorf("name the directories of judged collections")
	}
	all, err := open(ctx, dirs, most)
	if err != nil {
		return err
	}
	weights := search.Standard()
	before, err := all.figures(ctx, weights)
	if err != nil {
		return err
	}
	after, err := all.climb(ctx, &weights)
	if err != nil {
		return err
	}
	for i, name := range all.names {
		fmt.Printf("%-30s %.4f → %.4f\n", name, before[i], after[i])
	}
	fmt.Printf("%-30s %.4f → %.4f\n", "mean", mean(before), mean(after))
	content, err := json.MarshalIndent(weights, "", "  ")
	if err != nil {
		return err
	}
	if out == "" {
		fmt.Println(string(content))
		return nil
	}
	return os.WriteFile(out, append(content, '\n'), 0o644)
}

// collections are judged collections, ready to be evaluated: names[i] is the name of tasks[i]. If
// there are several collections, each has two tasks. The first searches an index of the
// collection's own documents, the second an index of the documents of all collections.
type collections struct {
	names []string
	tasks []*eval.Prepared
}

func open(ctx context.Context, dirs []string, most int) (all collections, err error) {
	add := func(name string, t eval.Task) error {
		p, err := t.Prepare(ctx, most)
		all.names, all.tasks = append(all.names, name), append(all.tasks, p)
		return err
	}
	for i, dir := range dirs {
		file := func(name string) string { return filepath.Join(dir, name) }
		alone := eval.Task{Docs: file("docs.jsonl"), Queries: file("queries.tsv"), Qrels: file("qrels.tsv")}
		if err := add(filepath.Base(dir), alone); err != nil {
			return all, err
		}
		if len(dirs) == 1 {
			continue
		}
		for _, other := range slices.Delete(slices.Clone(dirs), i, i+1) {
			alone.Among = append(alone.Among, filepath.Join(other, "docs.jsonl"))
		}
		if err := add(filepath.Base(dir)+" among all", alone); err != nil {
			return all, err
		}
	}
	return all, nil
}

// figures returns the mean nDCG@10 of each element of c, with the weights w of the score.
func (c collections) figures(ctx context.Context, w search.Weights) ([]float64, error) {
	var figures []float64
	for _, t := range c.tasks {
		f, err := t.Run(ctx, w)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f.NDCG)
	}
	return figures, nil
}

// climb tries a greater and a smaller value of each of the weights w, in rounds. It keeps a value
// that raises the mean of the figures. After a round without such a value it makes smaller steps,
// and ends when they are smaller than lastStep. It changes w, and returns the figures of the final
// weights.
func (c collections) climb(ctx context.Context, w *search.Weights) ([]float64, error) {
	best, err := c.figures(ctx, *w)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(w.All()))
	for step := firstStep; step >= lastStep; {
		rose := false
		for _, name := range names {
			for _, factor := range []float64{1 + step, 1 / (1 + step)} {
				tried := *w
				*tried.All()[name] *= factor
				if tried.Check() != nil {
					continue
				}
				figures, err := c.figures(ctx, tried)
				if err != nil {
					return nil, err
				}
				if mean(figures) > mean(best)+least {
					fmt.Fprintf(os.Stderr, "%s %.4g: %.4f\n", name, *tried.All()[name], mean(figures))
					*w, best, rose = tried, figures, true
					break
				}
			}
		}
		if !rose {
			step /= 2
		}
	}
	return best, nil
}

func mean(figures []float64) (sum float64) {
	for _, f := range figures {
		sum += f
	}
	return sum / float64(len(figures))
}
