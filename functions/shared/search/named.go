package search

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring"
)

// A page that the query names by its address (Query.Named) is the first hit, whatever its words
// are. It is found in the columns of identities, which are read together with the terms, and
// taken out of the matches, so that it is no second hit.

// takeNamed finds the first page of Query.Named that the index has and the filters accept, and sets
// s.asked to its documents. There are several documents if several storage partitions hold a version of
// the page. Then takeNamed keeps these documents out of the search, because addNamed puts the page before
// the hits that are found.
func (s *search) takeNamed() {
	for _, id := range s.query.Named {
		for part, of := range s.identities {
			if s.missing[part] { // nothing says which of its documents the filters accept
				continue
			}
			for doc := range of {
				if of[doc] == id && s.accept[part].next(uint32(doc)) == uint32(doc) {
					s.asked = append(s.asked, match{part: int32(part), doc: uint32(doc)})
				}
			}
		}
		if len(s.asked) > 0 {
			break
		}
	}
	if len(s.asked) == 0 {
		return
	}
	for _, f := range s.asked {
		s.accept[f.part].remove(f.doc)
	}
	if len(s.query.Facets) > 0 {
		s.see(s.asked[0].part, s.asked[0].doc)
	}
	others := *s.query
	if others.From > 0 {
		others.From--
	} else if others.Size > 0 {
		others.Size--
		s.showsNamed = true
	}
	s.query = &others
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

// addNamed puts the hit for the page of Query.Named before the other hits, and gives it the score
// of the best of them.
func (s *search) addNamed(ctx context.Context) error {
	s.result.Total++
	s.result.Named = true
	if !s.showsNamed {
		return nil
	}
	if err := s.fetch(ctx, s.asked); err != nil {
		return err
	}
	latest := slices.MaxFunc(s.asked, func(a, b match) int { return s.document(a).Version.Compare(s.document(b).Version) })
	hit := s.mark([]match{latest})[0]
	if len(s.result.Hits) > 0 {
		hit.Score = s.result.Hits[0].Score
	}
	if s.query.Explain {
		hit.Explanation = &Explanation{What: "the query is the address of this page: the best score of the others", Value: hit.Score}
	}
	s.result.Hits = slices.Insert(s.result.Hits, 0, hit)
	return nil
}
