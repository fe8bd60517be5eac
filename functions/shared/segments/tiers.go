package segments

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// Limits say when segments are merged. With zero Limits none is.
type Limits struct {
	Tier  int     // segments of one size class (tier) that are merged
	Least int64   // bytes up to which segments are of the first tier
	Bytes int64   // of the largest segment that a merge makes
	Most  int     // segments of one merge
	Dead  float64 // share of dead documents above which a segment is written anew
}

// DefaultLimits merge eight segments of a size, up to 256 MiB.
//
// So a partition keeps at most 7 segments of each of the sizes up to 1, 8, 64
// and 128 MiB, and of larger ones as many as its index takes times 128 MiB: 28
// and two for each 256 MiB, while nothing is waiting to be merged or to be
// indexed anew.
func DefaultLimits() Limits {
	return Limits{Tier: 8, Least: 1 << 20, Bytes: 256 << 20, Most: 64, Dead: 0.2}
}

// Mergeable returns the segments to be merged next into one, or the single segment
// to be written anew, in the order of the manifest; nil when there is none.
// Segments with forgotten documents come first, then full tiers, the smallest tier
// first.
//
// Segments of packages that wait to be indexed anew are merged only to erase
// forgotten documents: they leave the manifest soon.
func (l Limits) Mergeable(m *manifest.Manifest) []manifest.Segment {
	if l.Tier < 2 {
		return nil
	}
	for _, s := range m.Segments {
		if s.Erase {
			return []manifest.Segment{s}
		}
	}
	tiers := make(map[int][]manifest.Segment)
	var rotten []manifest.Segment
	for _, s := range settled(m) {
		if float64(s.Dead()) > l.Dead*float64(s.Documents) {
			rotten = append(rotten, s)
		}
		if weight(s) <= l.Bytes/2 {
			tiers[l.tier(s)] = append(tiers[l.tier(s)], s)
		}
	}
	smallest := -1
	for tier, of := range tiers {
		if len(of) >= l.Tier && (smallest < 0 || tier < smallest) {
			smallest = tier
		}
	}
	if smallest < 0 {
		return rotten[:min(1, len(rotten))]
	}
	return l.cut(m, tiers[smallest])
}

// cut returns the smallest segments of a tier, as many as fit into one, in the
// order of the manifest.
func (l Limits) cut(m *manifest.Manifest, of []manifest.Segment) []manifest.Segment {
	slices.SortStableFunc(of, func(a, b manifest.Segment) int { return cmp.Compare(weight(a), weight(b)) })
	var bytes int64
	chosen := make(map[string]bool)
	for _, s := range of {
		if bytes += weight(s); bytes > l.Bytes || len(chosen) == l.Most {
			break
		}
		chosen[s.Key] = true
	}
	return slices.DeleteFunc(slices.Clone(m.Segments), func(s manifest.Segment) bool { return !chosen[s.Key] })
}

// tier returns the size of a segment: 0 up to Least, then a power of Tier.
func (l Limits) tier(s manifest.Segment) (tier int) {
	for most := max(l.Least, 1); weight(s) > most; most *= int64(l.Tier) {
		tier++
	}
	return tier
}

// weight estimates the bytes of a segment's live documents.
func weight(s manifest.Segment) int64 {
	if s.Documents == 0 {
		return s.Bytes
	}
	return int64(float64(s.Bytes) * float64(s.Live()) / float64(s.Documents))
}

// settled returns the segments without packages that wait to be indexed anew.
func settled(m *manifest.Manifest) (segments []manifest.Segment) {
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
