package system

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// tellRedis enters the leases of all batches in the queue of fetch in a Redis that has started
// empty. So only the hosts of these batches must wait before they are leased again. If both Redis
// and bucket are remote, tellRedis does nothing, because other systems may have leased further
// batches.
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

// redisRestarted is called when Redis has ended and was started again; the parameter why is the
// reason of its end. It enters the leases of all batches in the queue of fetch in Redis, and starts
// a sweep, which rebuilds the frontiers.
func (s *System) redisRestarted(why error) {
	if err := s.tellRedis(context.Background()); err != nil {
		s.Log.Warn("hosts wait for batches that may be out", "error", err)
	}
	s.restarted("redis")(why)
}
