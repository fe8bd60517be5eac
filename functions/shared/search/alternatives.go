package search

import (
	"context"
	"errors"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// maxHolding is the greatest number of documents, in all segments together, in which the positions of an
// alternative's words are read. Each segment has an equal share, at least leastHolding.
const (
	maxHolding   = 1 << 14
	leastHolding = 256
)

// numberAlternatives numbers the alternatives (synonyms of several words, such as high availability): each gets a
// number above those of all terms. The variants that stand for an alternative in the words of the plan get the
// same number.
func (g *gathered) numberAlternatives(p *plan) {
	g.alternatives = p.alternatives
	for i, a := range p.alternatives {
		for _, w := range p.words {
			for n := range w.variants {
				if v := &w.variants[n]; v.alternative == a {
					v.number, v.named, v.defined = len(g.names)+i, -1, -1
				}
			}
		}
	}
}

// addAlternatives appends one entry for each alternative (synonym of several words) to g.terms[part]. The entry
// has a posting list of the documents in which the words of the alternative stand next to each other. The entry
// is nil if there are no such documents. The entries in g.anchors[part] are always nil: the positions of words
// in anchors (texts of links) are not read, so nothing says whether words stand together there.
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
		if most := max(leastHolding, maxHolding/len(g.parts)); len(docs) > most {
			docs = docs[:most]
			g.cutAlternatives.Store(true)
		}
		found, err := g.occurrences(ctx, part, docs, []*queryPhrase{a.queryPhrase}, nil)
		if errors.Is(err, context.DeadlineExceeded) { // the other terms of the part are read
			g.cutAlternatives.Store(true)
			continue
		}
		if err != nil {
			return err
		}
		var encoder postings.Encoder
		var positions []uint32 // all 0: nothing reads the positions of an alternative
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
		list, err := postings.Open(content, nil)
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
