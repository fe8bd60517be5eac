package sweep

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/restore"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// parallel is how many objects are deleted or looked into at once.
const parallel = 8

// partition is one storage partition while it is swept.
type partition struct {
	*Function
	settings *settings.Settings
	id       layout.Partition
	out      map[layout.Version]bool // batches on lease; nil: nobody knows
	spooled  []blob.Object
	manifest manifest.Manifest // the newest known
}

// sweepPartition runs the steps of one partition.
func (f *Function) sweepPartition(ctx context.Context, s *settings.Settings, id layout.Partition, out map[layout.Version]bool, fronts *restore.Frontiers) error {
	// Spool before manifest: a batch that is packed in between is consumed.
	spooled, err := f.list(ctx, layout.SpoolPrefix(id))
	if err != nil {
		return err
	}
	m, err := manifest.Read(ctx, f.Bucket, id)
	if err == nil && m.Generation == 0 {
		m, err = manifest.Begin(ctx, f.Bucket, id, f.Now)
	}
	if err != nil {
		return err
	}
	p := &partition{Function: f, settings: s, id: id, out: out, spooled: spooled, manifest: m}
	return errors.Join(p.raiseUndone(ctx), fronts.Renew(ctx, s, &m), p.tidySpool(ctx), p.compact(ctx), p.forget(ctx), p.maskGone(ctx), p.dropGone(ctx), p.clearOutlived(ctx), p.clearOrphans(ctx), p.forgetPast(ctx), p.collect(ctx))
}

// commit makes an edit true in the partition's next generation.
func (p *partition) commit(ctx context.Context, edit func(*manifest.Manifest) error) error {
	m, err := manifest.Commit(ctx, p.Bucket, p.id, p.Now, edit)
	if err == nil {
		p.manifest = m
	}
	return err
}

func (f *Function) list(ctx context.Context, prefix string) ([]blob.Object, error) {
	var objects []blob.Object
	for object, err := range f.Bucket.List(ctx, prefix, "") {
		if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", prefix, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// deleteAll deletes objects, whether they are there or not, unless it was
// suspended: what may be deleted now may be there with good reason later.
func (f *Function) deleteAll(ctx context.Context, keys []string) error {
	began := f.Now()
	deletes, ctx := errgroup.WithContext(ctx)
	deletes.SetLimit(parallel)
	for _, key := range keys {
		deletes.Go(func() error {
			if f.Now().Sub(began) >= manifest.Fresh {
				return fmt.Errorf("cannot delete %s: it takes too long", key)
			}
			if err := f.Bucket.Delete(ctx, key); err != nil {
				return fmt.Errorf("cannot delete %s: %w", key, err)
			}
			return nil
		})
	}
	return deletes.Wait()
}
