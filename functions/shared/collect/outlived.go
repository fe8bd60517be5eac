package collect

import (
	"context"
	"errors"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// errLearnt says that more was learnt since the books were read.
var errLearnt = errors.New("more was learnt while the books were read")

// Outlived condemns the packages of which no page counts any more, because each
// has a newer version or is gone. Both must say so: the segments, in which no
// document of such a package is alive, and the books. What earlier generations
// list is kept as long as they are.
func (c *Collector) Outlived(ctx context.Context) error {
	candidates, err := c.dead(ctx, c.Manifest())
	if err != nil || len(candidates) == 0 {
		return err
	}
	learnt := c.Manifest().Learnt
	pages, err := c.countPages(ctx)
	if err != nil {
		return err
	}
	return c.Commit(ctx, func(e *partition.Edit) error {
		if e.Manifest().Learnt != learnt {
			return errLearnt
		}
		dead, err := c.dead(ctx, e.Manifest())
		if err != nil {
			return err
		}
		var outlived []string
		for _, pkg := range e.Manifest().Packages {
			if dead[pkg.ID] && pages[pkg.ID] == 0 {
				outlived = append(outlived, pkg.Key)
			}
		}
		if outlived == nil {
			return partition.ErrUnchanged
		}
		for _, key := range outlived {
			if err := e.DropPackage(ctx, key); err != nil {
				return err
			}
		}
		return nil
	})
}

// dead returns the packages that are indexed and of which no document is alive,
// by their identifiers.
func (c *Collector) dead(ctx context.Context, m *manifest.Manifest) (map[uint32]bool, error) {
	live, err := segments.LivePackages(ctx, c.Bucket, m, func(*manifest.Segment) bool { return true })
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
func (c *Collector) countPages(ctx context.Context) (map[uint32]int, error) {
	of := make(map[string]uint32)
	for _, pkg := range c.Manifest().Packages {
		of[pkg.Key] = pkg.ID
		for _, former := range pkg.Formerly {
			of[former] = pkg.ID
		}
	}
	books, err := partition.OpenBooks(ctx, c.Bucket, c.Manifest().Books)
	if err != nil {
		return nil, err
	}
	pages := make(map[uint32]int)
	for s, err := range books.Standings(ctx) {
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
