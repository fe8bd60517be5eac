package pack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// quarantine moves a damaged spool object into quarantine. Its URLs are requested
// again when their lease ends.
func (f *Function) quarantine(ctx context.Context, p layout.Partition, batch layout.Version, reason error) error {
	key := layout.SpoolKey(p, batch)
	f.Log.ErrorContext(ctx, "spool object goes to quarantine", "partition", p, "batch", batch, "key", key, "reason", reason)
	content, found, err := blob.Find(ctx, f.Bucket, key)
	if err != nil || !found { // another was faster, long ago
		return err
	}
	if err := blob.CreateOnce(ctx, f.Bucket, layout.QuarantineKey(key, content), content); err != nil {
		return fmt.Errorf("cannot keep damaged spool %s: %w", key, err)
	}
	own, err := partition.Open(ctx, f.Bucket, p, f.Now)
	if err != nil {
		return err
	}
	err = own.Commit(ctx, func(e *partition.Edit) error { return e.Consume(reason.Error(), batch) })
	if errors.Is(err, partition.ErrStale) { // it is packed, or closed
		return nil
	}
	return err
}

// kept is the least time for which the spool object of a packed batch stays. Until
// then no other object can have its name, and a batch settled under the name is the
// packed one.
const kept = 15 * time.Minute

// lost reports whether the generation refuses a batch: its spool object was damaged or
// came too late, or an old copy of Redis gave the batch the name of a packed one. What
// was settled of such a batch is not in the books.
func lost(m *manifest.Manifest, w frontier.Waiting) bool {
	i := slices.IndexFunc(m.Consumed, func(c manifest.Consumed) bool { return c.Batch == w.Batch })
	if i < 0 {
		return m.IsClosed(w.Batch)
	}
	return m.Consumed[i].Damaged != "" || w.Since.Sub(m.Consumed[i].At) >= kept
}

// distrust has the sweep rebuild the frontiers, because a batch that is lost was
// settled in them, or was read by a rebuild that is under way.
func (f *Function) distrust(ctx context.Context) error {
	inForce, err := f.Settings.Get(ctx)
	if err != nil {
		return err
	}
	for _, crawl := range inForce.Crawl.Partitions() {
		if err := frontier.New(f.Redis, crawl).Distrust(ctx); err != nil {
			return err
		}
	}
	return nil
}
