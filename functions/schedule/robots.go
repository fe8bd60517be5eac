package schedule

import (
	"context"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

// robotsOf holds the robots.txt rules, from the cache, for the URLs of one batch.
type robotsOf struct {
	rules map[visitor]robots.Rules
	delay time.Duration // the longest Crawl-delay of the rules
}

// visitor is a user agent that requests pages of an origin. One group of rules in the origin's
// robots.txt applies to it (RFC 9309, section 2.2.1).
type visitor struct{ origin, agent string }

func (u candidate) visitor() visitor { return visitor{u.page.Origin, u.agent} }

// robots returns the robots.txt rules that apply to the URLs, from the cache in Redis. It leaves
// out origins whose robots.txt is not in the cache.
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

// denies reports whether a robots.txt in the cache forbids the URL.
func (r robotsOf) denies(u candidate) bool {
	rules, known := r.rules[u.visitor()]
	return known && !rules.Allows(u.page.Path)
}

// missing returns those origins of the URLs whose robots.txt is not in the cache, each once. The
// function fetch is to request them.
func (r robotsOf) missing(urls []candidate) []string {
	var origins []string
	for _, u := range urls {
		if _, known := r.rules[u.visitor()]; !known && !slices.Contains(origins, u.page.Origin) {
			origins = append(origins, u.page.Origin)
		}
	}
	return origins
}
