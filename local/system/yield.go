package system

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/queue"
)

// Index waits at most longestYield, until the crawl has paused for calm.
const (
	longestYield = time.Minute
	calm         = 200 * time.Millisecond
	yieldLook    = 50 * time.Millisecond
)

// yield makes index wait while pages are fetched: on a laptop both need the same
// processors, a person waits for the crawl, and an index built a minute later is not
// missed. After a wait index works for as long without waiting. It is called for one
// message at a time.
func yield(index queue.Function, queues queue.Set) queue.Function {
	var yielded time.Time // when it last gave way
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		began := time.Now()
		if began.Sub(yielded) < longestYield {
			return index(ctx, event)
		}
		busy := began // when pages were last fetched
		for now := began; now.Sub(busy) < calm && now.Sub(began) < longestYield; now = time.Now() {
			if fetching(queues) {
				busy = now
			}
			select {
			case <-ctx.Done():
				return events.SQSEventResponse{}, ctx.Err()
			case <-time.After(yieldLook):
			}
		}
		if yielded = time.Now(); yielded.Sub(began) < longestYield {
			yielded = time.Time{} // the crawl has paused: look again next time
		}
		return index(ctx, event)
	}
}

func fetching(queues queue.Set) bool {
	for _, name := range []string{task.Fetch, task.Pack} {
		if counts := queues[name].Counts(); counts.Visible+counts.InFlight > 0 {
			return true
		}
	}
	return false
}
