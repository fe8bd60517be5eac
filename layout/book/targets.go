package book

import (
	"context"
	"iter"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Target is what links that differ in no more than source, words and region
// say of the URL to which they lead.
type Target struct {
	URL                  string
	ID                   layout.Identity
	Place                layout.Place
	Kind                 Kind
	Depth                uint16
	Hops                 uint8
	Weight               uint8
	Collection, Decision string
	Sources              int // links that say so
}

// Targets yields the links whose targets are in the range without that of
// which there is most, sources and words: many times as fast as Links, in the
// same order. One target may say the same more than once. An error ends the
// sequence.
func (r *Reader) Targets(ctx context.Context, within layout.Range) iter.Seq2[Target, error] {
	return func(yield func(Target, error) bool) {
		for row, err := range r.rows(ctx, false, within) {
			if err != nil {
				yield(Target{}, err)
				return
			}
			l := &row.link
			t := Target{l.Target, row.id, l.Place, l.Kind, l.Depth, l.Hops, l.Weight, l.Collection, l.Decision, row.count}
			if !yield(t, nil) {
				return
			}
		}
	}
}
