package search

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// hits reads the documents of the matches, and marks the words of the query in them. It returns the hits,
// and the matches in the same order. They are sorted by score, then by identity. But if the method spread
// or translate has moved some of the matches, all keep the order in which they were given.
func (s *search) hits(ctx context.Context, matches []match) ([]Hit, []match, error) {
	if err := s.fetch(ctx, matches); err != nil {
		return nil, nil, err
	}
	if !s.spreads {
		slices.SortFunc(matches, s.compare)
	}
	matches = s.latest(matches)
	hits, err := s.mark(ctx, matches)
	return hits, matches, err
}

// compare compares two matches whose documents have been read: the match with the higher score
// comes first; equal scores are ordered by identity.
func (s *search) compare(a, b match) int {
	return cmp.Or(cmp.Compare(b.score, a.score), s.document(a).ID.Compare(s.document(b).ID))
}

// latest removes older versions of pages from the matches, and reduces Total by their number. There are
// two versions of a page among the matches if two partitions hold the page for a while, after a
// strategy moved its site.
func (s *search) latest(matches []match) []match {
	newest := make(map[layout.Identity]match, len(matches))
	for _, f := range matches {
		d := s.document(f)
		if other, known := newest[d.ID]; !known || s.document(other).Version.Compare(d.Version) < 0 {
			newest[d.ID] = f
		}
	}
	if len(newest) == len(matches) {
		return matches
	}
	s.result.Total -= len(matches) - len(newest)
	return slices.DeleteFunc(matches, func(f match) bool { return newest[s.document(f).ID] != f })
}

// mark returns the hits for the matches, with the words of the query marked. The documents of the
// matches must have been read. mark uses all processors.
func (s *search) mark(ctx context.Context, matches []match) ([]Hit, error) {
	hits := make([]Hit, len(matches))
	var next atomic.Int64
	markers, ctx := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), (len(matches)+1)/2) {
		markers.Go(func() error {
			marker := newMarker(s.plan, s.ix.memory)
			defer marker.end()
			for i := int(next.Add(1)) - 1; i < len(matches); i = int(next.Add(1)) - 1 {
				if err := effort.Spend(ctx, perHit); err != nil {
					return err
				}
				d := s.document(matches[i])
				hits[i] = marker.hit(d)
				if hits[i].Date.IsZero() {
					hits[i].Date = s.knownDate(matches[i])
				}
				if s.parts[matches[i].part].Unvisited {
					hits[i].Unvisited, hits[i].Snippet = true, marker.snippet(namesIn(d))
				}
				hits[i].Score = s.scoreOf(matches[i])
				if s.byDate() {
					s.setDate(&hits[i], matches[i])
				}
				at := spot{matches[i].part, matches[i].doc}
				hits[i].Alike, hits[i].MoreOfSite = s.alike[at], s.more[at]
			}
			return nil
		})
	}
	return hits, markers.Wait()
}

// spot is the position of a document in the index: the number of a part (segment), and the
// document's number there.
type spot struct {
	part int32
	doc  uint32
}

// document returns the document of a match, or nil if fetch has not read it yet.
func (s *search) document(f match) *segment.Document { return s.documents[spot{f.part, f.doc}] }

// recall takes the documents of the matches from the cache (Memory). It returns the matches whose
// documents are not cached and must be read.
func (s *search) recall(matches []match) (unknown []match) {
	if s.documents == nil {
		s.documents = make(map[spot]*segment.Document, len(matches))
	}
	for _, f := range matches {
		if s.document(f) != nil {
			continue
		}
		if d := s.ix.memory.document(s.place(f)); d != nil {
			s.documents[spot{f.part, f.doc}] = d
		} else {
			unknown = append(unknown, f)
		}
	}
	return unknown
}

