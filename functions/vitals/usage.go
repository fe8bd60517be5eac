package vitals

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
)

// Prices are in USD. Bytes to and from the store are free within a region.
type Prices struct {
	Put, List  float64 // a request
	Get, Head  float64
	Delete     float64
	Invocation float64 // of Lambda
	GBSecond   float64 // of Lambda
}

// USEast1 returns the prices of AWS's region us-east-1, with Lambda on arm64.
func USEast1() Prices {
	return Prices{Put: 5e-6, List: 5e-6, Get: 0.4e-6, Head: 0.4e-6, Invocation: 0.2e-6, GBSecond: 13.33e-6}
}

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
func ReadUsage(ctx context.Context, bucket blob.Reader, day time.Time, prices Prices) (Usage, error) {
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
	n := sum.Requests
	return Usage{
		Requests: n, Invocations: sum.Invocations, GBSeconds: sum.GBSeconds,
		USD: float64(n.Put)*prices.Put + float64(n.List)*prices.List + float64(n.Get)*prices.Get +
			float64(n.Head)*prices.Head + float64(n.Delete)*prices.Delete +
			float64(sum.Invocations)*prices.Invocation + sum.GBSeconds*prices.GBSecond,
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
