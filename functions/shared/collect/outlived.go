package collect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// errLearnt means that another process committed a book after Outlived had read the books.
var errLearnt = errors.New("more was learnt while the books were read")

// Outlived condemns the indexed packages without a current page: each of their pages has a later
// version in another package, or is gone. Both the index and the books must say so: no segment has
// a live document from the package, and the outcomes of no URL (see book.Standing) name a page in
// it as current. A condemned package is deleted only after the last generation that lists it.
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

// dead returns the packages that are indexed and have no live documents, by their identifiers in
// the manifest.
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

// countPages counts, from the books, the current pages in each package, by the package's
// identifier. Packages without current pages are left out.
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

const (
	// atOnce is the least time that the generations to be deleted must span together; if they span
	// less, Past deletes none. Without this bound there would always be something to delete,
	// because each run of Past commits one more generation.
	atOnce = 24 * time.Hour
	// maxPast is the greatest number of generations that one run of Past reads to find the oldest
	// one to keep.
	maxPast = 1000
)

// Past deletes the generations that are too old to be requested (see Limits.Past), in three steps:
//
//	1   it commits the number of the oldest generation to keep, so that no reader looks for
//	    earlier ones, and replaces the hint if that is a copy of an earlier one
//	2   it deletes the overlays that only earlier generations list
//	3   it deletes the earlier generations, the oldest first; if it is killed, some are left,
//	    which the next sweep deletes
func (c *Collector) Past(ctx context.Context) error {
	before := c.Now().Add(-c.Limits.Past - c.Limits.Grace)
	oldest, err := c.firstAfter(ctx, before)
	if err != nil || oldest == 0 {
		return err
	}
	err = c.Commit(ctx, func(e *partition.Edit) error {
		if !e.KeepFrom(oldest) {
			return partition.ErrUnchanged
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.replaceHint(ctx); err != nil {
		return err
	}
	if err := c.deleteOverlays(ctx); err != nil {
		return err
	}
	old, err := c.below(ctx, layout.ManifestPrefix(c.ID()), func(key string) (bool, error) {
		_, generation, err := layout.ParseManifestKey(key)
		return generation < c.Manifest().Oldest, err
	})
	if err != nil {
		return err
	}
	for _, key := range old {
		if err := c.Bucket.Delete(ctx, key); err != nil {
			return fmt.Errorf("cannot delete %s: %w", key, err)
		}
	}
	return nil
}

// replaceHint makes the hint a copy of the newest generation if it is a copy of a generation that
// is no longer kept. A hint that is lost or damaged needs no replacement: readers do without it.
func (c *Collector) replaceHint(ctx context.Context) error {
	hint, err := manifest.Hint(ctx, c.Bucket, c.ID())
	if errors.Is(err, blob.ErrRetryable) {
		return err
	}
	if err != nil || hint.Generation >= c.Manifest().Oldest {
		return nil
	}
	content, err := c.Bucket.Get(ctx, layout.ManifestKey(c.ID(), c.Manifest().Generation), blob.Range{})
	if err != nil {
		return err
	}
	if err := c.Bucket.Replace(ctx, layout.HintKey(c.ID()), content); err != nil {
		return fmt.Errorf("cannot replace the hint, which is of generation %d, before older generations than %d are deleted: %w", hint.Generation, c.Manifest().Oldest, err)
	}
	return nil
}

// firstAfter returns the number of the oldest generation to keep: the one that was in force at the
// time in the parameter moment. It reads at most maxPast generations, the oldest first; if these do
// not reach that time, it returns the last of them. It returns 0 if there is nothing to delete yet,
// because the oldest generation ended less than atOnce before that time.
func (c *Collector) firstAfter(ctx context.Context, moment time.Time) (first uint64, err error) {
	kept := max(c.Manifest().Oldest, 1)
	for n := kept + 1; n <= min(c.Manifest().Generation, kept+maxPast); n++ {
		g, err := manifest.At(ctx, c.Bucket, c.ID(), n)
		switch {
		case errors.Is(err, blob.ErrRetryable) || ctx.Err() != nil:
			return 0, err
		case err != nil: // the generation is damaged or lost, and its time is unknown
		case g.Time.After(moment), first == 0 && g.Time.After(moment.Add(-atOnce)):
			return first, nil
		default:
			first = n
		}
	}
	return first, nil
}

// deleteOverlays deletes the overlays that no kept generation lists. An overlay is listed by the
// generation whose number is in its key, and by some that follow it without a gap. Example: the
// oldest kept generation is 40. If it does not list an overlay of 37, no later generation does.
func (c *Collector) deleteOverlays(ctx context.Context) error {
	oldest, err := manifest.At(ctx, c.Bucket, c.ID(), c.Manifest().Oldest)
	if err != nil {
		return err
	}
	listed := keysOf(&oldest)
	old, err := c.below(ctx, layout.OverlayPrefix(c.ID()), func(key string) (bool, error) {
		_, generation, err := layout.ParseOverlayKey(key)
		return generation < oldest.Generation && !listed[key], err
	})
	if err != nil {
		return err
	}
	return c.Delete(ctx, old)
}

// below returns the sorted keys of the objects under a prefix for which the function old returns
// true. If old fails for a key, the key is not of this program: below logs it and leaves it out,
// and verify reports it.
func (c *Collector) below(ctx context.Context, prefix string, old func(key string) (bool, error)) (keys []string, err error) {
	objects, err := blob.List(ctx, c.Bucket, prefix)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if doomed, err := old(object.Key); err != nil {
			c.Log.WarnContext(ctx, "a foreign object is left alone", "partition", c.ID(), "key", object.Key, "error", err)
		} else if doomed {
			keys = append(keys, object.Key)
		}
	}
	return keys, nil
}
