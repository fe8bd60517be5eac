package restore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// progressKey is the Redis key of the progress of a rebuild that has not ended, as JSON.
const progressKey = "frontier:rebuilding"

// progress says how far a rebuild has come. If the process that rebuilds dies, another one goes on from there. It
// is in Redis, as the frontiers are, so it is lost only together with them.
type progress struct {
	Settings string         `json:"settings"` // fingerprint of the settings
	Steps    map[int]string `json:"steps"`    // result of Frontier.Step for each crawl partition that is rebuilt
	Next     layout.Place   `json:"next"`     // URLs of lower places are loaded
	// name of the last commit of each storage partition (manifest.Manifest.Learnt) when the rebuild began;
	// the outcomes of this commit, and of those before it, are in every range that was loaded
	Learnt map[layout.Partition]string `json:"learnt"`
	Lost   bool                        `json:"lost,omitempty"` // field lost of the paceKeeper
	Silent time.Time                   `json:"silent"`         // field silent of the paceKeeper
	Held   bool                        `json:"held,omitempty"` // requests were held back (see rationed)
}

// rebuilding is a rebuild of the frontiers of some crawl partitions.
type rebuilding struct {
	progress
	fronts map[int]*frontier.Frontier
	pacer  *paceKeeper
}

// begin begins a rebuild of the frontiers of the stale crawl partitions. If resume is true, it goes on with an
// earlier rebuild of them that was cut short, if there is one.
func (f *Frontiers) begin(ctx context.Context, s *settings.Settings, stale []int, resume bool) (r *rebuilding, resumed bool, err error) {
	if resume {
		if r, err := f.resume(ctx, s, stale); err != nil || r != nil {
			return r, true, err
		}
	}
	r = &rebuilding{progress: progress{Settings: s.Fingerprint()}}
	if r.fronts, r.pacer, err = f.reset(ctx, s, stale); err != nil {
		return nil, false, err
	}
	r.Lost, r.Silent = r.pacer.lost, r.pacer.silent
	return r, false, f.Redis.Del(ctx, progressKey).Err()
}

// reset empties the frontiers of the stale crawl partitions. It returns these frontiers, and a
// paceKeeper for them. Redis records when the last request to each host was sent. If these records
// are lost, reset first makes the frontiers wait, so that no host is asked again too soon (see
// paceKeeper.shut).
//
// It also empties the frontiers of partitions that the strategy no longer has. Otherwise processes with older
// settings could lease URLs from them that other partitions have now.
func (f *Frontiers) reset(ctx context.Context, s *settings.Settings, stale []int) (map[int]*frontier.Frontier, *paceKeeper, error) {
	fronts := make(map[int]*frontier.Frontier)
	for _, crawl := range stale {
		fronts[crawl] = frontier.New(f.Redis, crawl).WithRuns(f.Bucket).WithRunCache(&f.runs)
	}
	pacer, err := f.pacer(ctx, s)
	if err == nil {
		err = pacer.shut(ctx, fronts)
	}
	if err != nil {
		return nil, nil, err
	}
	opened, err := frontier.Partitions(ctx, f.Redis)
	if err != nil {
		return nil, nil, err
	}
	for _, crawl := range opened {
		if !slices.Contains(s.Crawl.Partitions(), crawl) {
			if err := frontier.New(f.Redis, crawl).Reset(ctx); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, front := range fronts {
		if err := front.Reset(ctx); err != nil {
			return nil, nil, err
		}
	}
	return fronts, pacer, nil
}

// resume goes on with the rebuild whose progress is recorded in Redis. It returns nil if there is none, if that
// rebuild is of other frontiers or under other settings, or if Redis has lost some of its writes.
func (f *Frontiers) resume(ctx context.Context, s *settings.Settings, stale []int) (*rebuilding, error) {
	content, err := f.Redis.Get(ctx, progressKey).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &rebuilding{fronts: make(map[int]*frontier.Frontier)}
	if err := json.Unmarshal(content, &r.progress); err != nil {
		f.Log.WarnContext(ctx, "the progress of a rebuild cannot be read; it begins again", "error", err)
		return nil, nil
	}
	if r.Settings != s.Fingerprint() || !slices.Equal(slices.Sorted(maps.Keys(r.Steps)), slices.Sorted(slices.Values(stale))) {
		return nil, nil
	}
	for crawl, step := range r.Steps {
		r.fronts[crawl] = frontier.New(f.Redis, crawl).WithRuns(f.Bucket).WithRunCache(&f.runs)
		if ok, err := r.fronts[crawl].Resume(ctx, step); err != nil || !ok {
			return nil, err
		}
	}
	r.pacer = &paceKeeper{settings: s, now: f.Now(), lost: r.Lost, silent: r.Silent}
	f.Log.InfoContext(ctx, "goes on with a rebuild of the frontier", "crawl", stale, "place", r.Next)
	return r, r.save(ctx, f.Redis)
}

// learn records the last commits of the storage partitions.
func (r *rebuilding) learn(generations []manifest.Manifest) {
	r.Learnt = make(map[layout.Partition]string)
	for _, m := range generations {
		r.Learnt[m.Partition] = m.Learnt
	}
}

// save writes the progress into Redis.
func (r *rebuilding) save(ctx context.Context, rdb redis.UniversalClient) error {
	r.Steps = make(map[int]string)
	for crawl, front := range r.fronts {
		r.Steps[crawl] = front.Step()
	}
	content, err := json.Marshal(r.progress)
	if err == nil {
		err = rdb.Set(ctx, progressKey, content, 0).Err()
	}
	if err != nil {
		return fmt.Errorf("cannot record how far the rebuild is: %w", err)
	}
	return nil
}

// open opens the frontiers in an epoch.
func (r *rebuilding) open(ctx context.Context, s *settings.Settings, epoch uint64) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, front := range r.fronts {
		group.Go(func() error {
			if err := front.Note(ctx, s.Versions().String()); err != nil {
				return err
			}
			return front.Open(ctx, epoch, s.Fingerprint(), r.Learnt)
		})
	}
	return group.Wait()
}
