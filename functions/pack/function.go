// Package pack turns what fetch has spooled into packages and books, and tells
// the frontier what was learnt.
//
// A spool object is settled as soon as its event arrives, before it is packed:
// it is in the bucket, so nothing of it can be lost, and the crawl does not
// wait for a package to fill. Packing waits until enough has gathered.
//
// To settle means: what links lead to waits if the settings admit it, pages
// that have changed by what a sitemap says wait again before they are due, and
// the URLs that were asked for take the states that their outcomes give them;
// those that are stored count on the limits of their collection. The host rests
// as long as its answers, its robots.txt and the collections want.
package pack

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Limits say when enough has gathered for a package.
type Limits struct {
	Bytes int64         // of Web objects before compression
	Age   time.Duration // of the oldest spool object
}

// DefaultLimits make packages of 32 MiB, or of what a minute brings.
func DefaultLimits() Limits { return Limits{Bytes: 32 << 20, Age: time.Minute} }

// Function is the pack function.
type Function struct {
	Bucket   blob.Bucket
	Settings *settings.Cache
	Redis    redis.UniversalClient
	Sender   task.Sender
	Now      func() time.Time
	Limits   Limits
	Worker   string // who holds the leases
	Agent    string
	Log      *slog.Logger
}

// Handle takes bucket events on spool/ and tasks to gather.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Each(ctx, f.Log, event, f.handle), nil
}

func (f *Function) handle(ctx context.Context, body string) error {
	if t, isTask := gatherTask(body); isTask {
		return f.Gather(ctx, t)
	}
	return message.EachKey(body, func(key string) error { return f.Settle(ctx, key) })
}

// gatherTask reads a task, and returns false for what has other fields.
func gatherTask(body string) (t task.Gather, isTask bool) {
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&t)
	return t, err == nil
}
