package vitals

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
)

var start = functionstest.Start

func newRecorder(worker string, clock *functionstest.Clock) *Recorder {
	return New(Options{Worker: worker, Now: clock.Now})
}

// handler returns a handler that advances the clock by a second for each message. The body of a
// message says whether and how it fails.
func handler(clock *functionstest.Clock) message.Handler {
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		return message.Each(ctx, slog.New(slog.DiscardHandler), event, func(_ context.Context, body string) error {
			clock.Advance(time.Second)
			switch body {
			case "fail":
				return errors.New("no luck")
			case "panic":
				panic("oh")
			case "later":
				return message.Later(errors.New("too early"))
			}
			return nil
		}), nil
	}
}

func eventOf(bodies ...string) events.SQSEvent {
	var event events.SQSEvent
	for _, body := range bodies {
		event.Records = append(event.Records, events.SQSMessage{MessageId: body, Body: body})
	}
	return event
}

// work lets a function, whose activity r records, handle messages with the given bodies, each in an
// invocation of its own.
func work(t *testing.T, r *Recorder, clock *functionstest.Clock, function string, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		if _, err := r.Watch(function, handler(clock))(t.Context(), eventOf(body)); err != nil {
			t.Fatal(err)
		}
	}
}

// ask puts an object of three bytes into the bucket and sends a HEAD request for it, so that both
// requests are counted.
func ask(t *testing.T, bucket blob.Bucket, key string) {
	t.Helper()
	if err := bucket.Create(t.Context(), key, []byte("abc")); err != nil {
		t.Fatal(err)
	}
	if _, err := bucket.Head(t.Context(), key); err != nil {
		t.Fatal(err)
	}
}

var asked = countblob.Counts{Put: 1, Head: 1, Written: 3}

// readAll returns all feedback of a bucket. It empties the field Process of each, because its
// values differ from run to run.
func readAll(t *testing.T, bucket blob.Reader) []Feedback {
	t.Helper()
	all, err := Read(t.Context(), bucket, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].Process = Process{}
	}
	return all
}

func expect(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
