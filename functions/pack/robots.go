package pack

import (
	"context"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/spool"
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
		if !robots.Reachable(r.Status) {
			rest = r.Fetched.Add(robotsRest) // they are asked one after another
			continue
		}
		if err := cache.Put(ctx, r.Origin, r.Status, r.Body, r.Fetched.Add(robotsAge)); err != nil {
			return time.Time{}, err
		}
	}
	return rest, nil
}
