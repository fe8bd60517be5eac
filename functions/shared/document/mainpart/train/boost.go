package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/mainpart"
)

// options are the parameters of training: how many trees are grown, and how.
type options struct {
	trees, depth int
	rate         float64
	penalty      float64 // penalty on large leaves (L2 regularisation)
	least        float64 // least sum of the second derivatives of the loss that each side of a split must have
	tried        float64 // share of the features that a tree may use
	steepest     float64 // share of all blocks that a tree grows on for their large gradients (see sample)
	// share of all blocks that a tree grows on besides those with large gradients; they are chosen
	// at random from the rest (see sample)
	others float64
}

// blocks are the blocks of many pages, with their features, targets and weights for training.
type blocks struct {
	columns        [][]uint8 // columns[f][b] is the value of feature f for block b
	target, weight []float32
}

// gather returns the blocks of all pages that are fit for training (see teaches). It leaves out
// blocks without words. The function featuresOf returns the features of a page's blocks.
func gather(pages []*judged, featuresOf func(*judged) *mainpart.Features) *blocks {
	all := &blocks{columns: make([][]uint8, featuresOf(pages[0]).Width)}
	for _, p := range pages {
		if !p.teaches() {
			continue
		}
		weights, features := p.weights(), featuresOf(p)
		for i := range p.words {
			if len(p.words[i]) == 0 {
				continue
			}
			for f, value := range features.Row(i) {
				all.columns[f] = append(all.columns[f], value)
			}
			all.target = append(all.target, p.labels[i])
			all.weight = append(all.weight, weights[i])
		}
	}
	return all
}

// gatherKinds returns the data to train the model of a kind, with one row for each page instead of
// each block. The features of a row are those of the page as a whole. Its target is 1 for a page of
// the kind, else 0.
func gatherKinds(pages []*judged, kind mainpart.Kind) *blocks {
	all := &blocks{columns: make([][]uint8, len(pages[0].whole))}
	for _, p := range pages {
		for f, value := range p.whole {
			all.columns[f] = append(all.columns[f], value)
		}
		target := float32(0)
		if p.kind == kind {
			target = 1
		}
		all.target, all.weight = append(all.target, target), append(all.weight, 1)
	}
	return all
}

// boost trains a model. It adds one tree after another. Each tree corrects the trees before it, by
// the gradient and curvature of the logarithmic loss (Friedman 2001; Chen, Guestrin, XGBoost,
// 2016). A tree grows on a sample of the blocks: all blocks with large gradients, and some of the
// others (Ke and others, LightGBM, 2017, section 3).
func boost(all *blocks, o options) *mainpart.Model {
	n := len(all.target)
	random := rand.New(rand.NewPCG(1, 1))
	score, g := make([]float32, n), gradients{make([]float32, n), make([]float32, n)}
	model := &mainpart.Model{Depth: o.depth, Width: len(all.columns)}
	for range o.trees {
		for i := range n {
			p := 1 / (1 + math.Exp(-float64(score[i])))
			g.slope[i] = (float32(p) - all.target[i]) * all.weight[i]
			g.curve[i] = float32(p*(1-p)) * all.weight[i]
		}
		t := grower{blocks: all, options: o, gradients: g, nodes: 1<<o.depth - 1}
		for f := range all.columns {
			if random.Float64() < o.tried {
				t.features = append(t.features, f)
			}
		}
		t.tree = mainpart.Tree{Feature: make([]uint8, t.nodes), Threshold: make([]uint8, t.nodes), Leaf: make([]float32, t.nodes+1)}
		rows := g.sample(o, random)
		t.grow(0, rows, t.count(rows))
		t.apply(score)
		model.Trees = append(model.Trees, t.tree)
	}
	return model
}

// gradients are derivatives of the loss of each block by its score: slope has the first
// derivatives, curve the second ones.
type gradients struct{ slope, curve []float32 }

// sample returns the indexes of the blocks on which a tree grows: all blocks with large gradients,
// and a random part of the other blocks. It enlarges the gradients in the random part, so that this
// part stands for all other blocks.
func (g gradients) sample(o options, random *rand.Rand) []int32 {
	size := func(i int) float32 { return max(g.slope[i], -g.slope[i]) }
	var sizes []float32 // of some thousand blocks, enough to tell which are steep
	for i := 0; i < len(g.slope); i += 1 + len(g.slope)/8192 {
		sizes = append(sizes, size(i))
	}
	slices.Sort(sizes)
	steep := sizes[int(float64(len(sizes)-1)*(1-o.steepest))]
	chance := o.others / (1 - o.steepest)
	var rows []int32
	for i := range g.slope {
		switch {
		case size(i) >= steep:
		case random.Float64() < chance:
			g.slope[i] /= float32(chance)
			g.curve[i] /= float32(chance)
		default:
			continue
		}
		rows = append(rows, int32(i))
	}
	return rows
}

