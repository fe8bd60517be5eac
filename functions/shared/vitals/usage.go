package vitals

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// Usage is what all processes used in a day (UTC). On a machine of one's own
// USD is what the requests would cost on AWS.
type Usage struct {
	Requests    countblob.Counts `json:"requests"`
	Invocations int64            `json:"invocations"` // of Lambda
	GBSeconds   float64          `json:"gb_seconds"`  // of Lambda
	USD         float64          `json:"usd"`         // without the storage of what is kept
}

// ReadUsage returns what was used on a day (UTC), as of the last feedback of
// each process. It takes one LIST for every 1,000 feedback objects of that day
// and one GET for every process.
func ReadUsage(ctx context.Context, bucket blob.Reader, day time.Time, prices meter.Prices) (Usage, error) {
	keys, err := list(ctx, bucket, layout.FeedbackDay(day), "")
	if err != nil {
		return Usage{}, err
	}
	last, err := get(ctx, bucket, newest(keys))
	if err != nil {
		return Usage{}, err
	}
	var sum Day
	for _, f := range last {
		sum = sum.plus(f.Day)
	}
	return Usage{
		Requests: sum.Requests, Invocations: sum.Invocations, GBSeconds: sum.GBSeconds,
		USD: prices.Of(sum.Requests, sum.Invocations, sum.GBSeconds),
	}, nil
}

// newest returns the last key of every worker.
func newest(keys []string) []string {
	seen := make(map[string]bool)
	var last []string
	for _, key := range slices.Backward(keys) {
		at, err := layout.ParseFeedbackKey(key)
		worker := strings.TrimPrefix(key, instant(at))
		if err == nil && !seen[worker] {
			seen[worker] = true
			last = append(last, key)
		}
	}
	return last
}
