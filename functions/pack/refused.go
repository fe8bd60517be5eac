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

// quarantine copies a damaged spool object to quarantine/. Then it commits a manifest that lists
// the object's batch as consumed and damaged, with the given reason. So pack does not try the
// object again. The URLs of the batch are requested again when their lease ends.
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

// kept is the least time for which the spool object of a packed batch stays in the bucket. The
// function lost uses it to tell apart two batches with the same version. While the object of the
// packed batch is in the bucket, no other object can be stored under its key. So if a batch with
// this version is settled within this time, it is the packed batch itself. If it is settled later,
// it may be another one, because a Redis that was restored from an old copy gives out the same
// versions again.
const kept = 15 * time.Minute

// lost reports whether a waiting batch can no longer be packed. Then the frontier has its outcomes,
// but no book will ever have them. A batch is lost if
//
//	its spool object was damaged
//	it came too late: the manifest has closed its version
//	an earlier batch with the same version was packed: Redis came back with older contents, and
//	    gave out this version twice
func lost(m *manifest.Manifest, w frontier.Waiting) bool {
	i := slices.IndexFunc(m.Consumed, func(c manifest.Consumed) bool { return c.Batch == w.Batch })
	if i < 0 {
		return m.IsClosed(w.Batch)
	}
	return m.Consumed[i].Damaged != "" || w.Since.Sub(m.Consumed[i].At) >= kept
}

// distrust marks all frontiers as not built, so that the sweep rebuilds them from the books. It is
// called when a batch can no longer be packed (see lost). The outcomes of the batch are already in
// a frontier, or in one that is being rebuilt, but no book will ever have them.
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
