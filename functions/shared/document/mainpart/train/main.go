// Command train trains the models that package mainpart embeds, on judged pages in
// the form of WCXB (Web Content eXtraction Benchmark): DIR/truth.jsonl.gz, one page
// a line, and DIR/pages/ID.html.gz:
//
//	go run ./functions/shared/document/mainpart/train -in DIR -out functions/shared/document/mainpart
//
// With -folds it trains on all pages but one part, finds the main parts and kinds of
// the pages of that part, and prints the mean F1 of the words of the main parts, and
// how many kinds are right, by kind of page; nothing is written. The same pages give
// the same models. It takes a minute.
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/linkeddata"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/mainpart"
)

// forKinds are the options for training the models of kinds, for which there are few examples.
var forKinds = options{trees: 40, depth: 2, rate: .2, penalty: 1, least: 2, tried: .4, steepest: .5, others: .5}

func main() {
	in := flag.String("in", "", "directory of judged pages")
	out := flag.String("out", "", "directory of the models")
	folds := flag.Int("folds", 0, "parts of the cross-validation; 0: train on all pages")
	trees := flag.Int("trees", 80, "number of trees")
	depth := flag.Int("depth", 4, "their depth")
	rate := flag.Float64("rate", .15, "share of a tree's correction that is applied")
	flag.Parse()
	pages, err := load(*in)
	if err != nil {
		log.Fatal(err)
	}
	prepare(pages)
	o := options{trees: *trees, depth: *depth, rate: *rate, penalty: 1, least: .05, tried: .3, steepest: .2, others: .1}
	if *folds > 1 {
		validate(pages, *folds, o)
		return
	}
	parts, kinds := train(pages, o)
	for name, encoded := range map[string][]byte{"weights.bin": parts.Encode(), "kinds.bin": mainpart.EncodeKinds(kinds)} {
		if err := os.WriteFile(filepath.Join(*out, name), encoded, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// train returns the model of main parts, and the models of kinds, one for each of mainpart.Kinds.
func train(pages []*judged, o options) (parts *mainpart.Model, kinds []*mainpart.Model) {
	for _, kind := range mainpart.Kinds {
		kinds = append(kinds, boost(gatherKinds(pages, kind), forKinds))
	}
	return boost(gather(pages), o), kinds
}

// prepare computes labels and features of all pages.
func prepare(pages []*judged) {
	var group sync.WaitGroup
	free := make(chan bool, runtime.GOMAXPROCS(0))
	for _, p := range pages {
		group.Go(func() {
			free <- true
			p.label()
			data := linkeddata.Read(p.page.Data...)
			p.features, p.whole = mainpart.Compute(p.page, data), mainpart.PageFeatures(p.page, data)
			<-free
		})
	}
	group.Wait()
}

// result is a sum over pages of one kind: their number, the F1 of their main parts, and how many
// of the kinds were found right.
type result struct{ pages, f1, right float64 }

// validate cross-validates: for each of folds parts of the pages, it trains a model on the other
// parts, and prints the results of the model on this part.
func validate(pages []*judged, folds int, o options) {
	results := map[mainpart.Kind]result{}
	for fold := range folds {
		var rest []*judged
		for i, p := range pages {
			if i%folds != fold {
				rest = append(rest, p)
			}
		}
		parts, kinds := train(rest, o)
		parts, err := mainpart.Decode(parts.Encode())
		if err != nil {
			log.Fatal(err)
		}
		for i, p := range pages {
			if i%folds != fold {
				continue
			}
			f, right := p.score(p.features.Choose(parts.Score(&p.features))), 0.0
			if mainpart.Likeliest(kinds, p.whole) == p.kind {
				right = 1
			}
			for _, kind := range []mainpart.Kind{p.kind, "all"} {
				r := results[kind]
				results[kind] = result{r.pages + 1, r.f1 + f, r.right + right}
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(results)) {
		r := results[kind]
		fmt.Printf("%-14s %4.0f pages  F1 %.3f  kind right %.2f\n", kind, r.pages, r.f1/r.pages, r.right/r.pages)
	}
}

// score returns the F1 of the words of the kept blocks, compared with the main part that a person
// marked.
func (p *judged) score(keep []bool) float64 {
	var got []string
	for i := range p.words {
		if keep[i] {
			got = append(got, p.words[i]...)
		}
	}
	return f1(got, p.truth)
}
