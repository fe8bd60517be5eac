// Package watch looks at a whole system, from its bucket and, where it runs,
// its Redis, for what an operator should know.
package watch

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// System is what is looked at.
type System struct {
	Bucket blob.Reader
	Redis  redis.UniversalClient // nil when none can be asked: waiting work is not seen then
	Now    func() time.Time
}

// Look returns the state by which alerts are judged. It takes a LIST of the
// dead letters and two of the feedback, a GET for each feedback of the last
// minutes, and reads the manifests.
func (s System) Look(ctx context.Context, inForce *settings.Settings) (vitals.State, error) {
	now := s.Now()
	state := vitals.State{
		Now: now, Limits: inForce.Control.Limits, Pause: inForce.Control.Paused(now), Waiting: make(map[string]time.Duration),
		Warnings: inForce.Warnings,
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		state.DeadLetters, err = s.deadLetters(ctx)
		return err
	})
	group.Go(func() (err error) {
		state.Signs, err = vitals.ReadSigns(ctx, s.Bucket, now)
		return err
	})
	group.Go(func() (err error) {
		state.Usage, err = vitals.ReadUsage(ctx, s.Bucket, now, inForce.Control.Priced())
		return err
	})
	group.Go(func() (err error) {
		state.Held, state.OldestUnindexed, err = s.stored(ctx, inForce)
		return err
	})
	group.Go(func() (err error) {
		state.OldestSpool, err = s.spooled(ctx, inForce)
		return err
	})
	if err := group.Wait(); err != nil {
		return vitals.State{}, err
	}
	state.Waiting[task.Pack], state.Waiting[task.Index] = state.OldestSpool, state.OldestUnindexed
	return state, nil
}

func (s System) deadLetters(ctx context.Context) (n int, err error) {
	for _, err := range message.DeadLetters(ctx, s.Bucket) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// stored returns how many bytes the manifests list, and the age of the oldest
// package that is not indexed.
func (s System) stored(ctx context.Context, inForce *settings.Settings) (held int64, oldest time.Duration, err error) {
	for _, p := range inForce.Partitions() {
		m, err := manifest.Read(ctx, s.Bucket, p)
		if err != nil {
			return 0, 0, err
		}
		held += m.Bytes()
		for _, listed := range m.Packages {
			if listed.Indexed {
				continue
			}
			if _, name, err := layout.ParsePackageKey(listed.Key); err == nil {
				oldest = max(oldest, s.Now().Sub(name.Created))
			}
		}
	}
	return held, oldest, nil
}

// spooled returns how long the oldest batch has waited to be packed.
func (s System) spooled(ctx context.Context, inForce *settings.Settings) (oldest time.Duration, err error) {
	if s.Redis == nil {
		return 0, nil
	}
	for _, p := range inForce.Partitions() {
		waiting, err := frontier.NewInbox(s.Redis, p).List(ctx)
		if err != nil {
			return 0, err
		}
		for _, w := range waiting {
			oldest = max(oldest, s.Now().Sub(w.Since))
		}
	}
	return oldest, nil
}
