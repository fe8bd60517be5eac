package search

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment"
)

const (
	spreadHits = 10 // spreadHits is the number of top hits among which a site may have at most mostOfSite hits.
	mostOfSite = 2
	spreadFrom = 30 // spreadFrom is the number of best hits, by score, from which spread selects the top spreadHits.
)

// spread moves all hits of a site but the best two behind the first ten hits, so that other sites are
// seen as well:
//
//	by score                       shown
//	a1 a2 a3 b1 a4 c1 a5 …         a1 a2 b1 c1 … (ten), then a3 a4 a5 …
//
// It chooses the first ten among the best thirty hits, at most two of a site. If it cannot choose ten,
// for example because all hits are of one site, it moves nothing.
func (f *folder) spread(ctx context.Context) error {
	crowded := false
	counts := map[string]int{}
	for i := range f.groups[:min(spreadHits, len(f.groups))] {
		site := f.site(i)
		counts[site]++
		crowded = crowded || counts[site] > mostOfSite
	}
	if !crowded {
		return nil
	}
	if one, err := f.isOneSite(ctx); one || err != nil {
		return err
	}
	if err := f.gather(ctx, spreadFrom); err != nil {
		return err
	}
	var shown, later []int
	clear(counts)
	for i := range f.groups[:min(spreadFrom, len(f.groups))] {
		site := f.site(i)
		if counts[site]++; counts[site] <= mostOfSite && len(shown) < spreadHits {
			shown = append(shown, i)
		} else {
			later = append(later, i)
		}
	}
	if len(shown) < spreadHits {
		return nil
	}
	last := shown[spreadHits-1]
	moved := map[string]int{} // hits of a site that were better than the last shown
	for _, i := range later {
		if i < last {
			moved[f.site(i)]++
		}
	}
	groups := make([]alikeGroup, 0, spreadFrom)
	for _, i := range slices.Concat(shown, later) {
		groups = append(groups, f.groups[i])
	}
	copy(f.groups, groups)
	f.spreads = true
	for i := spreadHits - 1; i >= 0; i-- {
		site := f.site(i)
		f.groups[i].more = moved[site]
		delete(moved, site)
	}
	return nil
}

// site returns the site of the best match of a group, given the index of the group.
func (f *folder) site(group int) string { return f.document(f.groups[group].members[0]).Site }

// isOneSite reports whether all groups, and all matches that are not read yet, are of the same
// site. For this it reads the column of sites of all segments.
func (f *folder) isOneSite(ctx context.Context) (bool, error) {
	sites := make([]*segment.StringColumn, len(f.parts))
	err := f.each(withoutDeadline(ctx), func(ctx context.Context, part int) (err error) {
		sites[part], err = f.memory.column(ctx, f.parts[part].Segment, segment.Sites)
		return err
	})
	if err != nil {
		return false, err
	}
	only := f.site(0)
	for i := range f.groups {
		if f.site(i) != only {
			return false, nil
		}
	}
	return !slices.ContainsFunc(f.head, func(m match) bool { return !slices.Equal(sites[m.part].Get(m.doc), []string{only}) }), nil
}
