package schedule

import (
	"context"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// robotsOf is what the robots.txt files of a batch's origins say.
type robotsOf struct {
	rules  map[string]robots.Rules // by origin
	wanted []string                // origins that nobody has asked yet
	delay  time.Duration
}

func (f *Function) robots(ctx context.Context, targets []address.Address) (robotsOf, error) {
	var origins []string
	for _, a := range targets {
		if !slices.Contains(origins, a.Origin) {
			origins = append(origins, a.Origin)
		}
	}
	cached, err := frontier.NewRobotsCache(f.Redis).Get(ctx, f.Now(), origins...)
	if err != nil {
		return robotsOf{}, err
	}
	known := robotsOf{rules: make(map[string]robots.Rules)}
	for _, origin := range origins {
		answer, found := cached[origin]
		if !found {
			known.wanted = append(known.wanted, origin)
			continue
		}
		rules := robots.Parse(answer.Status, answer.Body, f.Agent)
		known.rules[origin] = rules
		known.delay = max(known.delay, rules.Delay())
	}
	return known, nil
}

func (r robotsOf) denies(a address.Address) bool {
	rules, known := r.rules[a.Origin]
	return known && !rules.Allows(a.Path)
}
