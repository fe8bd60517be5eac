package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// clearOld deletes the vital signs (reports of processes) of days that are longer ago than
// Limits.Feedback, and the clicks of days that are longer ago than Limits.Clicks. If it has deleted
// clicks, it also deletes equally old clicks in quarantine.
func (f *Function) clearOld(ctx context.Context) error {
	_, errSigns := f.clearBefore(ctx, layout.Feedback, layout.FeedbackDay(f.Now().Add(-f.Limits.Feedback)))
	clicks := layout.ClickDay(f.Now().Add(-f.Limits.Clicks))
	cleared, err := f.clearBefore(ctx, layout.Clicks, clicks)
	if cleared > 0 && err == nil {
		_, err = f.clearBefore(ctx, layout.QuarantinePrefix(layout.Clicks), layout.QuarantinePrefix(clicks))
	}
	return errors.Join(errSigns, err)
}

// clearBefore deletes the objects below a prefix whose keys are less than a given key, and returns
// how many it deleted. The keys contain dates, so that less means earlier. Objects that other
// programs have put below the prefix stay.
func (f *Function) clearBefore(ctx context.Context, prefix, first string) (cleared int, err error) {
	var keys []string
	for object, err := range f.Bucket.List(ctx, prefix, "") {
		if err != nil {
			return 0, fmt.Errorf("cannot list %s: %w", prefix, err)
		}
		if object.Key >= first {
			break
		}
		if !layout.IsForeign(object.Key) {
			keys = append(keys, object.Key)
		}
	}
	return len(keys), collect.Delete(ctx, f.Bucket, f.Now, keys)
}

// clearRuns deletes the runs that no frontier needs and that are as old as a grace period (a day), once per grace
// period. It needs none of a crawl partition that is no longer in force: if the partition comes back, its frontier is
// rebuilt.
func (f *Function) clearRuns(ctx context.Context, s *settings.Settings) error {
	return f.once(ctx, "runs", func() error {
		before, inForce := f.Now().Add(-f.Limits.Collect.Grace), s.Crawl.Partitions()
		for _, crawl := range inForce {
			if err := frontier.New(f.Redis, crawl).WithRuns(f.Bucket).ClearRuns(ctx, before); err != nil {
				return err
			}
		}
		all, err := blob.List(ctx, f.Bucket, layout.Runs)
		if err != nil {
			return err
		}
		var keys []string
		for _, object := range all {
			isInForce := slices.ContainsFunc(inForce, func(crawl int) bool { return strings.HasPrefix(object.Key, layout.RunPrefix(crawl)) })
			if !isInForce && !layout.IsForeign(object.Key) && object.Modified.Before(before) {
				keys = append(keys, object.Key)
			}
		}
		return collect.Delete(ctx, f.Bucket, f.Now, keys)
	})
}
