package system

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/queue"
)

// Times of the function index, which waits while pages are fetched (see yield).
const (
	longestYield = time.Minute            // maximum time for which index waits before it handles a message
	calm         = 200 * time.Millisecond // index stops waiting when nothing was fetched for this time
	yieldLook    = 50 * time.Millisecond  // time between two checks of the queues

	// Index does not wait while its total working time is at most headStart plus the time since the
	// system started divided by indexShare. So the first pages can be searched at once. Neither does it
	// wait in a crawl that spends most of its time on delays between requests.
	headStart  = 250 * time.Millisecond
	indexShare = 20
)

// yield returns a function that does the work of index, but lets a crawl go first. On a laptop, fetch and
// index compete for the same processors, and fetch comes first, because a person waits for the crawl.
// Once index has worked for longer than headStart and indexShare allow, the function waits before each
// message while pages are fetched, for at most longestYield. After a wait of longestYield it handles
// messages without waiting for longestYield, and so on in turn. After a shorter wait it handles messages
// without waiting until pages are fetched again. When the context stopping ends, a wait ends
// with an error. The function may be called for several messages at the same time: they wait one after
// another, so that after a wait of longestYield all of them are handled.
func yield(stopping context.Context, index queue.Function, queues queue.Set) queue.Function {
	started := time.Now()
	var worked atomic.Int64        // time for which index has handled messages, as a time.Duration
	turn := make(chan struct{}, 1) // has an element while a call decides whether to wait, and waits
	var yielded time.Time          // when the last wait of longestYield ended; only who has the turn may use it
	var calmed bool                // whether the last wait ended because nothing was fetched any more; only who has the turn may use it
	wait := func(ctx context.Context) error {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return ctx.Err()
		case <-stopping.Done():
			return stopping.Err()
		}
		began := time.Now()
		if time.Duration(worked.Load()) <= headStart+began.Sub(started)/indexShare || began.Sub(yielded) < longestYield {
			return nil
		}
		if calmed && !fetching(queues) {
			return nil
		}
		busy := began // when pages were last fetched
		for now := began; now.Sub(busy) < calm && now.Sub(began) < longestYield; now = time.Now() {
			if fetching(queues) {
				busy = now
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-stopping.Done():
				return stopping.Err()
			case <-time.After(yieldLook):
			}
		}
		yielded = time.Now()
		if calmed = yielded.Sub(began) < longestYield; calmed {
			yielded = time.Time{} // look again at the next message whether pages are fetched
		}
		return nil
	}
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		if err := wait(ctx); err != nil {
			return events.SQSEventResponse{}, err
		}
		began := time.Now()
		defer func() { worked.Add(int64(time.Since(began))) }()
		return index(ctx, event)
	}
}

// fetching reports whether the queues of fetch and pack have messages that wait or are in
// flight.
func fetching(queues queue.Set) bool {
	return queues[task.Fetch].Busy() || queues[task.Pack].Busy()
}
