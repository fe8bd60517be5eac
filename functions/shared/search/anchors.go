package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// newAnchorStatistics returns the statistics by which anchors are scored. A segment of anchors has
// them in the field Headings, and the addresses of unvisited URLs in the field Address. The lengths
// of these fields do not change the score, because a page is no less about a word if other links
// use other words.
func newAnchorStatistics(w *Weights) *statistics {
	t := &statistics{weights: w}
	for code := range t.gain[segment.Headings] {
		t.gain[segment.Headings][code] = 1
		t.gain[segment.Address][code] = w.Address
	}
	return t
}

// having returns the terms that tell how many documents have the word w: the terms of the pages'
// texts or, if no text has w, the terms of the anchors. The result is indexed by part and by number
// of the term.
func (g *gathered) having(w *queryWord) [][]*segment.Term {
	if g.inTexts(w) {
		return g.terms
	}
	return g.anchors
}

// inTexts reports whether the text of any page has a word.
func (g *gathered) inTexts(w *queryWord) bool {
	for _, v := range w.variants {
		for part := range g.parts {
			if !g.missing[part] && g.terms[part][v.number] != nil {
				return true
			}
		}
	}
	return false
}

// inAnchors reports whether the anchors of any page have a word.
func (g *gathered) inAnchors(w *queryWord) bool {
	for _, v := range w.variants {
		for part := range g.parts {
			if g.anchor(part, v.number) != nil {
				return true
			}
		}
	}
	return false
}

// inNames reports whether the name of any page's site has a word.
func (g *gathered) inNames(w *queryWord) bool {
	for _, v := range w.variants {
		for part := range g.parts {
			if v.named >= 0 && !g.missing[part] && g.terms[part][v.named] != nil {
				return true
			}
		}
	}
	return false
}

// anchor returns the term with the given number, its index in g.names, as it is in the anchors of a
// part. The result is nil if the anchors lack the term or the part has no anchors.
func (g *gathered) anchor(part, number int) *segment.Term {
	if g.missing[part] || g.anchors[part] == nil {
		return nil
	}
	return g.anchors[part][number]
}

// namesIn returns the anchors of an unvisited URL, each once, as one text.
func namesIn(d *segment.Document) string {
	return strings.Join(slices.Compact(slices.Clone(d.Headings)), " · ")
}

// explainAnchors explains the part of a word's score that comes from the anchors of a page. l is
// the posting list of the word in anchors, at the page, and weight is the weight of the word there.
func explainAnchors(l *listCursor, weight float64) Explanation {
	freq, length, _ := l.it.Payload()
	return Explanation{
		What:  fmt.Sprintf("in anchors of links × %g: %d times", l.anchors.weights.Anchors, freq[segment.Headings]+freq[segment.Address]),
		Value: l.anchors.bm25f(weight, freq, length),
	}
}
