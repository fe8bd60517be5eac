// Command train trains the model that package mainpart embeds, on judged pages in
// the form of WCXB (Web Content eXtraction Benchmark): DIR/truth.jsonl.gz, one page
// a line, and DIR/pages/ID.html.gz:
//
//	go run ./functions/shared/document/mainpart/train -in DIR -out functions/shared/document/mainpart/weights.bin
//
// With -folds it trains on all pages but one part, finds the main parts of that
// part, and prints the mean F1 of their words by kind of page; nothing is written.
// The same pages give the same model. It takes some minutes.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/mainpart"
)

func main() {
	in := flag.String("in", "", "directory of judged pages")
	out := flag.String("out", "", "file of the model")
	folds := flag.Int("folds", 0, "parts of the cross-validation; 0: train on all pages")
	trees := flag.Int("trees", 60, "number of trees")
	depth := flag.Int("depth", 4, "their depth")
	rate := flag.Float64("rate", .2, "share of a tree's correction that is applied")
	flag.Parse()
	pages, err := load(*in)
	if err != nil {
		log.Fatal(err)
	}
	prepare(pages)
	o := options{trees: *trees, depth: *depth, rate: *rate, penalty: 1, least: .05, tried: .3}
	if *folds > 1 {
		validate(pages, *folds, o)
		return
	}
	model := boost(gather(pages), o)
	if err := os.WriteFile(*out, model.Encode(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// prepare computes labels and features of all pages.
func prepare(pages []*judged) {
	var group sync.WaitGroup
	free := make(chan bool, runtime.GOMAXPROCS(0))
	for _, p := range pages {
		group.Go(func() {
			free <- true
			p.label()
			p.features = mainpart.Compute(p.page)
			p.shareLabels()
			<-free
		})
	}
	group.Wait()
}

// validate prints the mean F1 of every part by a model that has not seen it.
func validate(pages []*judged, folds int, o options) {
	sums, counts := map[string]float64{}, map[string]float64{}
	for fold := range folds {
		var rest []*judged
		for i, p := range pages {
			if i%folds != fold {
				rest = append(rest, p)
			}
		}
		model, err := mainpart.Decode(boost(gather(rest), o).Encode())
		if err != nil {
			log.Fatal(err)
		}
		for i, p := range pages {
			if i%folds != fold {
				continue
			}
			f := p.score(p.features.Choose(model.Score(&p.features)))
			for _, kind := range []string{p.kind, "all"} {
				sums[kind] += f
				counts[kind]++
			}
		}
	}
	for _, kind := range slices.Sorted(func(yield func(string) bool) {
		for kind := range sums {
			if !yield(kind) {
				return
			}
		}
	}) {
		fmt.Printf("%-14s %4.0f pages  F1 %.3f\n", kind, counts[kind], sums[kind]/counts[kind])
	}
}

// score returns the F1 of the words of the kept blocks, copies once.
func (p *judged) score(keep []bool) float64 {
	var got []string
	for i := range p.words {
		if keep[i] && !p.features.Copies[i] {
			got = append(got, p.words[i]...)
		}
	}
	return f1(got, p.truth)
}
