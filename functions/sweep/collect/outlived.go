package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// errLearnt says that more was learnt since the books were read.
var errLearnt = errors.New("more was learnt while the books were read")

// clearOutlived condemns now and then the packages of which no page counts any
// more, because each has a newer version or is gone. Both must say so: the
// segments, in which no document of such a package is alive, and the books. What
// earlier generations list is kept as long as they are.
func (p *partition) clearOutlived(ctx context.Context) error {
	if p.forgets() { // and what is dead may be forgotten
		return nil
	}
	return p.once(ctx, fmt.Sprintf("outlived %s", p.id), func() error {
		candidates, err := p.dead(ctx, &p.manifest)
		if err != nil || len(candidates) == 0 {
			return err
		}
		learnt := p.manifest.Learnt
		pages, err := p.countPages(ctx)
		if err != nil {
			return err
		}
		var outlived []manifest.Package
		return p.commit(ctx, func(m *manifest.Manifest) error {
			if m.Learnt != learnt {
				return errLearnt
			}
			dead, err := p.dead(ctx, m)
			if err != nil {
				return err
			}
			outlived = nil
			m.Packages = slices.DeleteFunc(m.Packages, func(pkg manifest.Package) bool {
				over := dead[pkg.ID] && pages[pkg.ID] == 0
				if over {
					outlived = append(outlived, pkg)
					m.Condemn(p.Now(), pkg.Key)
				}
				return over
			})
			if outlived == nil {
				return manifest.ErrUnchanged
			}
			return nil
		})
	})
}

// dead returns the packages that are indexed and of which no document is alive,
// by their identifiers.
func (p *partition) dead(ctx context.Context, m *manifest.Manifest) (map[uint32]bool, error) {
	live, err := p.livePackages(ctx, m, func(*manifest.Segment) bool { return true })
	dead := make(map[uint32]bool)
	for _, pkg := range m.Packages {
		if pkg.Indexed && !live[pkg.ID] {
			dead[pkg.ID] = true
		}
	}
	return dead, err
}

// countPages returns how many pages count of each package, by its identifier,
// as the books say.
func (p *partition) countPages(ctx context.Context) (map[uint32]int, error) {
	of := make(map[string]uint32)
	for _, pkg := range p.manifest.Packages {
		of[pkg.Key] = pkg.ID
		for _, former := range pkg.Formerly {
			of[former] = pkg.ID
		}
	}
	books, err := p.openBooks(ctx, p.manifest.Books)
	if err != nil {
		return nil, err
	}
	pages := make(map[uint32]int)
	for s, err := range book.Standings(ctx, books) {
		if err != nil {
			return nil, err
		}
		if s.Stands() {
			if id, found := of[s.Page.Package]; found {
				pages[id]++
			}
		}
	}
	return pages, nil
}
