package system

import (
	"log/slog"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/stream"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// TestClocksTickOnce lets the clocks of two workers tick at the same time. The functions must get the
// messages of one tick.
func TestClocksTickOnce(t *testing.T) {
	t.Parallel()
	s := open(t, options(t)) // has published one crawl partition
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for _, process := range []string{"one", "two"} {
			w := &Worker{redis: rdb, sender: stream.NewSender(rdb), settings: s.Settings, process: process, log: slog.New(slog.DiscardHandler)}
			for _, c := range w.clocks() {
				if err := c.tick(t.Context()); err != nil {
					t.Errorf("clock of %s: %v", c.function, err)
				}
			}
		}
		for _, function := range []string{task.Schedule, task.Sweep, task.Rank, task.Watch} {
			q := stream.New(rdb, stream.Options{Name: function, MaxReceives: 1, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
			if batch := q.Await(t.Context(), 10); len(batch) != 1 {
				t.Errorf("%s got %d messages", function, len(batch))
			}
		}
	})
}
