package sweep

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/functions/shared/restore"
	"github.com/bucketsearch/bucketsearch/functions/sweep/compact"
	"github.com/bucketsearch/bucketsearch/functions/sweep/erase"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// swept is one storage partition while it is swept.
type swept struct {
	*Function
	*partition.Partition
	settings *settings.Settings
	out      map[layout.Version]bool // batches on lease; nil: nobody knows
	spooled  []blob.Object
}

// open reads the newest generation of a partition.
func (f *Function) open(ctx context.Context, id layout.Partition) (*swept, error) {
	p, err := partition.Open(ctx, f.Bucket, id, f.Now)
	return &swept{Function: f, Partition: p}, err
}

// sweepPartition runs the steps of one partition.
func (f *Function) sweepPartition(ctx context.Context, s *settings.Settings, id layout.Partition, out map[layout.Version]bool, fronts *restore.Frontiers) error {
	// Spool before manifest: a batch that is packed in between is consumed.
	spooled, err := collect.List(ctx, f.Bucket, layout.SpoolPrefix(id))
	if err != nil {
		return err
	}
	older := fronts.Older(ctx, s, versions(spooled))
	p, err := f.open(ctx, id)
	if err != nil {
		return err
	}
	if err := p.Begin(ctx); err != nil {
		return err
	}
	p.settings, p.out, p.spooled = s, out, spooled
	collector := &collect.Collector{Partition: p.Partition, Bucket: f.Bucket, Now: f.Now, Limits: f.Limits.Collect, Log: f.Log}
	eraser := &erase.Eraser{
		Partition: p.Partition, Bucket: f.Bucket, Sender: f.Sender, Now: f.Now, Takedowns: s.Takedowns,
		Collector: collector, Memory: &f.erased, Log: f.Log,
	}
	return errors.Join(
		older,
		p.raiseUndone(ctx),
		fronts.Renew(ctx, s, p.Manifest()),
		collector.Spool(ctx, spooled, out, eraser.Forgets()),
		compact.Run(ctx, f.Bucket, p.Partition, f.Limits.Compact, f.Log),
		p.forget(ctx, eraser),
		p.maskGone(ctx),
		p.dropGone(ctx),
		p.clearOutlived(ctx, collector, eraser),
		f.once(ctx, fmt.Sprintf("orphans %s", id), func() error { return collector.Unlisted(ctx) }),
		collector.Past(ctx),
		collector.Condemned(ctx),
	)
}

// versions are those of the batches in the spool; foreign objects have none.
func versions(spooled []blob.Object) (batches []layout.Version) {
	for _, object := range spooled {
		if _, batch, err := layout.ParseSpoolKey(object.Key); err == nil {
			batches = append(batches, batch)
		}
	}
	return batches
}

// forget erases what is forgotten. Once nothing is left, it looks now and then
// for what came late, from those who knew nothing of the takedown.
func (p *swept) forget(ctx context.Context, eraser *erase.Eraser) error {
	if p.settings.Takedowns.Version == 0 {
		return nil
	}
	if eraser.Forgets() {
		return eraser.Run(ctx)
	}
	return p.once(ctx, fmt.Sprintf("forget %s", p.ID()), func() error { return eraser.Collector.Forgotten(ctx) })
}

// clearOutlived condemns now and then the packages of which no page counts any
// more, unless what is dead may be forgotten.
func (p *swept) clearOutlived(ctx context.Context, collector *collect.Collector, eraser *erase.Eraser) error {
	if eraser.Forgets() {
		return nil
	}
	return p.once(ctx, fmt.Sprintf("outlived %s", p.ID()), func() error { return collector.Outlived(ctx) })
}

// once does what has to be done now and then: again when it has failed, and
// else after the grace. Whoever began to work before a takedown was known, and
// stores what it forgets afterwards, has done so by then. Should Redis forget
// about it, it is done more often; should the process be killed meanwhile, it
// is done after the grace.
func (f *Function) once(ctx context.Context, name string, do func() error) error {
	leases := lease.New(f.Redis, f.Worker+"/"+rand.Text())
	held, first, err := leases.Acquire(ctx, name, f.Now(), f.Limits.Collect.Grace)
	if err != nil || !first {
		return err
	}
	if err := do(); err != nil {
		return errors.Join(err, leases.Release(context.WithoutCancel(ctx), held))
	}
	return nil
}
