package schedule

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// memory has for each crawl partition the highest version of a lease that this process has seen. If
// the highest version in the frontier is lower than that, Redis has lost its last changes, for
// example because it was restored from an old copy.
type memory struct {
	mu     sync.Mutex             // protects the field newest; also held while a frontier is checked
	newest map[int]layout.Version // highest version of a lease seen so far, by crawl partition
}

// see reports whether the frontier of a crawl partition has gone back to an older state. The
// parameter newest is the version of the frontier's newest lease. If it is lower than a version
// that was stored before, see returns true. Otherwise it stores the version and returns false. The
// caller must hold m.mu.
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

// remember stores the version of a lease that this process has just made.
func (m *memory) remember(crawl int, leased layout.Version) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.see(crawl, leased)
}

// sound reports whether URLs may be leased from a frontier. If not, it sends the sweep a message, so that the
// sweep rebuilds what must be rebuilt:
//
//	frontier                                     URLs may be leased   message to the sweep
//	built under the settings in force            yes                  no
//	built under other settings                   yes                  no: pack sends it
//	lost, in whole or in part                    no                   yes
//	older than when this process saw it before   no                   yes
//	that of another partition is not built       no                   yes
//	that of a partition not in the strategy      no                   no: it is not rebuilt
//
// The reason for the last row but one: while one frontier is new, lost or being rebuilt, pack cannot settle batches with links
// to its URLs. The leases of these batches would end, and their URLs would be requested again and again. And the
// stored pages of a collection with a limit are not all counted meanwhile.
func (f *Function) sound(ctx context.Context, front *frontier.Frontier, crawl int, s *settings.Settings) (bool, error) {
	if !slices.Contains(s.Crawl.Partitions(), crawl) {
		return false, nil
	}
	f.memory.mu.Lock()
	defer f.memory.mu.Unlock()
	newest, reason := front.Check(ctx, s.Fingerprint())
	switch {
	case reason != nil && !errors.Is(reason, frontier.ErrNotBuilt):
		return false, reason
	case reason != nil && !errors.Is(reason, frontier.ErrSettings): // it is lost
	case f.memory.see(crawl, newest):
		f.Log.WarnContext(ctx, "Redis has become an older copy of itself", "crawl", crawl, "newest", newest, "was", f.memory.newest[crawl])
		if err := front.Distrust(ctx); err != nil {
			return false, err
		}
	default:
		all, err := frontier.AllBuilt(ctx, f.Redis, s.Crawl.Partitions())
		if all || err != nil {
			return all, err
		}
		reason = errors.New("the frontier of another crawl partition is not built")
	}
	asked, err := task.AskSweep(ctx, f.Sender, f.Redis, f.Now())
	if asked {
		f.Log.InfoContext(ctx, "a sweep is asked for", "crawl", crawl, "reason", reason)
	}
	return false, err
}
