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

// gather makes the anchors (texts of links) for the documents of the listed segments, and keeps them
// in r.known. Links to a document may be in any book (records of the crawl). So gather reads the links
// in all books, but only once for all listed segments. It leaves out segments that cannot be read.
func (r *ranking) gather(ctx context.Context, listed []manifest.Segment) error {
	wanted := make(map[int]bool)
	for _, s := range listed {
		for _, page := range r.known[s.Key].pages {
			wanted[page] = true
		}
	}
	delete(wanted, -1)
	all, err := r.graph.Anchors(ctx, func(page int) bool { return wanted[page] })
	if err != nil {
		return err
	}
	cut := 0
	for _, a := range all {
		cut += a.Cut
	}
	if cut > 0 {
		r.Log.InfoContext(ctx, "anchors beyond the limit of a page are left out", "texts", cut)
	}
	for _, s := range listed {
		known := r.known[s.Key]
		if known.damage != nil {
			continue
		}
		if known.anchors, err = r.anchorsOf(ctx, &s, known.pages, all); partition.IsDamaged(err) {
			known.damage, err = err, nil
		}
		if err != nil {
			return err
		}
		r.known[s.Key] = known
	}
	return nil
}

// anchorsOf makes the overlay of anchors (texts of links to pages) for a listed segment, and
// returns the overlay's bytes. The overlay is itself a segment. Its documents have the same numbers
// and languages as those of the listed segment, but their texts are the anchors of their pages.
// Each anchor is a heading of its own, so that no phrase begins in one anchor and ends in the next.
//
// Documents that must not be found (noindex) get no anchors. anchorsOf recognises such a document by
// the number of words of its address: the listed segment says 0.
//
// For each document, the parameter pages has the number of its page in the graph of links. For each
// of these numbers, the parameter all has the anchors of the page.
func (r *ranking) anchorsOf(ctx context.Context, listed *manifest.Segment, pages []int, all map[int]linkgraph.Anchors) ([]byte, error) {
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
	documents := make([]*segments.Page, len(pages))
	for doc, page := range pages {
		documents[doc] = &segments.Page{Document: segment.Document{ID: identities[doc]}}
		if of := languages.Get(uint32(doc)); len(of) > 0 {
			documents[doc].Lang = of[0]
		}
		if words[doc] > 0 {
			fill(documents[doc], all[page])
			documents[doc].Suggested = suggested(all[page])
		}
	}
	return segments.Build(documents)
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
