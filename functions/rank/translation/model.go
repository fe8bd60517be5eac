package translation

import (
	"cmp"
	"context"
	"slices"
)

// aligned is a pair of sentences that translate each other. A sentence is given as a set of terms: a
// sorted list of different numbers. The number of a term is its index in the vocabulary of the
// sentence's language.
type aligned struct{ source, target []uint32 }

// empty is the number of the empty word of IBM model 1, which is added to every source sentence.
// Some words of a target sentence translate no word of the source sentence. The model then counts
// them as translations of the empty word.
const empty = 0

// model is IBM model 1: it has the probabilities with which terms of the target language translate
// terms of the source language. model[s] is the row of the source term with the number s. The row
// has a cell, with the probability, for each target term that occurs in a translation of a sentence
// with s. The cells are sorted by the number of the target term.
type model [][]cell

// cell is a target term in a row of a model, with its probability.
type cell struct {
	target      uint32
	probability float32 // probability that the target translates the row's source term
}

// find returns the probability that a target term translates a source term. The terms are given by
// their numbers. The probability is 0 if no aligned pair of sentences has both terms.
func (m model) find(source, target uint32) float32 {
	row := m[source]
	i, found := slices.BinarySearchFunc(row, target, func(c cell, t uint32) int { return cmp.Compare(c.target, t) })
	if !found {
		return 0
	}
	return row[i].probability
}

// training is a model of translations while it is trained. It has a cell for each source term and
// each target term that occur in the same aligned pair of sentences. The row of a source term
// consists of its cells.
type training struct {
	all     []aligned
	targets []uint32 // target term of each cell, by the number of the cell
	rows    []int    // index in cells at which the row of each source term begins; the last element is len(cells)
	cells   []estimate
	// Numbers of cells, in the order in which an iteration visits the cells:
	//
	//	for each aligned pair of sentences,
	//		for each target term of the pair,
	//			for each source term of the pair:
	//				the number of the cell of these two terms
	at []uint32
}

// estimate is the state of one cell while the model is trained. A cell is a pair of a source term
// and one of its possible translations.
type estimate struct {
	probability float32 // probability that the target translates the source
	// expected number of sentences in which the target translates the source, as counted in this
	// iteration
	count float32
}

// newTraining returns the state before the first iteration. A source term has one cell for each
// target term with which it occurs in an aligned pair of sentences. At first, all cells of a source
// term have the same probability. The parameters sources and targets are the sizes of the two
// vocabularies. Terms are given by their numbers in these vocabularies, counted from 0.
func newTraining(all []aligned, sources, targets int) *training {
	type place struct{ pair, source int32 } // a source in the list of a pair
	places, first, size := make([][]place, sources), make([]int, len(all)), 0
	for i, a := range all {
		first[i] = size
		size += len(a.source) * len(a.target)
		for n, s := range a.source {
			places[s] = append(places[s], place{int32(i), int32(n)})
		}
	}
	t := &training{all: all, rows: make([]int, 1, sources+1), at: make([]uint32, size)}
	known := make([]uint32, targets) // by target: 1 more than the number of its last cell
	for _, row := range places {
		begin := len(t.targets)
		for _, p := range row {
			a := &all[p.pair]
			for n, target := range a.target {
				if int(known[target]) <= begin {
					t.targets = append(t.targets, target)
					known[target] = uint32(len(t.targets))
				}
				t.at[first[p.pair]+n*len(a.source)+int(p.source)] = known[target] - 1
			}
		}
		t.rows = append(t.rows, len(t.targets))
	}
	t.cells = make([]estimate, len(t.targets))
	for row := range t.eachRow {
		for i := range row {
			row[i].probability = 1 / float32(len(row))
		}
	}
	return t
}

// eachRow yields the cells of each row: all target terms for one source term.
func (t *training) eachRow(yield func([]estimate) bool) {
	for s := range len(t.rows) - 1 {
		if !yield(t.cells[t.rows[s]:t.rows[s+1]]) {
			return
		}
	}
}

// iterate improves the model by one iteration of EM (Brown 1993, 4.1). With p(t|s), the present
// probability that the target term t translates the source term s:
//
//	c(s, t)      = sum over all aligned pairs of sentences with both terms:
//	               p(t|s) / (sum of p(t|r) over all source terms r of the pair)
//	new p(t|s)   = c(s, t) / (sum of c(s, u) over all target terms u)
func (t *training) iterate(ctx context.Context) error {
	at := t.at
	for i, a := range t.all {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for range a.target {
			sum := float32(0)
			for _, c := range at[:len(a.source)] {
				sum += t.cells[c].probability
			}
			if sum > 0 { // else all have become too improbable for their numbers
				for _, c := range at[:len(a.source)] {
					t.cells[c].count += t.cells[c].probability / sum
				}
			}
			at = at[len(a.source):]
		}
	}
	for row := range t.eachRow {
		sum := 0.0
		for i := range row {
			sum += float64(row[i].count)
		}
		for i := range row {
			if sum > 0 {
				row[i].probability = float32(float64(row[i].count) / sum)
			}
			row[i].count = 0
		}
	}
	return nil
}

// model returns the model with the present probabilities.
func (t *training) model() model {
	m := make(model, 0, len(t.rows)-1)
	cells := make([]cell, len(t.cells))
	for i, target := range t.targets {
		cells[i] = cell{target, t.cells[i].probability}
	}
	for s := range len(t.rows) - 1 {
		row := cells[t.rows[s]:t.rows[s+1]]
		slices.SortFunc(row, func(a, b cell) int { return cmp.Compare(a.target, b.target) })
		m = append(m, row)
	}
	return m
}

// train returns the model that results from the given number of iterations over all pairs of
// sentences. The parameters sources and targets are the sizes of the two vocabularies. Terms are given
// by their numbers in these vocabularies, counted from 0.
func train(ctx context.Context, all []aligned, sources, targets, iterations int) (model, error) {
	t := newTraining(all, sources, targets)
	for range iterations {
		if err := t.iterate(ctx); err != nil {
			return nil, err
		}
	}
	return t.model(), nil
}
