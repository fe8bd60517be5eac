package rank

import (
	"context"

	"github.com/bucketsearch/bucketsearch/functions/rank/linkgraph"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// maxTimes is the greatest number of times that one anchor is repeated in the index of a page. Up
// to this number, an anchor is repeated once for each site that uses it, so that it weighs more.
const maxTimes = 8

// gather makes the anchors of the documents of the listed segments, and keeps them in r.known. It
// reads the books once for all of them. It leaves out segments that cannot be read.
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

// anchorsOf returns the anchors of the documents of a listed segment, in the bytes of another
// segment. Each document has the same number and language in both. Each of its anchors is a heading
// of its own, so that no phrase begins in one anchor and ends in the next. A document without any
// word, not even of its address, must not be found, and gets no anchors.
//
// The parameter pages has the index of each document's page in the graph. The parameter all has the
// anchors of the pages, by that index.
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
