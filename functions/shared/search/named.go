package search

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// Some pages are hits before all others, whatever the words of the query are:
//
//	the pages of Query.Pinned        in their order
//	the first page of Query.Named    that the index has: the page whose address the query is
//
// They are found by their identities (see segment.Find) at the time when the terms are read, and taken out of
// the matches, so that none of them is a second hit.

// leading is a page that comes before the other hits.
type leading struct {
	// documents of the page; several if several storage partitions hold versions of it
	docs   []match
	pinned bool // whether the page is one of Query.Pinned
}

// takeLeading finds the pages that come before the other hits (see leading): pinned and named ones that the index
// has and the filters accept. It sets s.leading to all of them, and s.shown to those on the requested page of
// hits. It also removes their documents from those that the search can find, and lowers the From and Size of the
// query by their number, because addLeading adds their hits.
func (s *search) takeLeading() {
	for _, id := range s.query.Pinned {
		docs := slices.DeleteFunc(s.documentsOf(id), func(f match) bool { return s.parts[f.part].Unvisited })
		if len(docs) > 0 {
			s.lead(leading{docs, true})
		}
	}
	s.result.Pinned = len(s.leading)
	for _, id := range s.query.Named {
		if docs := s.documentsOf(id); len(docs) > 0 {
			s.result.Named = true
			s.lead(leading{docs, false})
			break
		}
	}
	n := len(s.leading)
	if n == 0 {
		return
	}
	others := *s.query
	s.shown = s.leading[min(n, others.From):min(n, others.From+others.Size)]
	others.From, others.Size = max(0, others.From-n), others.Size-len(s.shown)
	s.query = &others
}

// documentsOf returns the documents of a page that the filters accept.
func (s *search) documentsOf(id layout.Identity) (docs []match) {
	for part, of := range s.addressed {
		if s.missing[part] { // nothing says which of its documents the filters accept
			continue
		}
		for _, d := range of {
			if d.ID == id && s.accept[part].next(d.Doc) == d.Doc {
				docs = append(docs, match{part: int32(part), doc: d.Doc})
			}
		}
	}
	return docs
}

// lead adds a page to s.leading, counts it, and takes its documents out of the search.
func (s *search) lead(page leading) {
	s.leading = append(s.leading, page)
	for _, f := range page.docs {
		s.accept[f.part].remove(f.doc)
	}
	if len(s.query.Facets) > 0 {
		s.see(page.docs[0].part, page.docs[0].doc)
	}
}

// shownDocuments returns the documents of the pages that come first on the requested page of hits.
func (s *search) shownDocuments() (docs []match) {
	for _, page := range s.shown {
		docs = append(docs, page.docs...)
	}
	return docs
}

// address sets s.addressed[part]: the documents of this part (segment) of the index whose pages are in
// Query.Pinned or Query.Named.
func (s *search) address(ctx context.Context, part int) (err error) {
	s.addressed[part], err = s.parts[part].Segment.Find(ctx, slices.Concat(s.query.Pinned, s.query.Named))
	return err
}

// locate returns, for each part (segment) of the index, its live documents of stored pages with the given
// identities. It looks in all parts in parallel.
func (g *gathered) locate(ctx deadline, ids []layout.Identity) ([][]segment.Match, error) {
	found := make([][]segment.Match, len(g.parts))
	err := g.each(ctx, func(ctx context.Context, part int) (err error) {
		p := g.parts[part]
		if p.Unvisited {
			return nil
		}
		found[part], err = p.Segment.Find(ctx, ids)
		found[part] = slices.DeleteFunc(found[part], func(d segment.Match) bool { return p.Dead != nil && p.Dead.Contains(d.Doc) })
		return err
	})
	return found, err
}

// Has returns those of the given identities (hashes of URLs) of which the index has a stored page.
func (ix *Index) Has(ctx context.Context, ids []layout.Identity) (map[layout.Identity]bool, error) {
	found, err := newGathered(ix.parts, ix.memory).locate(withoutDeadline(ctx), ids)
	if err != nil {
		return nil, err
	}
	has := make(map[layout.Identity]bool)
	for _, of := range found {
		for _, d := range of {
			has[d.ID] = true
		}
	}
	return has, nil
}

// remove excludes the document doc from those that may match.
func (a *accept) remove(doc uint32) {
	if a.allowed != nil {
		a.allowed.clear(doc)
		return
	}
	dead := roaring.New()
	if a.dead != nil {
		dead = a.dead.Clone()
	}
	dead.Add(doc)
	a.dead = dead
}

// addLeading adds the pages of s.leading to the result: it adds their number to Total, and puts the hits for
// s.shown before the other hits. Each of them gets the score of the first of the other hits on the page; 0 if
// there are none.
func (s *search) addLeading(ctx context.Context) error {
	s.result.Total += len(s.leading)
	if err := s.fetch(ctx, s.shownDocuments()); err != nil {
		return err
	}
	best := 0.0
	if len(s.result.Hits) > 0 {
		best = s.result.Hits[0].Score
	}
	var hits []Hit
	for _, page := range s.shown {
		latest := slices.MaxFunc(page.docs, func(a, b match) int { return s.document(a).Version.Compare(s.document(b).Version) })
		marked, err := s.mark(ctx, []match{latest})
		if err != nil {
			return err
		}
		hit := marked[0]
		hit.Score, hit.Pinned = best, page.pinned
		if s.query.Explain {
			what := "the query is the address of this page: the best score of the others"
			if page.pinned {
				what = "the page is pinned for this query: the best score of the others"
			}
			hit.Explanation = &Explanation{What: what, Value: best}
		}
		hits = append(hits, hit)
	}
	s.result.Hits = append(hits, s.result.Hits...)
	return nil
}
