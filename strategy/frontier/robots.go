package frontier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// maxRobots is the maximum length of a cached robots.txt, in bytes (RFC 9309,
	// section 2.5).
	maxRobots = 500 << 10
	// robotsKept is how long Redis keeps a robots.txt: twice the 24 hours for which RFC
	// 9309, section 2.4, allows to use it.
	robotsKept = 48 * time.Hour
)

// Robots is the cached answer to a request for a robots.txt.
type Robots struct {
	Status int       `json:"status"` // HTTP status, 0 when there was no answer
	Body   []byte    `json:"body,omitempty"`
	Until  time.Time `json:"until"` // the answer is valid before this time
}

// RobotsCache caches the robots.txt of each origin in Redis, under robots:<origin> in
// JSON. It is safe for concurrent use. A lost answer is requested again.
type RobotsCache struct{ rdb redis.UniversalClient }

// NewRobotsCache returns the cache of robots.txt that is in this Redis.
func NewRobotsCache(rdb redis.UniversalClient) *RobotsCache { return &RobotsCache{rdb: rdb} }

func robotsKey(origin string) string { return "robots:" + origin }

// Put caches an origin's answer to the request for its robots.txt: the status and the body. The
// parameter until is the time at which the answer expires. A body of more than 500 KiB is an error.
func (c *RobotsCache) Put(ctx context.Context, origin string, status int, body []byte, until time.Time) error {
	if len(body) > maxRobots {
		return fmt.Errorf("cannot cache robots.txt of %s: it has %d bytes, want at most %d", origin, len(body), maxRobots)
	}
	value, err := json.Marshal(Robots{Status: status, Body: body, Until: until})
	if err == nil {
		err = c.rdb.Set(ctx, robotsKey(origin), value, robotsKept).Err()
	}
	if err != nil {
		return fmt.Errorf("cannot cache robots.txt of %s: %w", origin, err)
	}
	return nil
}

// Get returns the cached answers by origin. Origins without an answer that is valid now
// are left out.
func (c *RobotsCache) Get(ctx context.Context, now time.Time, origins ...string) (map[string]Robots, error) {
	found := make(map[string]Robots, len(origins))
	if len(origins) == 0 {
		return found, nil
	}
	replies := make([]*redis.StringCmd, len(origins))
	_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, origin := range origins {
			replies[i] = p.Get(ctx, robotsKey(origin))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("cannot read cached robots.txt of %d origins: %w", len(origins), err)
	}
	for i, origin := range origins {
		value, err := replies[i].Bytes()
		if errors.Is(err, redis.Nil) {
			continue
		}
		var r Robots
		if err == nil {
			err = json.Unmarshal(value, &r)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read cached robots.txt of %s: %w", origin, err)
		}
		if now.Before(r.Until) {
			found[origin] = r
		}
	}
	return found, nil
}
