package collect

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
)

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
