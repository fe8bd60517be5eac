package pack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// renewLacking has pages asked for again, on behalf of the collections of these
// entries, that are stored for others alone. What it cannot have asked for is
// missed until a rebuild: a page that waits again for another collection already,
// or of which nothing can be read, and what a collection wants that has a limit of
// pages, for which a rebuild counts them.
func (f *Function) renewLacking(ctx context.Context, s *settings.Settings, front *frontier.Frontier, entries []frontier.Entry, targets map[string]address.Address, lacking []layout.Identity) error {
	lacks := make(map[layout.Identity]bool, len(lacking))
	for _, id := range lacking {
		lacks[id] = true
	}
	var wanted []frontier.Entry
	missed := false
	for _, e := range entries {
		switch {
		case !lacks[e.ID]:
		case s.IsLimited(e.Collection):
			missed = true
		default:
			wanted = append(wanted, e)
		}
	}
	var due []frontier.Due
	if len(wanted) > 0 {
		last, err := f.lastOf(ctx, s, front, wanted, targets)
		if err != nil {
			return fmt.Errorf("cannot look up what other collections have: %w", err)
		}
		for _, e := range wanted {
			o := last[e.ID]
			switch {
			case o != nil && slices.Contains(o.Collections, e.Collection):
			case o == nil || o.State != book.Stored && o.State != book.Unchanged:
				missed = true
			default:
				e.Exponent, e.Last = o.Exponent, batch.LookOf(*o)
				due = append(due, frontier.Due{Entry: e, Version: o.Version})
			}
		}
	}
	renewed, err := front.Renew(ctx, f.Now(), due)
	if err == nil && (missed || renewed < len(due)) {
		err = front.Miss(ctx)
	}
	return err
}

// quarantine keeps the bytes of a spool object that cannot be read, and takes
// it out of the spool. Its URLs are asked for again when their lease ends.
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

// kept is for how long at least the spool object of a packed batch stays. Until
// then nothing else can be stored under its name, and what is settled under it
// is what was packed.
const kept = 15 * time.Minute

// lost reports whether the generation refuses a batch: its spool object was
// damaged, it came too late, or a Redis that went back in time gave it the name
// of one that is packed. What was settled of it is in no book.
func lost(m *manifest.Manifest, w frontier.Waiting) bool {
	i := slices.IndexFunc(m.Consumed, func(c manifest.Consumed) bool { return c.Batch == w.Batch })
	if i < 0 {
		return m.IsClosed(w.Batch)
	}
	return m.Consumed[i].Damaged != "" || w.Since.Sub(m.Consumed[i].At) >= kept
}

// distrust has the sweep rebuild the frontiers: a batch was settled in them, or
// read by a rebuild that is under way, that was lost, and the books know
// nothing of it.
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
