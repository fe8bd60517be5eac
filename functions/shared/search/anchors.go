package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// newAnchorStatistics returns the statistics by which anchors (texts of links to a page) are
// scored. A segment of anchors has the anchors in the field Headings. Of unvisited URLs, it also has the
// addresses in the field Address, and words around the links to mail addresses in the field Body. The lengths of these fields do not change the score. For example, ten
// links with the text "fox" count the same for a page, even if a hundred other links to it have other texts.
func newAnchorStatistics(w *Weights) *statistics {
	t := &statistics{weights: w}
	for f := range t.most {
		for code := range t.most[f] {
			t.most[f][code] = math.MaxUint32
		}
	}
	for code := range t.gain[segment.Headings] {
		t.gain[segment.Headings][code] = 1
		t.gain[segment.Address][code] = w.Address
		t.gain[segment.Body][code] = aroundGain
	}
	return t
}

// aroundGain is the gain (see statistics.gain) of a word around the links to a mail address. The gain
// of a word in the texts of the links is 1.
const aroundGain = 0.25

// anchor returns the term with the given number (an index in g.names) as it is in the anchors (texts
// of links) of a part of the index. The result is nil if these anchors lack the term, or if the part
// has no anchors.
func (g *gathered) anchor(part, number int) *segment.Term {
	if g.missing[part] || g.anchors[part] == nil {
		return nil
	}
	return g.anchors[part][number]
}

// namesIn returns the anchors of an unvisited URL (the texts of links to it) and, of a mail address, the
// words around the links, joined to one text.
func namesIn(d *segment.Document) string {
	texts := slices.Compact(slices.Clone(d.Headings))
	if d.Body != "" {
		texts = append(texts, strings.Split(d.Body, "\n")...)
	}
	return strings.Join(texts, " · ")
}

// explainAnchors explains the part of a word's score that comes from the anchors of a page. l is
// the posting list of the word in anchors, advanced to the page. weight is the weight of the word in
// anchors.
func explainAnchors(l *listCursor, weight float64) Explanation {
	freq, length, _ := l.it.Payload()
	return Explanation{
		What:  fmt.Sprintf("in anchors of links × %g: %d times", l.anchors.weights.Anchors, freq[segment.Headings]+freq[segment.Address]+freq[segment.Body]),
		Value: l.anchors.bm25f(weight, freq, length),
	}
}
