package pack

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// delay returns the pause that follows a batch: the longest that the
// collections of its URLs ask for, or the robots.txt files of their origins. Who
// waits at all waits as long as answers take.
func (f *Function) delay(ctx context.Context, s *settings.Settings, pages []membership.Page, slow time.Duration) (time.Duration, error) {
	// agents are those in whose names an origin was asked.
	agents := make(map[string]map[string]bool)
	var delay time.Duration
	for _, p := range pages {
		origin := p.Address.Origin
		if agents[origin] == nil {
			agents[origin] = make(map[string]bool)
		}
		agents[origin][f.agent(s, p.Collections)] = true
		delay = max(delay, s.DelayOf(p.Collections...))
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
		delay = max(delay, slow)
	}
	return delay, nil
}

// agent is the User-Agent with which a URL was asked for on behalf of the first
// of these collections.
func (f *Function) agent(s *settings.Settings, collections []string) string {
	if len(collections) == 0 {
		return f.Agent
	}
	return cmp.Or(s.AgentOf(collections[0]), f.Agent)
}
