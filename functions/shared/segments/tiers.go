package segments

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Limits say which segments are merged. The zero Limits mean that no segments are merged.
type Limits struct {
	Tier      int     // the segments of a size class (tier) are merged once there are so many of them
	Least     int64   // greatest size of a segment in the first tier, in bytes
	Bytes     int64   // greatest size of a merged segment, in bytes
	Documents int     // greatest number of documents of a merged segment
	Most      int     // greatest number of segments in one merge
	Dead      float64 // share of dead documents, 0 to 1, above which a segment is written anew
}

// DefaultLimits returns limits by which eight segments of a size class are merged, into segments of
// at most 2 GiB and 2,000,000 documents. There are five size classes: up to 1, 8, 64, 512 and 1024 MiB.
// Segments of more than half of the limits are not merged.
//
// When nothing is left to be merged or to be indexed anew, a partition has at most 7 segments in
// each size class. Of the larger segments, it has at most one for each GiB, and one for each million documents.
// After the end of a crawl, each segment of at most 1 GiB is more than eight times as large as all smaller ones together,
// so there are few of them: one of 20 MiB, for example, and less than 2.5 MiB in all others.
func DefaultLimits() Limits {
	return Limits{Tier: 8, Least: 1 << 20, Bytes: 2 << 30, Documents: 2_000_000, Most: 64, Dead: 0.2}
}

// Mergeable returns the segments that are to be merged next, in the order of the manifest. If the
// result is a single segment, it is to be written anew without its dead documents. If there is
// nothing to do, the result is nil. Mergeable chooses the first of these that exists:
//
//	a segment with forgotten documents
//	the segments of the smallest tier that is full
//	at the end of a crawl, as many as pay (see few)
//	a segment with many dead documents (Limits.Dead)
//
// The parameter ended says that no further packages are expected soon. As long as some come, merging more than full tiers
// would write the same documents too often. Queries ask each segment, so few segments make them cheaper.
//
// Segments of packages that wait to be indexed anew leave the manifest soon. So Mergeable does not
// choose them, unless they have forgotten documents.
func (l Limits) Mergeable(m *manifest.Manifest, ended bool) []manifest.Segment {
	if l.Tier < 2 {
		return nil
	}
	for _, s := range m.Segments {
		if s.Erase {
			return []manifest.Segment{s}
		}
	}
	tiers := make(map[int][]manifest.Segment)
	var small, rotten []manifest.Segment
	for _, s := range stable(m) {
		if float64(s.Dead()) > l.Dead*float64(s.Documents) {
			rotten = append(rotten, s)
		}
		if weight(s) <= l.Bytes/2 && s.Live() <= l.Documents/2 {
			tiers[l.tier(s)], small = append(tiers[l.tier(s)], s), append(small, s)
		}
	}
	smallest := -1
	for tier, of := range tiers {
		if len(of) >= l.Tier && (smallest < 0 || tier < smallest) {
			smallest = tier
		}
	}
	var chosen []manifest.Segment
	switch {
	case smallest >= 0:
		chosen = l.cut(tiers[smallest])
	case ended && isSettled(m):
		chosen = l.few(l.cut(small))
	}
	if chosen == nil {
		chosen = rotten[:min(1, len(rotten))]
	}
	return inOrder(m, chosen)
}

// isSettled reports whether all packages are indexed, and no small ones are to be indexed together.
func isSettled(m *manifest.Manifest) bool {
	waits := slices.ContainsFunc(m.Packages, func(p manifest.Package) bool { return !p.Indexed })
	return !waits && Together(m, true) == nil
}

// cut returns those of some segments that may be merged into one: the smallest ones, as many as Limits.Bytes,
// Limits.Documents and Limits.Most allow, sorted by size. It sorts the parameter.
func (l Limits) cut(of []manifest.Segment) []manifest.Segment {
	slices.SortStableFunc(of, func(a, b manifest.Segment) int { return cmp.Compare(weight(a), weight(b)) })
	var bytes int64
	documents := 0
	for i, s := range of {
		bytes, documents = bytes+weight(s), documents+s.Live()
		if bytes > l.Bytes || documents > l.Documents || i == l.Most {
			return of[:i]
		}
	}
	return of
}

// few returns those of some segments, sorted by size, that are merged at the end of a crawl: the largest that is at most
// Limits.Tier times as large as all smaller ones together, and these. So a large segment is not written anew for a few
// new pages. If there is no such segment, the result is nil.
func (l Limits) few(of []manifest.Segment) (chosen []manifest.Segment) {
	var smaller int64
	for i, s := range of {
		if weight(s) <= int64(l.Tier)*smaller {
			chosen = of[:i+1]
		}
		smaller += weight(s)
	}
	return chosen
}

// inOrder returns the chosen segments in the order of the manifest; nil if there are none.
func inOrder(m *manifest.Manifest, chosen []manifest.Segment) (segments []manifest.Segment) {
	for _, s := range m.Segments {
		if slices.ContainsFunc(chosen, func(c manifest.Segment) bool { return c.Key == s.Key }) {
			segments = append(segments, s)
		}
	}
	return segments
}

// tier returns the size class of a segment by its weight: 0 up to Least, 1 up to Tier·Least,
// 2 up to Tier²·Least, and so on.
func (l Limits) tier(s manifest.Segment) (tier int) {
	for most := max(l.Least, 1); weight(s) > most; most *= int64(l.Tier) {
		tier++
	}
	return tier
}

// weight estimates the size of a segment's live documents, in bytes.
func weight(s manifest.Segment) int64 {
	if s.Documents == 0 {
		return s.Bytes
	}
	return int64(float64(s.Bytes) * float64(s.Live()) / float64(s.Documents))
}

// stable returns the segments of a manifest, without those that have pages of a package which is to
// be indexed anew.
func stable(m *manifest.Manifest) (segments []manifest.Segment) {
	waits := make(map[uint32]bool)
	for _, p := range m.Packages {
		waits[p.ID] = !p.Indexed
	}
	for _, s := range m.Segments {
		if !slices.ContainsFunc(s.Parts, func(p manifest.Part) bool { return waits[p.Package] }) {
			segments = append(segments, s)
		}
	}
	return segments
}
