package schedule

import (
	"context"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// robotsOf holds the rules of the robots.txt files of a lease's origins.
type robotsOf struct {
	rules map[visitor]robots.Rules
	delay time.Duration // the longest that any of them asks for
}

// visitor is an agent at an origin: one group of the robots.txt applies to it.
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

// missing returns the origins whose robots.txt was not requested yet.
func (r robotsOf) missing(urls []candidate) []string {
	var origins []string
	for _, u := range urls {
		if _, known := r.rules[u.visitor()]; !known && !slices.Contains(origins, u.page.Origin) {
			origins = append(origins, u.page.Origin)
		}
	}
	return origins
}
