package environment

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdaurl"
	"github.com/redis/go-redis/v9/logging"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

// How long a feedback may take: between invocations, and after SIGTERM, half a
// second before Lambda kills.
const (
	feedbackTime = 5 * time.Second
	lastWords    = 400 * time.Millisecond
)

// Start runs the function on the messages of its queue. It does not return.
func (e *Environment) Start(handle message.Handler) {
	e.logAll()
	lambda.StartWithOptions(e.Watch(handle), lambda.WithEnableSIGTERM(e.end))
}

// Serve runs the function behind a function URL that streams its responses. It
// does not return.
func (e *Environment) Serve(handler http.Handler) {
	e.logAll()
	lambdaurl.Start(e.WatchHTTP(handler), lambda.WithEnableSIGTERM(e.end))
}

// logAll has what libraries log say so in the log of the function, which is
// JSON. What go-redis logs it also returns.
func (e *Environment) logAll() {
	slog.SetDefault(e.Log)
	logging.Disable()
}

// Watch returns the handler with its vital signs recorded and put into the
// bucket now and then, and with dead letters kept.
func (e *Environment) Watch(handle message.Handler) message.Handler {
	graves := message.Graves{Bucket: e.Bucket, Now: time.Now, Log: e.Log}
	watched := e.vitals.Watch(e.function, graves.Watch(e.function, handle))
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		defer e.feedBack(ctx)
		return watched(ctx, event)
	}
}

// WatchHTTP is Watch for a function that answers HTTP.
func (e *Environment) WatchHTTP(handler http.Handler) http.Handler {
	watched := e.vitals.WatchHTTP(e.function, handler)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer e.feedBack(r.Context())
		watched.ServeHTTP(w, r)
	})
}

// feedBack puts the vital signs when it is time: at the end of an invocation,
// because Lambda freezes the process until the next.
func (e *Environment) feedBack(ctx context.Context) {
	if e.vitals.Due() {
		e.flush(context.WithoutCancel(ctx), feedbackTime)
	}
}

// end puts the vital signs when Lambda ends the process.
func (e *Environment) end() { e.flush(context.Background(), lastWords) }

func (e *Environment) flush(ctx context.Context, within time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := e.vitals.Flush(ctx, e.feedback); err != nil {
		e.Log.WarnContext(ctx, "feedback", "error", err) // the next one says it, too
	}
}
