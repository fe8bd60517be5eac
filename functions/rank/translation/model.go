package translation

import (
	"cmp"
	"context"
	"slices"
)

// aligned is a pair of sentences that translate each other, as the numbers of their terms in the
// vocabularies of the two languages: ascending, each once.
type aligned struct{ source, target []uint32 }

// empty is the number of the empty word: terms that translate nothing are ascribed to it.
const empty = 0

// model is IBM model 1: for each source term, by its number, the terms that stand in a sentence
// that is aligned with one of its sentences, by ascending number.
type model [][]cell

// cell is a target term in a row of a model.
type cell struct {
	target      uint32
	probability float32 // that the target translates the source
	count       float32 // expected number of sentences in which it does; of the present iteration
}

// newModel returns the model in which all terms of a row are equally probable. The numbers of
// source terms are below the parameter sources.
func newModel(all []aligned, sources int) model {
	m, full := make(model, sources), make([]int, sources)
	for _, a := range all {
		for _, s := range a.source {
			for _, t := range a.target {
				m[s] = append(m[s], cell{target: t})
			}
			if len(m[s]) >= full[s] {
				m[s] = distinct(m[s])
				full[s] = max(64, 2*len(m[s]))
			}
		}
	}
	for s, row := range m {
		m[s] = slices.Clone(distinct(row)) // without the memory of what occurred twice
		for i := range m[s] {
			m[s][i].probability = 1 / float32(len(m[s]))
		}
	}
	return m
}

// distinct returns a row sorted by target, with each target once.
func distinct(row []cell) []cell {
	slices.SortFunc(row, func(a, b cell) int { return cmp.Compare(a.target, b.target) })
	return slices.CompactFunc(row, func(a, b cell) bool { return a.target == b.target })
}

// iterate improves the model by one iteration of EM (Brown 1993, 4.1): each target term of a
// sentence is ascribed to the source terms in proportion to the present probabilities, and the new
// probabilities are the shares of what was ascribed.
func (m model) iterate(ctx context.Context, all []aligned) error {
	var cells []*cell // those of one target term
	for i, a := range all {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for _, t := range a.target {
			cells = cells[:0]
			sum := float32(0)
			for _, s := range a.source {
				c := m.find(s, t)
				cells = append(cells, c)
				sum += c.probability
			}
			if sum == 0 { // all have become too improbable for their numbers
				continue
			}
			for _, c := range cells {
				c.count += c.probability / sum
			}
		}
	}
	for _, row := range m {
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

// find returns the cell of a source and a target term, nil if there is none.
func (m model) find(source, target uint32) *cell {
	row := m[source]
	i, found := slices.BinarySearchFunc(row, target, func(c cell, t uint32) int { return cmp.Compare(c.target, t) })
	if !found {
		return nil
	}
	return &row[i]
}

// train returns the model after the given number of iterations over all pairs of sentences.
func train(ctx context.Context, all []aligned, sources, iterations int) (model, error) {
	m := newModel(all, sources)
	for range iterations {
		if err := m.iterate(ctx, all); err != nil {
			return nil, err
		}
	}
	return m, nil
}
