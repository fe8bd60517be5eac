// Command train trains the models that package mainpart embeds, on judged pages in the form of WCXB
// (Web Content eXtraction Benchmark): DIR/truth.jsonl.gz, one page a line, and
// DIR/pages/ID.html.gz:
//
//	go run ./functions/shared/document/mainpart/train -in DIR -out functions/shared/document/mainpart
//
// With -folds N it cross-validates instead, and writes no models: it divides the sites into N
// parts, and finds the main parts and kinds of the pages of each part by models that were trained
// on the other parts. It prints, by kind of page, the mean F1 of the words of the main parts, and
// how many kinds are right. The same pages give the same models. Training takes half a minute of
// processor time, with -folds 5 a minute and a half.
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

// Options for training. The first two are for the models that find the main part of a page. The
// first model scores the blocks of the page. The second model scores them again, with the first
// scores among its features. Both learn from blocks. The third options are for the models that find
// the kind of a page, such as article or forum. These learn from whole pages, of which there are
// far fewer than blocks.
var (
	forFirst  = options{trees: 80, depth: 4, rate: .15, penalty: 1, least: .05, tried: .3, steepest: .2, others: .1}
	forSecond = options{trees: 120, depth: 4, rate: .1, penalty: 1, least: .05, tried: .3, steepest: .2, others: .1}
	forKinds  = options{trees: 40, depth: 2, rate: .2, penalty: 1, least: 2, tried: .4, steepest: .5, others: .5}
)

// scored is the number of parts into which train divides the pages. The pages of each part are
// scored by a first model that is trained on the other parts. The second model is trained with
// these scores.
const scored = 5

func main() {
	in := flag.String("in", "", "directory of judged pages")
	out := flag.String("out", "", "directory of the models")
	folds := flag.Int("folds", 0, "parts of the cross-validation; 0: train on all pages")
	flag.Parse()
	pages, err := load(*in)
	if err != nil {
		log.Fatal(err)
	}
	prepare(pages)
	if *folds > 1 {
		validate(pages, *folds)
		return
	}
	for name, models := range map[string][]*mainpart.Model{"weights.bin": train(pages), "kinds.bin": trainKinds(pages)} {
		if err := os.WriteFile(filepath.Join(*out, name), mainpart.EncodeModels(models), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// train returns the two models of main parts. The second model learns from scores that a first
// model has given. In use, the first model scores pages on which it was not trained. So it must be
// the same in training: the scores of a page come from a first model that was trained without the
// pages of its site.
func train(pages []*judged) []*mainpart.Model {
	first := func(p *judged) *mainpart.Features { return &p.features }
	second := func(p *judged) *mainpart.Features { return &p.second }
	for part := range scored {
		rest, tested := divide(pages, scored, part)
		m := boost(gather(rest, first), forFirst)
		for _, p := range tested {
			p.second = p.features.WithScores(m.Score(&p.features))
		}
	}
	return []*mainpart.Model{boost(gather(pages, first), forFirst), boost(gather(pages, second), forSecond)}
}

// trainKinds trains a model for each of mainpart.Kinds, the kinds of pages such as article. The model
// gives a high score to pages of this kind.
func trainKinds(pages []*judged) (models []*mainpart.Model) {
	for _, kind := range mainpart.Kinds {
		models = append(models, boost(gatherKinds(pages, kind), forKinds))
	}
	return models
}

// divide divides pages into parts, so that all pages of a site are in the same part. It returns the
// pages of the part with the given number (from 0), on which models are tested, and the rest, on
// which they are trained.
func divide(pages []*judged, parts, part int) (rest, tested []*judged) {
	sites := map[string]int{}
	for _, p := range pages {
		if _, known := sites[p.site]; !known {
			sites[p.site] = len(sites)
		}
		if sites[p.site]%parts == part {
			tested = append(tested, p)
		} else {
			rest = append(rest, p)
		}
	}
	return rest, tested
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

// result holds sums over the pages of one kind, or over all pages: the number of pages, the F1 of
// their main parts, and the number of pages for which the models have found the right kind.
type result struct{ pages, f1, right float64 }

// validate cross-validates the models. It divides the pages into the given number of parts (folds).
// For each part it trains models on the pages of the other parts, and tests them on the pages of
// this part. It prints the results of all pages.
func validate(pages []*judged, folds int) {
	results := map[mainpart.Kind]result{}
	for fold := range folds {
		rest, tested := divide(pages, folds, fold)
		kinds, models := trainKinds(rest), train(rest)
		models, err := mainpart.DecodeModels(mainpart.EncodeModels(models), len(models))
		if err != nil {
			log.Fatal(err)
		}
		for _, p := range tested {
			f, right := p.score(mainpart.FindBy(models, &p.features)), 0.0
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
