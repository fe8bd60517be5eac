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

// quarantine copies a damaged spool object to quarantine/ and commits its batch as consumed, with
// the parameter reason as the damage. The URLs of the batch are requested again when their lease
// ends.
func (f *Function) quarantine(ctx context.Context, p layout.Partition, batch layout.Version, reason error) error {
	key := layout.SpoolKey(p, batch)
	f.Log.ErrorContext(ctx, "spool object goes to quarantine", "partition", p, "batch", batch, "key", key, "reason", reason)
	content, found, err := blob.Find(ctx, f.Bucket, key)
	if err != nil || !found { // another process did it, and the object is deleted
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

// kept is the least time for which the spool object of a packed batch stays in the bucket. During
// that time no other spool object can be stored under the same key. So if a batch with the version
// of a packed batch is settled within this time, it is that batch itself, delivered again.
const kept = 15 * time.Minute

// lost reports whether a waiting batch can no longer be packed. Its outcomes are settled in a
// frontier then, but will never be in a book. That is so if
//
//	the batch's spool object was damaged
//	the manifest has closed the batch's version: the batch came too late
//	Redis came back with older contents, and gave the version of a packed batch to this batch, too
func lost(m *manifest.Manifest, w frontier.Waiting) bool {
	i := slices.IndexFunc(m.Consumed, func(c manifest.Consumed) bool { return c.Batch == w.Batch })
	if i < 0 {
		return m.IsClosed(w.Batch)
	}
	return m.Consumed[i].Damaged != "" || w.Since.Sub(m.Consumed[i].At) >= kept
}

// distrust marks all frontiers as not built, so that the sweep rebuilds them. It is called
// after a lost batch: the frontiers, or a rebuild under way, know outcomes that are in no
// book.
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
