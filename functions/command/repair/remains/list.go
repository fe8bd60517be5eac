package remains

import (
	"cmp"
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// listPackages lists packages: in the place of a form of theirs that is listed,
// or under a new number. All of these are to be indexed.
func (r *remains) listPackages(ctx context.Context, m *manifest.Manifest) error {
	wanted, err := r.toList(ctx)
	if err != nil {
		return err
	}
	listed := make(map[string]bool, len(m.Packages))
	for _, own := range m.Packages {
		listed[own.Key] = true
	}
	standIns := make(map[string]*pack)
	for p, former := range wanted {
		for key := range former {
			standIns[key] = p
		}
	}
	for i := range m.Packages {
		own := &m.Packages[i]
		p := standIns[own.Key]
		if p == nil || listed[p.key] {
			continue
		}
		if r.packages.byKey[own.Key] != nil {
			m.Condemn(r.now, own.Key)
		}
		former := append(slices.Clone(own.Formerly), own.Key)
		for _, key := range wanted.formerly(p) {
			if !slices.Contains(former, key) {
				former = append(former, key)
			}
		}
		own.Key, own.Bytes, own.Pages, own.Indexed, own.Formerly = p.key, p.bytes, len(p.Pages), false, former
		listed[p.key] = true
	}
	for _, p := range wanted.sorted() {
		if !listed[p.key] {
			m.Add(manifest.Package{Key: p.key, Bytes: p.bytes, Pages: len(p.Pages), Formerly: wanted.formerly(p)})
		}
	}
	return nil
}

// sorted returns packages in the order of their keys.
func (l listing) sorted() []*pack {
	all := make([]*pack, 0, len(l))
	for p := range l {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *pack) int { return cmp.Compare(a.key, b.key) })
	return all
}
