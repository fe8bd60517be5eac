package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Older has all frontiers rebuilt, now, if Redis has never given the version of
// one of these batches, which are in the spool: it has become an older copy of
// itself, or lost which tokens it gave, and would give them again. What was
// committed since, Refresh knows by what frontiers have learnt.
func (f *Frontiers) Older(ctx context.Context, s *settings.Settings, spooled []layout.Version) error {
	var newest layout.Version
	for _, batch := range spooled {
		if batch.Compare(newest) > 0 {
			newest = batch
		}
	}
	if newest == (layout.Version{}) {
		return nil
	}
	var last layout.Version
	for _, crawl := range s.Crawl.Partitions() {
		epoch, err := frontier.New(f.Redis, crawl).Epoch(ctx)
		if errors.Is(err, frontier.ErrNotBuilt) {
			return nil // Refresh knows
		}
		if err != nil {
			return err
		}
		last.Epoch = max(last.Epoch, epoch)
	}
	given, err := frontier.Given(ctx, f.Redis)
	if last.Token = given; err != nil || newest.Compare(last) <= 0 {
		return err
	}
	f.Log.WarnContext(ctx, "Redis is older than the bucket", "last", last, "spooled", newest)
	if _, err = f.rebuild(ctx, s, s.Crawl.Partitions()); err != nil && !errors.Is(err, ErrRebuilding) {
		return fmt.Errorf("cannot rebuild after Redis, which gave %s last, turned out older than batch %s in the spool: %w", last, newest, err)
	}
	return nil
}
