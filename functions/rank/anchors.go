package rank

import (
	"context"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/rank/linkgraph"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// leastLinks is the least number of links with the same text that make this text, an anchor, a suggestion for
// people who type a query.
const leastLinks = 2

// maxTimes is the greatest number of times that an anchor (a text of links to a page) is repeated
// in the document that is indexed for the page. An anchor is repeated once for each site that uses
// it, up to maxTimes, so that it weighs more.
const maxTimes = 8

// gather makes the overlays of anchors (texts of links) for the documents of the listed segments. It returns their
// bytes by the keys of the segments. The bytes can be used until free is called, which must be called after an error,
// too. Segments that cannot be read are left out.
//
// The links to a document may be in any book (records of the crawl). So gather reads the links in all books, but only
// once for all listed segments (see gathering).
func (r *ranking) gather(ctx context.Context, listed []manifest.Segment) (overlays map[string][]byte, free func(), err error) {
	var made []*overlay
	free = func() {
		for _, o := range made {
			o.close()
		}
	}
	var pages []int32 // those of the documents of all segments
	for _, s := range listed {
		pages = append(pages, r.known[s.Key].pages...)
	}
	g, err := r.newGathering(ctx, pages)
	if err != nil {
		return nil, free, err
	}
	defer g.texts.Close()
	overlays = make(map[string][]byte)
	first := 0 // number of the segment's first document among those of all segments
	for _, s := range listed {
		known := r.known[s.Key]
		if known.damage == nil {
			o := &overlay{dir: r.Dir}
			made = append(made, o)
			overlays[s.Key], err = r.anchorsOf(ctx, &s, known.pages, first, g, o)
			if partition.IsDamaged(err) {
				known.damage, err = err, nil
				delete(overlays, s.Key)
			}
			if err != nil {
				return nil, free, err
			}
			r.known[s.Key] = known
		}
		first += len(known.pages)
	}
	return overlays, free, nil
}

// anchorsOf makes the overlay of anchors (texts of links to pages) for a listed segment, and
// returns the overlay's bytes. The overlay is itself a segment. Its documents have the same numbers
// and languages as those of the listed segment, but their texts are the anchors of their pages.
// Each anchor is a heading of its own, so that no phrase begins in one anchor and ends in the next.
//
// Documents that must not be found (noindex) get no anchors. anchorsOf recognises such a document by
// the number of words of its address: the listed segment says 0.
//
// For each document, the parameter pages has the number of its page in the graph of links. The parameter g has the
// anchors; in g, the segment's documents are numbered from first on. The overlay o is empty.
func (r *ranking) anchorsOf(ctx context.Context, listed *manifest.Segment, pages []int32, first int, g *gathering, o *overlay) ([]byte, error) {
	s, err := partition.OpenSegment(ctx, segment.Ranges{Bucket: r.Bucket}, listed)
	if err != nil {
		return nil, err
	}
	languages, err := s.Strings(ctx, segment.Languages)
	if err != nil {
		return nil, err
	}
	words, err := s.Numbers(ctx, segment.AddressLengths)
	if err != nil {
		return nil, err
	}
	identities, err := s.Identities(ctx)
	if err != nil {
		return nil, err
	}
	for doc := 0; doc < len(pages); {
		anchors, end, err := g.of(ctx, first+doc)
		if err != nil {
			return nil, err
		}
		var part []*segments.Page
		for ; doc < min(len(pages), end-first); doc++ {
			d := &segments.Page{Document: segment.Document{ID: identities[doc]}}
			if of := languages.Get(uint32(doc)); len(of) > 0 {
				d.Lang = of[0]
			}
			if words[doc] > 0 {
				fill(d, anchors[pages[doc]])
				d.Suggested = suggested(anchors[pages[doc]])
			}
			part = append(part, d)
		}
		if err := o.add(part); err != nil {
			return nil, err
		}
	}
	return o.finish(ctx)
}

// fill makes the anchors of a page the headings of a document, so that the words of the anchors
// can be searched like those of a page.
func fill(d *segments.Page, a linkgraph.Anchors) {
	for _, anchor := range a.All {
		for range min(anchor.Sites, maxTimes) {
			d.Headings = append(d.Headings, anchor.Text)
		}
	}
}

// suggested returns those anchors (texts of links to a page) that are offered as suggestions while somebody types:
// those of leastLinks links or more. It leaves out anchors in parentheses, such as "(str method)": the index of a
// manual has them after a name, and they mean nothing without the name.
func suggested(a linkgraph.Anchors) (texts []string) {
	for _, anchor := range a.All {
		if anchor.Links >= leastLinks && !strings.HasPrefix(anchor.Text, "(") {
			texts = append(texts, anchor.Text)
		}
	}
	return texts
}
