// Package collect deletes from a storage partition the objects that are not needed
// any more.
//
//	object                                     condemned                   deleted
//	dropped from the manifest                  by the commit that drops    after the grace, when no kept generation lists it
//	listed by no generation                    after the grace             after another grace
//	package whose pages are superseded         once in each grace          like an object dropped from the manifest
//	spool object of a packed batch             never                       Limits.Keep after its batch was consumed
//	generation, and overlays only it lists     never                       Limits.Past plus a grace after the next generation
//
// A commit condemns a key, so that no later commit lists it; then the object is deleted without
// another check. Objects that no generation lists may be the remains of lost generations: none is
// condemned while there is evidence of such a loss (see partition.Examine), nor more than half of a
// partition in one run, until repair has run.
package collect

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

// parallel is the greatest number of objects that are deleted at the same time.
const parallel = 8

// Limits say how long objects are kept.
type Limits struct {
	Keep  time.Duration // time for which the spool object of a packed batch is kept; longer than any lease of a batch
	Grace time.Duration // time between condemning and deleting an object; longer than any reader uses a manifest
	Past  time.Duration // age up to which a superseded generation can still be read (manifest.AsOf)
}

// DefaultLimits returns 15 minutes for spool objects, a grace of a day, and manifest.Keep
// for superseded generations.
func DefaultLimits() Limits {
	return Limits{Keep: 15 * time.Minute, Grace: 24 * time.Hour, Past: manifest.Keep}
}

// Collector deletes the objects of one storage partition that are not needed any more.
// Each of its methods can be killed at any point and called again.
type Collector struct {
	*partition.Partition
	Bucket blob.Bucket
	Now    func() time.Time
	Limits Limits
	Log    *slog.Logger
}

// Condemned deletes the objects that were condemned at least a grace ago. It does not delete
//
//	an object that the newest generation lists
//	an object that an earlier kept generation lists, unless it may contain forgotten pages
//
// Then it commits that they are deleted. For another grace the manifest lists them as condemned, so
// that no commit uses their keys for new objects: a sweep that read an earlier generation might
// delete these.
func (c *Collector) Condemned(ctx context.Context) error {
	if !slices.ContainsFunc(c.Manifest().Condemned, func(o manifest.Condemned) bool { return c.over(o) || c.collectable(o) }) {
		return nil
	}
	if err := c.Reload(ctx); err != nil {
		return err
	}
	listed := keysOf(c.Manifest())
	judged := make(map[string]time.Time) // by key: time at which the object was condemned
	var keys []string
	for _, o := range c.Manifest().Condemned {
		if !c.collectable(o) {
			continue
		}
		judged[o.Key] = o.At
		if listed[o.Key] {
			c.Log.ErrorContext(ctx, "a condemned object is listed, and stays", "partition", c.ID(), "key", o.Key, "generation", c.Manifest().Generation)
			continue
		}
		keys = append(keys, o.Key)
	}
	if err := c.Delete(ctx, keys); err != nil {
		return err
	}
	return c.Commit(ctx, func(e *partition.Edit) error {
		deleted := func(o manifest.Condemned) bool {
			at, found := judged[o.Key]
			return found && at.Equal(o.At)
		}
		over := func(o manifest.Condemned) bool { return c.over(o) || listed[o.Key] && !o.Gone.IsZero() }
		if !e.Collected(deleted, over) {
			return partition.ErrUnchanged
		}
		return nil
	})
}

func (c *Collector) collectable(o manifest.Condemned) bool {
	return c.Manifest().Collectable(o, c.Now(), c.Limits.Grace)
}

// over reports whether a condemned object was deleted at least a grace ago. Since then no other
// process can delete the object again, or list its key in a manifest.
func (c *Collector) over(o manifest.Condemned) bool {
	return !o.Gone.IsZero() && c.Now().Sub(o.Gone) >= c.Limits.Grace
}

func keysOf(m *manifest.Manifest) map[string]bool {
	keys := make(map[string]bool)
	for key := range m.Objects() {
		keys[key] = true
	}
	return keys
}

