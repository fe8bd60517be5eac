package schedule

import (
	"context"
	"math"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// horizon is how far ahead of its time a host may be leased: fetch waits.
const horizon = 2 * time.Second

// always is the horizon of a lease that finds nothing to ask for, but parks all
// that waits.
const always time.Duration = math.MaxInt64

// request asks for a lease of what there is room for. It reports whether to
// lease at all.
func (f *Function) request(ctx context.Context, front *frontier.Frontier, s *settings.Settings) (frontier.Request, bool, error) {
	r := frontier.Request{Horizon: horizon}
	counts, err := front.Counts(ctx)
	if err != nil || counts.Waiting == 0 {
		return r, false, err
	}
	if full, err := f.full(ctx, s, counts.Batches); err != nil || full {
		return r, false, err
	}
	if r.Rooms, err = f.rooms(ctx, s); err != nil {
		return r, false, err
	}
	held, parked := counts.Again == 0, counts.Again == 0 // all that waits is, or may be at once
	for _, c := range s.Collections {
		room, limited := r.Rooms[c.Name]
		held, parked = held && limited && room == 0, parked && limited && room < 0
	}
	if parked {
		r.Horizon = always
	}
	return r, !held, nil
}

// full reports whether as many batches are out as may be: of the frontier, or
// of all if a collection says how many.
func (f *Function) full(ctx context.Context, s *settings.Settings, batches int64) (bool, error) {
	fetches := s.Fetches()
	if fetches == 0 {
		return batches >= int64(f.Limits.Batches), nil
	}
	out := int64(0)
	for _, crawl := range s.Crawl.Partitions() {
		counts, err := frontier.New(f.Redis, crawl).Counts(ctx)
		if err != nil {
			return false, err
		}
		out += counts.Batches
	}
	return out >= int64(fetches), nil
}

// rooms returns how many pages more may be asked for the first time, of each
// collection that has a limit: what is left to it when all is stored that is
// out. It is below 0 where as many are stored.
func (f *Function) rooms(ctx context.Context, s *settings.Settings) (map[string]int64, error) {
	var names, tallies []string
	var left, out []int64
	for _, c := range s.Collections {
		if c.StopAt > 0 {
			names, tallies = append(names, c.Name), append(tallies, s.CollectionTally(c.Name))
			left, out = append(left, c.StopAt), append(out, 0)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	for _, crawl := range s.Crawl.Partitions() {
		front := frontier.New(f.Redis, crawl)
		leased, err := front.Out(ctx, names) // before what is stored, so that nothing is missed
		if err != nil {
			return nil, err
		}
		stored, err := front.Tallies(ctx, tallies)
		if err != nil {
			return nil, err
		}
		for i := range names {
			left[i], out[i] = left[i]-stored[i], out[i]+leased[i]
		}
	}
	rooms := make(map[string]int64, len(names))
	for i, name := range names {
		rooms[name] = -1
		if left[i] > 0 {
			rooms[name] = max(0, left[i]-out[i])
		}
	}
	return rooms, nil
}
