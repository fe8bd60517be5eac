package restore

import (
	"cmp"
	"context"
	"errors"

	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

const usualFinished = 1 << 18 // usual value of Frontiers.Finished

// Retire moves states of finished URLs from Redis to runs in the bucket, if Redis holds too many (see
// Frontiers.Finished and frontier.Frontier.Retire). A small frontier stays in Redis as a whole.
func (f *Frontiers) Retire(ctx context.Context, s *settings.Settings) error {
	var errs []error
	for _, crawl := range s.Crawl.Partitions() {
		front := frontier.New(f.Redis, crawl).WithRuns(f.Bucket).Under(s.Fingerprint())
		err := f.retire(ctx, crawl, front)
		if !errors.Is(err, frontier.ErrNotBuilt) { // if it is, the next sweep rebuilds it
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (f *Frontiers) retire(ctx context.Context, crawl int, front *frontier.Frontier) error {
	n, err := front.Retire(ctx, cmp.Or(f.Finished, usualFinished))
	if n > 0 {
		f.Log.InfoContext(ctx, "moved finished URLs from Redis to the bucket", "crawl", crawl, "urls", n)
	}
	return err
}
