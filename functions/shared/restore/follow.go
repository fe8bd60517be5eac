package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// follow changes frontiers (queues of URLs to request) that were built under earlier settings into frontiers of
// the settings s, without a rebuild. While another process rebuilds or follows, it does nothing, and returns busy.
//
// This works only for changes that concern a few URLs and ranges (see settings.Difference). After any other
// change, the frontier stays as it is, and must be rebuilt. If a strategy has moved URLs from one crawl partition
// to another, only the frontiers of these two must be rebuilt. The steps are:
//
//	1  The frontier gets a temporary fingerprint, which is neither that of the earlier settings nor that of
//	   s (see moving). From now on, pack settles no batch; schedule leases URLs as before.
//	2  URLs that takedowns name are removed.
//	3  The URLs in the ranges are loaded from books and spool, as a rebuild would load them.
//	4  If URLs may have become due, the outcomes in books and spool are searched for those that are.
//	5  The frontier gets the fingerprint of s.
//
// Between the steps 1 and 5, no batch is settled. So all outcomes and links that the frontier has were judged
// under the earlier settings, and the steps 3 and 4 find them in the books or the spool. All later batches are
// settled under s.
//
// If the process dies, the next sweep begins again with step 2. Changes that were made already are not made twice.
func (f *Frontiers) follow(ctx context.Context, s *settings.Settings) (busy bool, err error) {
	var changed []int
	for _, crawl := range s.Crawl.Partitions() {
		switch err := frontier.New(f.Redis, crawl).Built(ctx, s.Fingerprint()); {
		case errors.Is(err, frontier.ErrSettings):
			changed = append(changed, crawl)
		case err != nil && !errors.Is(err, frontier.ErrNotBuilt):
			return false, err
		}
	}
	if len(changed) == 0 {
		return false, nil
	}
	worked, err := lease.New(f.Redis, f.Worker).Do(ctx, "rebuild", f.Now, leaseTime, func() error {
		byPast := make(map[past][]int) // nearly always all frontiers have the same past
		for _, crawl := range changed {
			fingerprint, note, err := frontier.New(f.Redis, crawl).Settings(ctx)
			if err != nil {
				return err
			}
			byPast[past{fingerprint, note}] = append(byPast[past{fingerprint, note}], crawl)
		}
		for before, crawls := range byPast {
			effect, err := f.effect(ctx, before, s)
			if err != nil {
				return err
			}
			follows := slices.DeleteFunc(crawls, func(crawl int) bool { return effect.All || slices.Contains(effect.Moved, crawl) })
			if len(follows) == 0 {
				continue
			}
			if err := f.apply(ctx, effect, before, s, follows); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("cannot change the frontier after the settings: %w", err)
	}
	return !worked, nil
}

// past names the settings under which a frontier was built: by their fingerprint, and by the frontier's note,
// which has their versions (see settings.Versions).
type past struct{ fingerprint, note string }

// until stands between two fingerprints in the temporary fingerprint of a frontier that is being changed from the
// first settings to the second.
const until = ">"

// moving returns the temporary fingerprint of a frontier that is being changed from the settings p to s. If the
// frontier has a temporary fingerprint for s already, the result is this one.
func (p past) moving(s *settings.Settings) string {
	from, _, _ := strings.Cut(p.fingerprint, until)
	return from + until + s.Fingerprint()
}

// effect returns what must be done to a frontier of the earlier settings for the settings s. The result is All if
// the earlier settings are not known any more, or if the frontier was being changed to settings other than s.
func (f *Frontiers) effect(ctx context.Context, before past, s *settings.Settings) (settings.Effect, error) {
	all := settings.Effect{All: true}
	versions, err := settings.ParseVersions(before.note)
	if err != nil {
		return all, nil
	}
	from, to, moved := strings.Cut(before.fingerprint, until)
	if moved && to != s.Fingerprint() {
		return all, nil
	}
	was, err := settings.ReadPast(ctx, f.Bucket, f.Now(), versions)
	if err != nil {
		return all, err
	}
	if was.Fingerprint() != from {
		return all, nil
	}
	return settings.Difference(was, s), nil
}

// apply does the steps of follow for all frontiers that were built under the same earlier settings.
func (f *Frontiers) apply(ctx context.Context, effect settings.Effect, before past, s *settings.Settings, crawls []int) error {
	moving := before.moving(s)
	fronts := make(map[int]*frontier.Frontier)
	for _, crawl := range crawls {
		front := frontier.New(f.Redis, crawl).WithRuns(f.Bucket).WithRunCache(&f.runs)
		if before.fingerprint != moving {
			if ok, err := front.Move(ctx, before.fingerprint, moving); err != nil || !ok {
				return err // not ok: it was lost or reset meanwhile, and the next sweep sees to it
			}
		}
		fronts[crawl] = front.Under(moving)
	}
	taken := make(map[layout.Identity]frontier.Removal, len(effect.Taken))
	for _, id := range effect.Taken {
		taken[id] = frontier.Removal(s.Takedowns.ForgetsID(id))
	}
	if err := remove(ctx, fronts, taken); err != nil {
		return err
	}
	if len(effect.Judge) > 0 || effect.Due {
		books, err := account.Read(ctx, f.Bucket, s)
		if err != nil {
			return err
		}
		if err := f.judge(ctx, books, effect.Judge, s, fronts); err != nil {
			return err
		}
		if effect.Due {
			if err := f.renewAll(ctx, books, s, fronts); err != nil {
				return err
			}
		}
	}
	for crawl, front := range fronts {
		if err := front.Note(ctx, s.Versions().String()); err != nil {
			return err
		}
		if _, err := frontier.New(f.Redis, crawl).Move(ctx, moving, s.Fingerprint()); err != nil {
			return err
		}
	}
	f.Log.InfoContext(ctx, "the frontier follows new settings", "crawl", crawls, "taken", len(effect.Taken), "ranges", len(effect.Judge), "due", effect.Due)
	return nil
}

// judge loads the URLs in some ranges into frontiers that are not empty.
func (f *Frontiers) judge(ctx context.Context, books *account.Bucket, ranges []layout.Range, s *settings.Settings, fronts map[int]*frontier.Frontier) error {
	if len(ranges) == 0 {
		return nil
	}
	d := newDivider(&dueTimes{s, f.Now()})
	d.inPlace, d.rationed.unseen = true, true
	for _, within := range ranges {
		for some, err := range books.Ranges(ctx, within) {
			if err == nil {
				err = f.load(ctx, some, fronts, d)
			}
			if err != nil {
				return err
			}
			forgotten := make(map[layout.Identity]frontier.Removal)
			for id := range some.Forgotten() {
				forgotten[id] = frontier.Remove
			}
			if err := remove(ctx, fronts, forgotten); err != nil {
				return err
			}
		}
	}
	return f.release(ctx, fronts, &d.rationed)
}

// renewAll queues all URLs that are due, in the given frontiers only.
func (f *Frontiers) renewAll(ctx context.Context, books *account.Bucket, s *settings.Settings, fronts map[int]*frontier.Frontier) error {
	due := f.renewer(s, func(crawl int) *frontier.Frontier { return fronts[crawl] })
	for standing, err := range books.Standings(ctx) {
		if err == nil && standing.Final != nil && due.isDue(*standing.Final) {
			err = due.queue(ctx, *standing.Final)
		}
		if err != nil {
			return err
		}
	}
	return due.flush(ctx)
}

// remove removes URLs from all of these frontiers. Most of the frontiers do not know them.
func remove(ctx context.Context, fronts map[int]*frontier.Frontier, urls map[layout.Identity]frontier.Removal) error {
	for _, front := range fronts {
		if err := front.Forget(ctx, urls); err != nil {
			return err
		}
	}
	return nil
}
