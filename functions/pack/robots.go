package pack

import (
	"context"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/robots"
)

const (
	// robotsAge is how long a robots.txt is used (RFC 9309, section 2.4).
	robotsAge = 24 * time.Hour
	// robotsRest is how long a host is left alone whose robots.txt could not
	// be had. Nothing else of it may be asked for before.
	robotsRest = 5 * time.Second
)

// keepRobots caches the robots.txt files that came along. One that could not
// be had (RFC 9309, section 2.3.1.4) is not kept, because it would refuse for
// good what is refused for now; the host rests until the time returned.
func (f *Function) keepRobots(ctx context.Context, ledger spool.Ledger) (rest time.Time, err error) {
	cache := frontier.NewRobotsCache(f.Redis)
	for _, r := range ledger.Robots {
		if r.Status == 0 || r.Status >= 500 {
			rest = r.Fetched.Add(robotsRest) // they are asked one after another
			continue
		}
		if err := cache.Put(ctx, r.Origin, r.Status, r.Body, r.Fetched.Add(robotsAge)); err != nil {
			return time.Time{}, err
		}
	}
	return rest, nil
}

// crawlDelay returns the longest pause that the robots.txt files of the
// batch's origins ask for.
func (f *Function) crawlDelay(ctx context.Context, ledger spool.Ledger) (time.Duration, error) {
	var origins []string
	asked := make(map[string]bool)
	for _, o := range ledger.Outcomes {
		a, err := address.Parse(o.URL)
		if err != nil || asked[a.Origin] {
			continue
		}
		asked[a.Origin] = true
		origins = append(origins, a.Origin)
	}
	cached, err := frontier.NewRobotsCache(f.Redis).Get(ctx, f.Now(), origins...)
	if err != nil {
		return 0, err
	}
	var delay time.Duration
	for _, r := range cached {
		delay = max(delay, robots.Parse(r.Status, r.Body, f.Agent).Delay())
	}
	return delay, nil
}
