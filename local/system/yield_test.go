package system

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
)

// Pages are fetched all the time. The function index must wait for longestYield before it handles
// the first message. After that it must handle messages without waiting, for as long as longestYield.
func TestIndexGivesWayOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := newQueues(nil, nil)
		if _, err := queues[task.Fetch].Send("a batch", 0); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var at []time.Duration
		index := yield(func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			at = append(at, time.Since(began).Truncate(time.Minute))
			return events.SQSEventResponse{}, nil
		}, queues)
		for range 3 {
			if _, err := index(t.Context(), events.SQSEvent{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, waited := range at {
			if waited != longestYield {
				t.Errorf("messages were taken after %v, want all after %v", at, longestYield)
				break
			}
		}
	})
}
