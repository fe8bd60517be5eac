package pack

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// delay returns the pause that follows a batch: the longest that the
// collections of its URLs ask for, or the robots.txt files of their origins. Who
// waits at all waits as long as answers take.
func (f *Function) delay(ctx context.Context, s *settings.Settings, ledger spool.Ledger) (time.Duration, error) {
	// agents are those in whose names an origin was asked.
	agents := make(map[string]map[string]bool)
	var delay time.Duration
	for _, o := range ledger.Outcomes {
		a, err := address.Parse(o.URL)
		if err != nil {
			continue
		}
		if agents[a.Origin] == nil {
			agents[a.Origin] = make(map[string]bool)
		}
		agents[a.Origin][f.agent(s, o)] = true
		delay = max(delay, s.DelayOf(o.Collections...))
	}
	cached, err := frontier.NewRobotsCache(f.Redis).Get(ctx, f.Now(), slices.Collect(maps.Keys(agents))...)
	if err != nil {
		return 0, err
	}
	for origin, answer := range cached {
		for agent := range agents[origin] {
			delay = max(delay, robots.Parse(answer.Status, answer.Body, agent).Delay())
		}
	}
	if delay > 0 {
		delay = max(delay, ledger.Slow)
	}
	return delay, nil
}

// agent is the User-Agent with which an outcome's URL was asked for.
func (f *Function) agent(s *settings.Settings, o book.Outcome) string {
	if len(o.Collections) == 0 {
		return f.Agent
	}
	return cmp.Or(s.AgentOf(o.Collections[0]), f.Agent)
}
