package query

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// snapshotOf returns the state of a past moment, the newest for the zero time.
// What is forgotten now is hidden in it, too. The last one is kept, so that
// whoever turns its pages does not have it read again.
func (e *Engine) snapshotOf(ctx context.Context, moment time.Time) (*snapshot, error) {
	if moment.IsZero() {
		return e.snapshots.get(ctx, e)
	}
	inForce, err := e.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	manifests, err := e.pastManifests(ctx, inForce.Partitions(), moment)
	if err != nil {
		return nil, err
	}
	last := e.past.Load()
	if last != nil && sameGenerations(last.manifests, manifests) && last.takedowns.Version == inForce.Takedowns.Version {
		return last, nil
	}
	fresh, err := e.take(ctx, manifests, inForce, last)
	if err != nil {
		return nil, err
	}
	e.past.Store(fresh)
	return fresh, nil
}

// pastManifests reads those that were in force at a moment.
func (e *Engine) pastManifests(ctx context.Context, partitions []layout.Partition, moment time.Time) ([]manifest.Manifest, error) {
	return manifestsOf(ctx, partitions, func(ctx context.Context, p layout.Partition) (manifest.Manifest, error) {
		return manifest.AsOf(ctx, e.bucket, p, moment)
	})
}

// manifestsOf reads one of each partition, all at once.
func manifestsOf(ctx context.Context, partitions []layout.Partition, read func(context.Context, layout.Partition) (manifest.Manifest, error)) ([]manifest.Manifest, error) {
	manifests := make([]manifest.Manifest, len(partitions))
	fork := meter.NewFork(ctx)
	var group errgroup.Group
	for i, p := range partitions {
		group.Go(func() (err error) {
			manifests[i], err = read(fork.Branch(), p)
			return err
		})
	}
	return manifests, group.Wait()
}
