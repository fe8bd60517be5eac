package search

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// numberAlternatives gives the alternatives numbers after those of all terms, and their variants in the words of the
// plan the same numbers.
func (g *gathered) numberAlternatives(p *plan) {
	g.alternatives = p.alternatives
	for i, a := range p.alternatives {
		for _, w := range p.words {
			for n := range w.variants {
				if v := &w.variants[n]; v.alternative == a {
					v.number, v.named = len(g.names)+i, -1
				}
			}
		}
	}
}

// addAlternatives appends to the terms of a part the terms of the alternatives: each with a posting list of
// the documents that have its words next to each other. Anchors have none, since their positions are not
// read.
func (g *gathered) addAlternatives(ctx context.Context, part int) error {
	for range g.alternatives {
		if g.terms[part] != nil {
			g.terms[part] = append(g.terms[part], nil)
		}
		if g.anchors[part] != nil {
			g.anchors[part] = append(g.anchors[part], nil)
		}
	}
	if g.terms[part] == nil || g.parts[part].Unvisited {
		return nil
	}
	for i, a := range g.alternatives {
		docs := g.holding(part, a.queryPhrase)
		if len(docs) == 0 {
			continue
		}
		found, err := g.occurrences(ctx, part, docs, []*queryPhrase{a.queryPhrase})
		if err != nil {
			return err
		}
		var encoder postings.Encoder
		var positions []uint32 // nobody reads them: all are 0
		for n, doc := range docs {
			of := &found[n][0]
			times := 0
			for _, freq := range of.freq {
				times += int(freq)
			}
			if times > 0 {
				positions = slices.Grow(positions[:0], times)[:times]
				encoder.Add(postings.Posting{Doc: doc, Freq: of.freq, Length: of.length}, positions)
			}
		}
		if encoder.Documents() == 0 {
			continue
		}
		content, _ := encoder.Append(nil, nil)
		list, err := postings.Open(content)
		if err != nil {
			return err
		}
		g.terms[part][len(g.names)+i] = &segment.Term{Text: a.name, Summary: list.Summary(), List: list}
	}
	return nil
}

// holding returns the documents of a part that have all words of a phrase, in ascending order.
func (g *gathered) holding(part int, ph *queryPhrase) (docs []uint32) {
	lists := make([]cursor, len(ph.words))
	for i, w := range ph.words {
		lists[i].reset()
		for _, v := range w.variants {
			if entry := g.terms[part][v.number]; entry != nil {
				l := listCursor{last: -1}
				l.it.Reset(entry.List)
				l.doc = l.it.Next()
				lists[i].lists = append(lists[i].lists, l)
				lists[i].doc = min(lists[i].doc, l.doc)
			}
		}
	}
	for doc := uint32(0); ; {
		next := doc
		for i := range lists {
			next = max(next, lists[i].advance(next))
		}
		switch {
		case next == postings.NoMore:
			return docs
		case next == doc && lists[0].doc == doc:
			docs = append(docs, doc)
			doc++
		default:
			doc = next
		}
	}
}
