package collect

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// Unlisted condemns, that is, marks for deletion, the packages, books and segments that are older
// than Limits.Grace and that the manifest neither lists nor names as condemned. Such an object is
// left over if a function was killed between putting the object and its commit, or if the commit
// was refused. If a function was not killed but is only slow, its commit finds that the key is
// condemned, and the function stores the object again under another key. Objects with foreign keys
// (layout.IsForeign) stay. Overlays are deleted by Past.
//
// Unlisted fails, and condemns nothing, if more than half of the partition's objects are unlisted. It
// also fails if versions of the manifest are lost, since these may have listed the objects.
func (c *Collector) Unlisted(ctx context.Context) error {
	return c.condemnUnlisted(ctx, c.Limits.Grace, false)
}

// UnlistedOnDemand condemns (marks for deletion) the objects that no manifest lists, as Unlisted
// does. Unlike Unlisted, it does so even if they are more than half of the partition's objects,
// because an operator has asked for it.
func (c *Collector) UnlistedOnDemand(ctx context.Context) error {
	return c.condemnUnlisted(ctx, c.Limits.Grace, true)
}

// Forgotten condemns (marks for deletion) all packages, books and segments that the manifest does
// not list, however new they are, and empties the quarantine: any of these objects may hold pages
// that an operator wants forgotten. It fails if versions of the manifest are lost.
func (c *Collector) Forgotten(ctx context.Context) error {
	if err := c.condemnUnlisted(ctx, 0, true); err != nil {
		return err
	}
	return c.clearQuarantine(ctx)
}

func (c *Collector) condemnUnlisted(ctx context.Context, grace time.Duration, onDemand bool) error {
	// List the objects before the manifest is read: then an object that is put and listed in
	// between counts as listed.
	var keys []string
	all := 0
	for _, kind := range []string{layout.Packages, layout.Books, layout.Segments} {
		objects, err := blob.List(ctx, c.Bucket, kind+c.ID().String()+"/")
		if err != nil {
			return err
		}
		for _, object := range objects {
			if layout.IsForeign(object.Key) {
				continue
			}
			all++
			if c.Now().Sub(object.Modified) >= grace {
				keys = append(keys, object.Key)
			}
		}
	}
	var unlisted []string
	judged := uint64(0) // generation for which partition.Lost found no evidence of a loss
	err := c.Commit(ctx, func(e *partition.Edit) error {
		var err error
		if unlisted, err = e.Unlisted(ctx, keys...); err != nil {
			return err
		}
		if unlisted == nil {
			return partition.ErrUnchanged
		}
		if !onDemand && 2*len(unlisted) > all {
			return fmt.Errorf("cannot collect in partition %s: %d of its %d objects are in no generation, which is more than half; "+
				"run bucketsearch verify --repair, which lists or condemns them", c.ID(), len(unlisted), all)
		}
		if m := e.Manifest(); judged != m.Generation {
			evidence, err := partition.Lost(ctx, c.Bucket, *m)
			if err != nil {
				return err
			}
			if len(evidence) > 0 {
				return fmt.Errorf("cannot collect in partition %s: %s %s: %w", c.ID(), evidence[0].Key, evidence[0].Detail, partition.ErrLost)
			}
			judged = m.Generation
		}
		e.CondemnUnlisted(unlisted...)
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range unlisted {
		c.Log.InfoContext(ctx, "condemned what nothing lists", "partition", c.ID(), "generation", c.Manifest().Generation, "key", key)
	}
	return nil
}

// clearQuarantine deletes the partition's objects in quarantine, where damaged objects are kept for
// an operator to examine. It is called if an operator wants URLs forgotten. It deletes objects of any
// age, because damaged bytes cannot be searched for these URLs, and even a page fetched today may link
// to one of them.
func (c *Collector) clearQuarantine(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, kind := range []string{layout.Spool, layout.Packages, layout.Books, layout.Segments, layout.Due} {
		group.Go(func() error {
			kept, err := blob.List(ctx, c.Bucket, layout.QuarantinePrefix(kind+c.ID().String()+"/"))
			if err != nil {
				return err
			}
			var keys []string
			for _, object := range kept {
				c.Log.WarnContext(ctx, "deleted from quarantine, for it may hold what is forgotten", "partition", c.ID(), "generation", c.Manifest().Generation, "key", object.Key)
				keys = append(keys, object.Key)
			}
			return c.Delete(ctx, keys)
		})
	}
	return group.Wait()
}