// Delete deletes the objects with the keys from the bucket (see the function Delete).
func (c *Collector) Delete(ctx context.Context, keys []string) error {
	return Delete(ctx, c.Bucket, c.Now, keys)
}

// Delete deletes the objects with the keys. A missing object is no error. Delete stops with an
// error when partition.Fresh has passed since it was called, as when the process was suspended:
// another process may have put a needed object under one of the keys by then.
func Delete(ctx context.Context, bucket blob.Bucket, now func() time.Time, keys []string) error {
	began := now()
	deletes, ctx := errgroup.WithContext(ctx)
	deletes.SetLimit(parallel)
	for _, key := range keys {
		deletes.Go(func() error {
			if now().Sub(began) >= partition.Fresh {
				return fmt.Errorf("cannot delete %s: it takes too long", key)
			}
			if err := bucket.Delete(ctx, key); err != nil {
				return fmt.Errorf("cannot delete %s: %w", key, err)
			}
			return nil
		})
	}
	return deletes.Wait()
}

// Spool deletes the spool objects of the partition whose batch
//
//	was packed at least Limits.Keep ago (if the parameter now is true: at any time), or
//	is closed and not listed as consumed, so that pack refuses it
//
// The parameter spooled lists all objects in the partition's spool; the list must be older than the
// manifest.
//
// Then Spool closes the batches that were packed at least Limits.Keep ago: the manifest no longer
// lists each of them as consumed, but says that all batches of their epoch up to some token are
// done. A batch stays open as long as it, or one of its epoch with a lower token, is leased or not
// packed yet. The parameter leased has the leased batches. If it is nil, the leases are unknown,
// and Spool closes nothing.
func (c *Collector) Spool(ctx context.Context, spooled []blob.Object, leased map[layout.Version]bool, now bool) error {
	doomed, unpacked := c.judgeSpool(spooled, now)
	if err := c.Delete(ctx, doomed); err != nil || leased == nil {
		return err
	}
	for batch := range leased {
		lower(unpacked, batch)
	}
	over := make(map[layout.Version]bool)
	for _, consumed := range c.Manifest().Consumed {
		// Closing a batch closes all batches before it, and those may still have to be packed.
		batch := consumed.Batch
		lowest, found := unpacked[batch.Epoch]
		if c.old(consumed) && !(found && batch.Token >= lowest) {
			over[batch] = true
		}
	}
	if len(over) == 0 {
		return nil
	}
	return c.Commit(ctx, func(e *partition.Edit) error {
		if !e.Close(func(consumed manifest.Consumed) bool { return over[consumed.Batch] }) {
			return partition.ErrUnchanged
		}
		return nil
	})
}

// judgeSpool decides for the method Spool which spool objects are to be deleted, and returns their
// keys as doomed. The result unpacked has, for each epoch with batches that must still be packed,
// the lowest token of these batches. The parameters are those of Spool.
func (c *Collector) judgeSpool(spooled []blob.Object, now bool) (doomed []string, unpacked map[uint64]uint64) {
	consumed := make(map[layout.Version]manifest.Consumed)
	for _, one := range c.Manifest().Consumed {
		consumed[one.Batch] = one
	}
	unpacked = make(map[uint64]uint64)
	for _, object := range spooled {
		_, batch, err := layout.ParseSpoolKey(object.Key)
		if err != nil {
			continue
		}
		one, packed := consumed[batch]
		switch {
		case packed && (now || c.old(one)), !packed && c.Manifest().IsClosed(batch):
			doomed = append(doomed, object.Key)
		case !packed:
			lower(unpacked, batch)
		}
	}
	return doomed, unpacked
}

func (c *Collector) old(consumed manifest.Consumed) bool {
	return c.Now().Sub(consumed.At) >= c.Limits.Keep
}

func lower(lowest map[uint64]uint64, batch layout.Version) {
	if token, found := lowest[batch.Epoch]; !found || batch.Token < token {
		lowest[batch.Epoch] = batch.Token
	}
}
