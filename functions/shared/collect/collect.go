// Package collect deletes from a storage partition what nobody needs any more.
//
//	what                                   condemned            deleted
//	an object that left the list           by that commit       after the grace, once no generation that is kept lists it
//	an object that no generation lists     after the grace      after another grace
//	a package without a page that counts   now and then         as one that left the list
//	the spool object of a packed batch                          a while after its batch was consumed
//	a generation, and overlays of it                            when nobody can ask for its moment any more
//
// First a commit condemns a key, so that no later one lists it; then it is
// deleted without looking. Objects that no generation lists may be all that is
// left of lost generations: none is condemned where there is evidence of that
// (see partition.Examine), nor more than half of a partition at once, until
// repair has seen to it.
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

// parallel is how many objects are deleted at once.
const parallel = 8

// Limits say how long things are kept.
type Limits struct {
	Keep  time.Duration // of a packed spool object; longer than any lease of a batch
	Grace time.Duration // from the condemning of an object to its end; longer than any reader keeps a manifest
	Past  time.Duration // for which it can be asked what was true, as manifest.AsOf does
}

// DefaultLimits keep what was true for a week.
func DefaultLimits() Limits {
	return Limits{Keep: 15 * time.Minute, Grace: 24 * time.Hour, Past: manifest.Keep}
}

// Collector collects in one partition. Each of its methods may be stopped
// anywhere and called again.
type Collector struct {
	*partition.Partition
	Bucket blob.Bucket
	Now    func() time.Time
	Limits Limits
	Log    *slog.Logger
}

// Condemned deletes what was condemned long enough ago and no generation lists
// that is kept, and commits that it is gone then. It stays condemned for another
// grace, within which nobody lists it again: so another sweep that has read an
// earlier generation may delete it once more.
func (c *Collector) Condemned(ctx context.Context) error {
	if !slices.ContainsFunc(c.Manifest().Condemned, func(o manifest.Condemned) bool { return c.over(o) || c.collectable(o) }) {
		return nil
	}
	if err := c.Reload(ctx); err != nil {
		return err
	}
	listed := keysOf(c.Manifest())
	judged := make(map[string]time.Time) // when they were condemned
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

// over reports whether nobody can be about to delete or to list a condemned
// object that is gone.
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

// Delete deletes objects; see the function.
func (c *Collector) Delete(ctx context.Context, keys []string) error {
	return Delete(ctx, c.Bucket, c.Now, keys)
}

// Delete deletes objects, whether they are there or not, unless it was
// suspended: what may be deleted now may be there with good reason later.
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

// Spool deletes spool objects, listed before the partition was read, that were
// packed long enough ago, or at all if now is true, and those that came when
// their batch was closed. Then it closes the batches whose spool objects are
// gone, in place of remembering each of them: should one be fetched once more,
// or its name be given again, pack refuses it.
//
// leased are the batches that are on lease. Where they are not known, nil,
// nothing is closed.
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
		// Closing a batch closes all before it, which may yet be packed.
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

// judgeSpool returns the keys of the spool objects that nobody needs, and of
// each epoch the lowest batch that is not packed.
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