// fetch makes the documents of matches available: it takes them from the cache, or reads them,
// all in one step.
func (s *search) fetch(ctx context.Context, matches []match) error {
	byPart := make(map[int32][]uint32)
	for _, f := range s.recall(matches) {
		byPart[f.part] = append(byPart[f.part], f.doc)
	}
	if len(byPart) == 0 {
		return nil
	}
	if err := effort.Spend(ctx, perDocument*len(matches)); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	fork := meter.NewFork(ctx)
	read := make([][]segment.Document, len(s.parts))
	for part, docs := range byPart {
		group.Go(func() (err error) {
			read[part], err = s.parts[part].Segment.Stored(fork.Branch(), docs)
			return s.named(int(part), err)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for part, docs := range byPart {
		for i, doc := range docs {
			d := read[part][i]
			s.documents[spot{part, doc}] = &d
			s.ix.memory.putDocument(s.place(match{part: part, doc: doc}), &d)
		}
	}
	return nil
}

func (s *search) place(f match) place {
	return place{segment: s.parts[f.part].Segment.Ref().Key, doc: f.doc}
}

const (
	// countedPostings is the greatest number of postings of a query's words for which facets count
	// all matches. If there are more, facets count a sample.
	countedPostings = 1 << 20
	// maxCounts is the greatest number of values that a facet returns.
	maxCounts = 100
	// maxLeafCounts is the greatest number of values of a facet that a leaf returns to its root.
	maxLeafCounts = 10_000
)

// facetCounts holds numbers of matches. Its first index is the facet (such as the language), the second is
// the part (segment) of the index, and the third is the number of a set of values. A document has a set of
// values because it may have several values of a facet, such as two languages. Each part numbers the sets
// that occur in it (see segment.StringColumn.Sets).
type facetCounts [][][]int

func (s *search) see(part int32, doc uint32) {
	s.startCounts()
	for i, name := range s.query.Facets {
		s.counts[i][part][s.columns[part][name].Of[doc]]++
	}
}

// startCounts sets all counts of the facets to 0, unless some matches are counted already.
func (s *search) startCounts() {
	if s.counts != nil {
		return
	}
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

func (s *search) postings() (n uint64) {
	for _, w := range s.plan.words {
		n += w.documents
	}
	return n
}

// facetsByScan reports whether the scan for the best matches also counts the matches for the
// facets. It does so if the query has facets, its words have few enough postings, and it has no
// phrases, which the scan cannot check.
func (s *search) facetsByScan() bool {
	return len(s.query.Facets) > 0 && !s.plan.hasPhrases() && s.postings() <= countedPostings
}

// countFacets sets the facets of the result of a query without phrases. If the scan for the best matches
// has counted the matches for facets (see facetsByScan), countFacets uses these counts. Else it scans a
// sample of the documents.
func (s *search) countFacets(ctx deadline, work *scan) error {
	if len(s.query.Facets) == 0 {
		return nil
	}
	if s.facetsByScan() {
		s.result.Facets = s.facets(1)
		return nil
	}
	return s.sampleFacets(ctx, work, uint32(s.postings()/countedPostings+1))
}

// sampleFacets sets the facets to estimates. It counts the matches only in a sample of the documents (see
// accept.stride), and multiplies the counts by the parameter stride.
func (s *search) sampleFacets(ctx deadline, work *scan, stride uint32) error {
	for part := range s.accept {
		s.accept[part].stride = stride
	}
	work.begin(s)
	work.top.reset(0)
	work.limit, work.seen = math.MaxInt, s.see
	if err := s.scanParts(ctx, work); err != nil {
		return err
	}
	s.result.Facets = s.facets(float64(stride))
	return nil
}

// facets returns the facets with their counts multiplied by scale.
func (s *search) facets(scale float64) (facets []Facet) {
	for i, name := range s.query.Facets {
		facet := Facet{Name: name, Sampled: scale > 1 || s.result.Partial}
		for value, n := range s.sums(i) {
			facet.Values = append(facet.Values, Count{value, int(math.Round(scale * float64(n)))})
		}
		if s.isLeaf {
			facet.order(maxLeafCounts)
		} else {
			facet.order(maxCounts)
		}
		facets = append(facets, facet)
	}
	return facets
}

// order sorts the values of a facet: the most frequent first, equally frequent ones by alphabet; or, if the facet
// is Year, the latest year first. It keeps only the first values, as many as most says.
func (f *Facet) order(most int) {
	slices.SortFunc(f.Values, func(a, b Count) int {
		if f.Name == Year {
			return cmp.Compare(b.Value, a.Value)
		}
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Value, b.Value))
	})
	f.Values = f.Values[:min(len(f.Values), most)]
}

// sums returns, for each value of a facet, how many documents with this value were counted. The parameter facet is
// the index of the facet in Query.Facets.
func (s *search) sums(facet int) map[string]int {
	sums := map[string]int{}
	if s.counts == nil {
		return sums
	}
	for part, sets := range s.counts[facet] {
		for set, n := range sets {
			if n > 0 {
				column := s.columns[part][s.query.Facets[facet]]
				for _, value := range column.Sets[set] {
					sums[column.Values[value]] += n
				}
			}
		}
	}
	return sums
}
