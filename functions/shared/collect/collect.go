// Package collect deletes from a storage partition the objects that are not needed any more. The
// manifest is the partition's list of needed objects. A generation is one numbered version of it. Most
// objects are condemned first: a new generation names them as objects to be deleted. They are deleted
// after the grace, which is a waiting time (Limits.Grace).
//
//	object                                  condemned                 deleted
//	dropped from the manifest               when it is dropped        after the grace, when no kept generation lists it
//	listed by no generation                 when as old as the grace  after another grace
//	package whose pages are all superseded  when a sweep drops it     like other objects dropped from the manifest
//	spool object of a packed batch          never                     Limits.Keep after its batch was packed
//	generation, and overlays only it lists  never                     Limits.Past plus a grace after the next generation
//
// The manifest's records of condemned objects are moved to lists, objects of their own, when they are a day
// old and many. The objects of one list are deleted together: when the last one's time has come.
//
// Once a key is condemned, no later commit can list it, so its object can be deleted safely. An object
// that no generation lists may have been listed by a generation that was lost. So no such object is
// condemned while there is evidence of a loss (see partition.Examine), or while more than half of a
// partition's objects are unlisted. In both cases repair must run first.
package collect

import (
	"cmp"
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

// Records of condemned objects are moved from the manifest to a list, which is an object of its own, when the
// oldest is a day old, or sooner if there are very many (see partition.Edit.ListCondemned).
const (
	mostListed  = 16384               // greatest number of records in a list
	listedAge   = 2 * partition.Fresh // younger records stay in the manifest
	listedEvery = 24 * time.Hour      // age of the oldest record at which a list is made
)

// Limits say how long objects are kept.
type Limits struct {
	Keep  time.Duration // time for which the spool object of a batch is kept after the batch was packed; longer than any lease of a batch
	Grace time.Duration // time from condemning an object (naming it as to be deleted) to deleting it; longer than any reader uses a manifest
	Past  time.Duration // age up to which a superseded manifest can still be read (manifest.AsOf)
	// Listed is the least number of records of condemned objects for which a list is made.
	Listed int
}

// DefaultLimits returns the usual limits. Spool objects are kept for 15 minutes after packing,
// condemned objects for a day, and superseded generations of the manifest for manifest.Keep. A list has
// 256 records of condemned objects at least.
func DefaultLimits() Limits {
	return Limits{Keep: 15 * time.Minute, Grace: 24 * time.Hour, Past: manifest.Keep, Listed: 256}
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

// Condemned deletes the objects that were condemned (named in the manifest as to be deleted) at least
// Limits.Grace ago. It does not delete
//
//	an object that the newest generation lists
//	an object that an earlier kept generation lists, unless it may contain forgotten pages
//
// Then it commits a generation that says which objects were deleted. For another Limits.Grace the manifest
// still names them as condemned, so that no commit uses their keys for new objects. Such new objects would
// be in danger: a slow sweep with an older generation may still be about to delete these keys.
//
// The objects in lists of older records are deleted in the same way, each list at once. Last, Condemned
// moves old records to a new list if they are many.
func (c *Collector) Condemned(ctx context.Context) error {
	for _, step := range []func(context.Context) error{c.condemnedOnes, c.condemnedLists, c.listCondemned} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// condemnedOnes does the work of Condemned for the records in the manifest.
func (c *Collector) condemnedOnes(ctx context.Context) error {
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

// condemnedLists does the work of Condemned for the lists of older records.
func (c *Collector) condemnedLists(ctx context.Context) error {
	collectable := func(l manifest.CondemnedList) bool { return c.Manifest().CollectableList(l, c.Now(), c.Limits.Grace) }
	over := func(l manifest.CondemnedList) bool { return c.over(manifest.Condemned{Gone: l.Gone}) }
	if !slices.ContainsFunc(c.Manifest().CondemnedLists, func(l manifest.CondemnedList) bool { return over(l) || collectable(l) }) {
		return nil
	}
	if err := c.Reload(ctx); err != nil {
		return err
	}
	listed := keysOf(c.Manifest())
	judged := make(map[string]bool) // keys of the lists whose objects were judged
	for _, l := range c.Manifest().CondemnedLists {
		if !collectable(l) {
			continue
		}
		records, err := partition.ReadCondemnedList(ctx, c.Bucket, l)
		if err != nil {
			return err
		}
		var keys []string
		for _, o := range records {
			if listed[o.Key] {
				c.Log.ErrorContext(ctx, "a condemned object is listed, and stays", "partition", c.ID(), "key", o.Key, "generation", c.Manifest().Generation)
				continue
			}
			keys = append(keys, o.Key)
		}
		if err := c.Delete(ctx, keys); err != nil {
			return err
		}
		judged[l.Key] = true
	}
	return c.Commit(ctx, func(e *partition.Edit) error {
		if !e.CollectedLists(func(l manifest.CondemnedList) bool { return judged[l.Key] }, over) {
			return partition.ErrUnchanged
		}
		return nil
	})
}

// listCondemned moves old records of condemned objects from the manifest to a list, if they are many.
func (c *Collector) listCondemned(ctx context.Context) error {
	old, oldest := 0, time.Duration(0)
	for _, o := range c.Manifest().Condemned {
		if age := c.Now().Sub(o.At); age > listedAge && o.Gone.IsZero() && !o.Erase {
			old, oldest = old+1, max(oldest, age)
		}
	}
	if old < c.Limits.Listed || old == 0 || old < mostListed && oldest < listedEvery {
		return nil
	}
	return c.Commit(ctx, func(e *partition.Edit) error {
		if changed, err := e.ListCondemned(ctx, c.Now().Add(-listedAge), mostListed); err != nil || !changed {
			return cmp.Or(err, partition.ErrUnchanged)
		}
		return nil
	})
}

func (c *Collector) collectable(o manifest.Condemned) bool {
	return c.Manifest().Collectable(o, c.Now(), c.Limits.Grace)
}

// over reports whether a condemned object (one that the manifest names as to be deleted) was deleted at
// least Limits.Grace ago. No process works that long with an old manifest. So no process can still be
// about to delete the object again, or to list its key in a manifest.
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

// Delete deletes the objects with the keys. A missing object is no error. Delete may run for at most
// the time partition.Fresh. If it takes longer, for instance because the process was suspended, it
// stops with an error, because another process may meanwhile have put a needed object under a key.
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

// Spool deletes spool objects of the partition. A spool object holds what one batch has fetched, until it
// is packed. Spool deletes an object if its batch
//
//	was packed at least Limits.Keep ago (or at any time, if the parameter now is true), or
//	is closed (see below) and not in the manifest's list of packed batches: nobody will pack it any more
//
// The parameter spooled lists all objects in the partition's spool. The list must be older than the
// manifest.
//
// Then Spool closes batches, so that the manifest's list of packed batches stays short. Batches are
// numbered within an epoch by tokens. Closing a batch removes it from the list, and says instead that all
// batches of its epoch up to its token are done. So Spool closes a batch only if
//
//	it was packed at least Limits.Keep ago, and
//	no batch of its epoch with the same or a lower token is leased, or waits to be packed
//
// The parameter leased has the leased batches. If it is nil, the leases are unknown, and Spool closes
// nothing.
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

// judgeSpool finds the spool objects that the method Spool deletes, and returns their keys as doomed. The
// parameters are those of Spool with the same names. The map unpacked says which batches must still be
// packed: its keys are epochs, and its values the lowest tokens of such batches. (A token is the number of
// a batch in its epoch.)
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
