package engine

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// hashesAtOnce is how many stored pages Hashes reads at the same time.
const hashesAtOnce = 10

// Hashes returns the content hash (SHA-256) of the stored copy of each hit, in the order of the hits. The
// hash is zero for a hit without a stored page, for a copy that has been erased since the search, and for a
// damaged copy. Hashes takes one ranged GET for each hit.
func (e *Engine) Hashes(ctx context.Context, hits []search.Hit) ([][32]byte, error) {
	current, err := e.snapshots.get(ctx, e)
	if err != nil {
		return nil, err
	}
	hashes := make([][32]byte, len(hits))
	fork := meter.NewFork(ctx)
	var group errgroup.Group
	group.SetLimit(hashesAtOnce)
	for i := range hits {
		hit := &hits[i]
		if hit.Unvisited {
			continue
		}
		branch := fork.Branch()
		group.Go(func() error {
			key := currentKey(current.manifests, hit.Package)
			page, err := webobject.Read(branch, e.bucket, key, webobject.Place{Offset: hit.Offset, Length: hit.Length})
			switch {
			case err == nil && page.URL == hit.URL:
				hashes[i] = page.Hash
			case err == nil, errors.Is(err, blob.ErrAbsent), errors.Is(err, webobject.ErrDamaged):
			default:
				return err
			}
			return nil
		})
	}
	return hashes, group.Wait()
}