type grower struct {
	*blocks
	options
	gradients
	features []int
	tree     mainpart.Tree
	nodes    int
}

// histogram holds sums of the gradients of blocks, by the value of one feature. Element v has the
// sum over the blocks in which the feature has the value v.
type histogram [256]struct{ slope, curve float32 }

// count returns a histogram for each feature of the tree: the sums of the gradients of some blocks,
// by the feature's value. The parameter rows has the indexes of these blocks.
func (t *grower) count(rows []int32) []histogram {
	counted := make([]histogram, len(t.features))
	type gradient struct{ slope, curve float32 }
	pairs := make([]gradient, len(rows))
	for k, i := range rows {
		pairs[k] = gradient{t.slope[i], t.curve[i]}
	}
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			for f := w; f < len(counted); f += workers {
				column, h := t.columns[t.features[f]], &counted[f]
				for k, i := range rows {
					sum := &h[column[i]]
					sum.slope += pairs[k].slope
					sum.curve += pairs[k].curve
				}
			}
		})
	}
	group.Wait()
	return counted
}

// grow makes the subtree below a node. It divides the blocks that reach the node by the best
// feature, and makes a subtree for each of the two parts. At the last level it sets a leaf instead.
// The parameter rows has the indexes of the blocks that reach the node. The parameter counted has a
// histogram of these blocks for each feature of the tree.
func (t *grower) grow(node int, rows []int32, counted []histogram) {
	var slope, curve float64
	for _, i := range rows {
		slope += float64(t.slope[i])
		curve += float64(t.curve[i])
	}
	if node >= t.nodes {
		t.tree.Leaf[node-t.nodes] = float32(-slope / (curve + t.penalty) * t.rate)
		return
	}
	best := split{feature: t.features[0], threshold: math.MaxUint8}
	for f := range counted {
		if s := t.splitBy(&counted[f], slope, curve); s.gain > best.gain {
			best = s
			best.feature = t.features[f]
		}
	}
	t.tree.Feature[node], t.tree.Threshold[node] = uint8(best.feature), best.threshold
	column := t.columns[best.feature]
	var left, right []int32
	for _, i := range rows {
		if column[i] <= best.threshold {
			left = append(left, i)
		} else {
			right = append(right, i)
		}
	}
	if 2*node+1 >= t.nodes {
		t.grow(2*node+1, left, nil)
		t.grow(2*node+2, right, nil)
		return
	}
	// The histograms of the larger side are those of the node minus those of the smaller side.
	if len(left) <= len(right) {
		fewer := t.count(left)
		subtract(counted, fewer)
		t.grow(2*node+1, left, fewer)
		t.grow(2*node+2, right, counted)
	} else {
		fewer := t.count(right)
		subtract(counted, fewer)
		t.grow(2*node+1, left, counted)
		t.grow(2*node+2, right, fewer)
	}
}

func subtract(from, what []histogram) {
	for f := range from {
		for value := range from[f] {
			from[f][value].slope -= what[f][value].slope
			from[f][value].curve -= what[f][value].curve
		}
	}
}

// apply adds the values of the finished tree to the scores of all blocks.
func (t *grower) apply(score []float32) {
	for i := range score {
		node := 0
		for node < t.nodes {
			if t.columns[t.tree.Feature[node]][i] <= t.tree.Threshold[node] {
				node = 2*node + 1
			} else {
				node = 2*node + 2
			}
		}
		score[i] += t.tree.Leaf[node-t.nodes]
	}
}

type split struct {
	feature   int
	threshold uint8
	gain      float64
}

// splitBy returns the best split of a node's blocks by one feature, which is the split that reduces
// the loss most. The parameter counted is the histogram of this feature over the blocks. The
// parameters slope and curve are sums over the blocks: of the first and of the second derivatives
// of the loss. If no split reduces the loss, the gain of the result is 0. The caller must set the
// field feature of the result.
func (t *grower) splitBy(counted *histogram, slope, curve float64) split {
	best := split{gain: 1e-6}
	found := false
	var left, leftCurve float64
	for value := range math.MaxUint8 {
		left += float64(counted[value].slope)
		leftCurve += float64(counted[value].curve)
		right, rightCurve := slope-left, curve-leftCurve
		if leftCurve < t.least || rightCurve < t.least {
			continue
		}
		gain := left*left/(leftCurve+t.penalty) + right*right/(rightCurve+t.penalty) - slope*slope/(curve+t.penalty)
		if gain > best.gain {
			best.threshold, best.gain, found = uint8(value), gain, true
		}
	}
	if !found {
		best.gain = 0
	}
	return best
}
