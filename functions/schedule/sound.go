package schedule

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// askAgain is how long a sweep that was asked for has until the next is.
const askAgain = 10 * time.Second

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

// remember takes the version of a lease.
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
