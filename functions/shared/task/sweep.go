package task

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

// AskAgain is the least time between two messages of AskSweep. A sweep that rebuilds a frontier reads all books (the
// records of the crawl), and fails if one of them is damaged. Without AskAgain, one such sweep would follow
// another without a pause.
const AskAgain = time.Minute

// AskSweep sends the sweep a message, so that it sees to a frontier that cannot be used before. It sends none, and
// returns false, if any process has sent one less than AskAgain before now.
func AskSweep(ctx context.Context, to Sender, rdb redis.UniversalClient, now time.Time) (asked bool, err error) {
	first, err := lease.New(rdb, "sweep").Once(ctx, "sweep asked for", now, AskAgain)
	if err != nil || !first {
		return false, err
	}
	return true, Send(ctx, to, Sweep, struct{}{}, 0)
}
