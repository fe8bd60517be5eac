package system

import (
	"context"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// tellRedis writes the leases of all batches that wait in the queue of fetch to a Redis that has
// started empty. An empty Redis has lost the leases, so each host may have a batch that is still
// being fetched. Without tellRedis, every host would have to wait as long as a lease lasts. With
// it, only the hosts of the batches in the queue wait. If both Redis and bucket are remote,
// tellRedis does nothing: other systems may have leased batches that this queue lacks.
func (s *System) tellRedis(ctx context.Context) error {
	if s.options.Redis != "" && s.options.S3 != "" {
		return nil
	}
	out := make(map[int][]frontier.Held)
	for _, b := range batchesIn(s.queues[task.Fetch]) {
		if b.Deadline.After(time.Now()) {
			out[b.Crawl] = append(out[b.Crawl], frontier.Held{Version: b.Version, Host: b.Host, Deadline: b.Deadline})
		}
	}
	return frontier.Tell(ctx, s.Redis, out)
}

// redisRestarted is called when Redis has ended, for the given reason, and was started again. It
// tells the new, empty Redis about the leases of all batches in the queue of fetch, and starts a
// sweep, which rebuilds the frontiers.
func (s *System) redisRestarted(why error) {
	if err := s.tellRedis(context.Background()); err != nil {
		s.Log.Warn("hosts wait for batches that may be out", "error", err)
	}
	s.restarted("redis")(why)
}
