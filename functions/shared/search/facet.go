package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

const (
	// countedPostings is how many postings a query's words may have together if
	// facets shall count all matches; else they count a sample.
	countedPostings = 1 << 20
	// maxCounts is how many values of a facet are told.
	maxCounts = 100
)

// facetCounts is how many matches have a set of values: by facet, part and set.
type facetCounts [][][]int

// see counts a match for the facets.
func (s *search) see(part int32, doc uint32) {
	if s.counts == nil {
		s.counts = make(facetCounts, len(s.query.Facets))
		for i, name := range s.query.Facets {
			s.counts[i] = make([][]int, len(s.parts))
			for part := range s.parts {
				if column := s.columns[part][name]; column != nil {
					s.counts[i][part] = make([]int, len(column.Sets))
				}
			}
		}
	}
	for i, name := range s.query.Facets {
		s.counts[i][part][s.columns[part][name].Of[doc]]++
	}
}

// postings returns how many postings the query's words have together.
func (s *search) postings() (n uint64) {
	for _, w := range s.plan.words {
		n += w.documents
	}
	return n
}

// facetsByScan reports whether the scan that finds the best matches counts all
// for the facets. It cannot if phrases decide what matches.
func (s *search) facetsByScan() bool {
	return len(s.query.Facets) > 0 && !s.plan.hasPhrases() && s.postings() <= countedPostings
}

// countFacets counts the facets of a query without phrases: those that the scan
// has seen, or a sample by another scan.
func (s *search) countFacets(ctx deadline, scan *scan) error {
	if len(s.query.Facets) == 0 {
		return nil
	}
	if s.facetsByScan() {
		s.result.Facets = s.facets(1)
		return nil
	}
	return s.sampleFacets(ctx, scan, uint32(s.postings()/countedPostings+1))
}

// sampleFacets counts the matches in one of so many stretches of documents.
func (s *search) sampleFacets(ctx deadline, scan *scan, stride uint32) error {
	for part := range s.accept {
		s.accept[part].stride = stride
	}
	scan.begin(s)
	scan.top.reset(0)
	scan.limit, scan.seen = math.MaxInt, s.see
	if err := s.scanParts(ctx, scan); err != nil {
		return err
	}
	s.result.Facets = s.facets(float64(stride))
	return nil
}

// facets returns the counts, each standing for so many matches.
func (s *search) facets(scale float64) (facets []Facet) {
	for i, name := range s.query.Facets {
		sums := map[string]int{}
		if s.counts != nil {
			for part, sets := range s.counts[i] {
				for set, n := range sets {
					if n > 0 {
						column := s.columns[part][name]
						for _, value := range column.Sets[set] {
							sums[column.Values[value]] += n
						}
					}
				}
			}
		}
		facet := Facet{Name: name, Sampled: scale > 1 || s.result.Partial}
		for _, value := range slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
			return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b))
		}) {
			if len(facet.Values) == maxCounts {
				break
			}
			facet.Values = append(facet.Values, Count{value, int(math.Round(scale * float64(sums[value])))})
		}
		facets = append(facets, facet)
	}
	return facets
}
