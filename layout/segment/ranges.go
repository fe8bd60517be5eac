package segment

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// parallel is how many requests are sent at once.
const parallel = 8

// Ranges is a segment.Source that sends one request a range and keeps nothing.
type Ranges struct{ Bucket blob.Reader }

// Read implements segment.Source.
func (r Ranges) Read(ctx context.Context, key string, ranges []blob.Range) ([][]byte, error) {
	parts := make([][]byte, len(ranges))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, one := range ranges {
		group.Go(func() (err error) {
			parts[i], err = r.Bucket.Get(ctx, key, one)
			return err
		})
	}
	return parts, group.Wait()
}
