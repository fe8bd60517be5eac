package schedule

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
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

// robotsOf is what the robots.txt files of a lease's origins say.
type robotsOf struct {
	rules map[visitor]robots.Rules
	delay time.Duration // the longest that any of them asks for
}

// visitor is who asks an origin.
type visitor struct{ origin, agent string }

func (u candidate) visitor() visitor { return visitor{u.page.Origin, u.agent} }

func (f *Function) robots(ctx context.Context, urls []candidate) (robotsOf, error) {
	var origins []string
	for _, u := range urls {
		if !slices.Contains(origins, u.page.Origin) {
			origins = append(origins, u.page.Origin)
		}
	}
	known := robotsOf{rules: make(map[visitor]robots.Rules)}
	cached, err := frontier.NewRobotsCache(f.Redis).Get(ctx, f.Now(), origins...)
	if err != nil {
		return known, err
	}
	for _, u := range urls {
		answer, found := cached[u.page.Origin]
		if _, read := known.rules[u.visitor()]; read || !found {
			continue
		}
		rules := robots.Parse(answer.Status, answer.Body, u.agent)
		known.rules[u.visitor()] = rules
		known.delay = max(known.delay, rules.Delay())
	}
	return known, nil
}

func (r robotsOf) denies(u candidate) bool {
	rules, known := r.rules[u.visitor()]
	return known && !rules.Allows(u.page.Path)
}

// missing returns the origins of URLs whose files nobody has asked for yet.
func (r robotsOf) missing(urls []candidate) []string {
	var origins []string
	for _, u := range urls {
		if _, known := r.rules[u.visitor()]; !known && !slices.Contains(origins, u.page.Origin) {
			origins = append(origins, u.page.Origin)
		}
	}
	return origins
}

// askAgain is how long a sweep that was asked for has until the next is: one that
// cannot rebuild the frontier, because a book is damaged, is not asked at once
// again to read all others.
const askAgain = time.Minute

// memory is the newest that was seen of each frontier.
type memory struct {
	mu     sync.Mutex // protects newest, also while a frontier is looked at
	newest map[int]layout.Version
}

// see takes a version that a frontier has, and reports whether it is older than
// one that it had. It is called with mu held.
func (m *memory) see(crawl int, newest layout.Version) (older bool) {
	if newest.Compare(m.newest[crawl]) < 0 {
		return true
	}
	if m.newest == nil {
		m.newest = make(map[int]layout.Version)
	}
	m.newest[crawl] = newest
	return false
}

func (m *memory) remember(crawl int, leased layout.Version) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.see(crawl, leased)
}

// sound reports whether something may be leased from a frontier. One that has to
// be rebuilt is told to the sweep at once: it was lost, in whole or in part, or
// Redis is older than this function has seen it. One of other settings is only
// about to be rebuilt, and goes on until then.
func (f *Function) sound(ctx context.Context, front *frontier.Frontier, crawl int, s *settings.Settings) (bool, error) {
	f.memory.mu.Lock()
	defer f.memory.mu.Unlock()
	newest, err := front.Check(ctx, s.Fingerprint())
	switch {
	case err == nil || errors.Is(err, frontier.ErrSettings):
		if !f.memory.see(crawl, newest) {
			return true, nil
		}
		f.Log.WarnContext(ctx, "Redis has become an older copy of itself", "crawl", crawl, "newest", newest, "was", f.memory.newest[crawl])
		if err := front.Distrust(ctx); err != nil {
			return false, err
		}
	case !errors.Is(err, frontier.ErrNotBuilt):
		return false, err
	}
	first, errOnce := lease.New(f.Redis, "schedule").Once(ctx, "sweep asked for", f.Now(), askAgain)
	if errOnce != nil || !first {
		return false, errOnce
	}
	f.Log.InfoContext(ctx, "a sweep is asked for", "crawl", crawl, "reason", err)
	return false, task.Send(ctx, f.Sender, task.Sweep, struct{}{}, 0)
}
