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

// errLearnt means that another process committed a book, that is, outcomes of URLs, after Outlived
// had read the books.
var errLearnt = errors.New("more was learnt while the books were read")

// Outlived condemns, that is, marks for deletion, the indexed packages without a current page: each
// of their pages has a later version in another package, or is gone from the web. Both must be true:
//
//	in the index    no segment has a live document from the package
//	in the books    (records of what became of each URL) no URL has its current page in the
//	                package (see book.Standing)
//
// A condemned package stays in the bucket until no kept generation of the manifest lists it.
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

// atOnce limits how often Past deletes generations of the manifest. When the oldest generation
// becomes old enough to be deleted, Past waits for the time atOnce. Then it deletes all generations
// that are old enough. Without this pause, every run could have one generation to delete, because
// each run that deletes generations also commits one.
const atOnce = 24 * time.Hour

// Past deletes the generations (versions of the manifest) that are too old to be requested (see
// Limits.Past). It takes three steps:
//
//	1   Commit the number of the oldest generation to keep, so that no reader looks for earlier
//	    ones. Replace the partition's hint (the copy of a generation at which readers begin) if the
//	    copied generation is not kept.
//	2   Delete the overlays that no kept generation lists.
//	3   Delete the generations that are not kept, the oldest first. If Past is killed in this step,
//	    its next run deletes the rest.
func (c *Collector) Past(ctx context.Context) error {
	before := c.Now().Add(-c.Limits.Past - c.Limits.Grace)
	oldest, err := c.oldestToKeep(ctx, before)
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

// replaceHint replaces the partition's hint if it is a copy of a generation that is no longer kept. The
// hint is an object with a copy of a recent generation of the manifest. Readers begin there to find the
// newest generation. If the hint is lost or damaged, replaceHint leaves it so: readers do without it.
func (c *Collector) replaceHint(ctx context.Context) error {
	hint, err := manifest.Hint(ctx, c.Bucket, c.ID())
	if errors.Is(err, blob.ErrRetryable) {
		return err
	}
	if err != nil || hint.Generation >= c.Manifest().Oldest {
		return nil
	}
	if err := manifest.PutHint(ctx, c.Bucket, *c.Manifest()); err != nil {
		return fmt.Errorf("cannot delete older generations than %d, while the hint is of generation %d: %w", c.Manifest().Oldest, hint.Generation, err)
	}
	return nil
}

// oldestToKeep returns the number of the oldest generation of the manifest to keep: the one that was
// the newest at the given moment, or the last checkpoint before it, if it is stored as a delta. It
// returns 0 if nothing is to be deleted yet. That is so if the oldest existing generation was still the
// newest one at the time moment − atOnce.
func (c *Collector) oldestToKeep(ctx context.Context, moment time.Time) (oldest uint64, err error) {
	kept := max(c.Manifest().Oldest, 1)
	if c.Manifest().Generation <= kept {
		return 0, nil
	}
	next, err := manifest.GetEntry(ctx, c.Bucket, c.ID(), kept+1)
	switch {
	case errors.Is(err, blob.ErrRetryable) || ctx.Err() != nil:
		return 0, err
	case err == nil && next.Time.After(moment.Add(-atOnce)):
		return 0, nil
	}
	then, err := manifest.InForce(ctx, c.Bucket, *c.Manifest(), moment)
	if errors.Is(err, manifest.ErrNotKept) || err == nil && then.Checkpoint <= kept {
		return 0, nil
	}
	if err == nil {
		_, err = manifest.At(ctx, c.Bucket, c.ID(), then.Checkpoint)
	}
	if errors.Is(err, manifest.ErrDamaged) || errors.Is(err, blob.ErrAbsent) { // then a later checkpoint will be the oldest
		return 0, nil
	}
	return then.Checkpoint, err
}

// deleteOverlays deletes the overlays (additions to segments, such as lists of dead documents) that
// no kept generation of the manifest lists. The key of an overlay has the number of the first
// generation that lists it. Later generations list it, too, until one leaves it out for good. So the
// oldest kept generation decides: if generation 40 does not list an overlay of generation 37, no later
// generation does.
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

// below lists the objects under a prefix. It calls the function old with each key, and returns the keys,
// sorted, for which old returns true. If old returns an error, the key was not made by this program. Then
// below logs the key and leaves it out.
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
