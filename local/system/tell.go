package system

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// tellRedis tells a Redis that has come up empty which batches are out, so that
// all other hosts may be asked: this system feeds all fetches, and when it
// starts there are none. Where both Redis and bucket are elsewhere, others may
// feed some.
func (s *System) tellRedis(ctx context.Context) error {
	if s.options.Redis != "" && s.options.S3 != "" {
		return nil
	}
	out := make(map[int][]frontier.Held)
	for _, body := range s.queues[task.Fetch].Bodies() {
		var b batch.Batch
		if json.Unmarshal([]byte(body), &b) == nil && b.Deadline.After(time.Now()) {
			out[b.Crawl] = append(out[b.Crawl], frontier.Held{Version: b.Version, Host: b.Host, Deadline: b.Deadline})
		}
	}
	return frontier.Tell(ctx, s.Redis, out)
}

// redisRestarted tells a Redis that was started again what is out before the
// sweep rebuilds what was lost.
func (s *System) redisRestarted(why error) {
	if err := s.tellRedis(context.Background()); err != nil {
		s.Log.Warn("hosts wait for batches that may be out", "error", err)
	}
	s.restarted("redis")(why)
}
