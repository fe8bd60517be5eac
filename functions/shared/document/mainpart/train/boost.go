package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/mainpart"
)

type options struct {
	trees, depth int
	rate         float64
	penalty      float64 // of large leaves
	least        float64 // weight on either side of a split
	tried        float64 // share of the features that a tree may use
}

// blocks are the blocks of many pages, for training.
type blocks struct {
	columns        [][]uint8 // by feature
	target, weight []float32
}

func gather(pages []*judged) *blocks {
	all := &blocks{}
	for _, p := range pages {
		weights := p.weights()
		if all.columns == nil {
			all.columns = make([][]uint8, p.features.Width)
		}
		for i := range p.words {
			if len(p.words[i]) == 0 || p.features.Copies[i] {
				continue
			}
			for f, value := range p.features.Row(i) {
				all.columns[f] = append(all.columns[f], value)
			}
			all.target = append(all.target, p.labels[i])
			all.weight = append(all.weight, weights[i])
		}
	}
	return all
}

// boost adds tree after tree, each of which corrects those before it, by the
// gradient and curvature of the logarithmic loss (Friedman 2001; Chen, Guestrin,
// XGBoost, 2016).
func boost(all *blocks, o options) *mainpart.Model {
	n := len(all.target)
	random := rand.New(rand.NewPCG(1, 1))
	score, g := make([]float32, n), gradients{make([]float32, n), make([]float32, n)}
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	model := &mainpart.Model{Depth: o.depth, Width: len(all.columns)}
	for range o.trees {
		for i := range n {
			p := 1 / (1 + math.Exp(-float64(score[i])))
			g.slope[i] = (float32(p) - all.target[i]) * all.weight[i]
			g.curve[i] = float32(p*(1-p)) * all.weight[i]
		}
		var features []int
		for f := range all.columns {
			if random.Float64() < o.tried {
				features = append(features, f)
			}
		}
		t := grower{blocks: all, options: o, gradients: g, features: features, score: score}
		t.nodes = 1<<o.depth - 1
		t.tree = mainpart.Tree{Feature: make([]uint8, t.nodes), Threshold: make([]uint8, t.nodes), Leaf: make([]float32, t.nodes+1)}
		t.grow(0, rows)
		model.Trees = append(model.Trees, t.tree)
	}
	return model
}

// gradients are the first and second derivative of each block's loss.
type gradients struct{ slope, curve []float32 }

type grower struct {
	*blocks
	options
	gradients
	features []int
	score    []float32
	tree     mainpart.Tree
	nodes    int
}

// grow splits the rows of a node, or makes them a leaf.
func (t *grower) grow(node int, rows []int32) {
	var slope, curve float64
	for _, i := range rows {
		slope += float64(t.slope[i])
		curve += float64(t.curve[i])
	}
	if node >= t.nodes {
		leaf := float32(-slope / (curve + t.penalty) * t.rate)
		t.tree.Leaf[node-t.nodes] = leaf
		for _, i := range rows {
			t.score[i] += leaf
		}
		return
	}
	s := t.bestSplit(rows, slope, curve)
	t.tree.Feature[node], t.tree.Threshold[node] = uint8(s.feature), s.threshold
	column := t.columns[s.feature]
	var left, right []int32
	for _, i := range rows {
		if column[i] <= s.threshold {
			left = append(left, i)
		} else {
			right = append(right, i)
		}
	}
	t.grow(2*node+1, left)
	t.grow(2*node+2, right)
}

type split struct {
	feature   int
	threshold uint8
	gain      float64
}

// bestSplit returns the split that reduces the loss most; without any, one that
// leaves all rows on the left.
func (t *grower) bestSplit(rows []int32, slope, curve float64) split {
	found := make([]split, len(t.features))
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			for k := w; k < len(t.features); k += workers {
				found[k] = t.splitBy(t.features[k], rows, slope, curve)
			}
		})
	}
	group.Wait()
	best := split{threshold: math.MaxUint8}
	for _, s := range found {
		if s.gain > best.gain {
			best = s
		}
	}
	return best
}

func (t *grower) splitBy(feature int, rows []int32, slope, curve float64) split {
	var slopes, curves [256]float32
	column := t.columns[feature]
	for _, i := range rows {
		slopes[column[i]] += t.slope[i]
		curves[column[i]] += t.curve[i]
	}
	best := split{feature: feature, threshold: math.MaxUint8, gain: 1e-6}
	var left, leftCurve float64
	for value := range math.MaxUint8 {
		left += float64(slopes[value])
		leftCurve += float64(curves[value])
		right, rightCurve := slope-left, curve-leftCurve
		if leftCurve < t.least || rightCurve < t.least {
			continue
		}
		gain := left*left/(leftCurve+t.penalty) + right*right/(rightCurve+t.penalty) - slope*slope/(curve+t.penalty)
		if gain > best.gain {
			best.threshold, best.gain = uint8(value), gain
		}
	}
	if best.threshold == math.MaxUint8 {
		best.gain = 0
	}
	return best
}
