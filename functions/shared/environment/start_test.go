package environment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdaurl"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// watched returns an environment whose bucket is the given store. It also returns the log that the
// environment writes, and the clock that the environment reads.
func watched(function string, store blob.Bucket) (*Environment, *bytes.Buffer, *functionstest.Clock) {
	clock, out := functionstest.NewClock(), new(bytes.Buffer)
	e := &Environment{
		function: function, feedback: store, Log: slog.New(slog.NewTextHandler(out, nil)),
		vitals: vitals.New(vitals.Options{Worker: "w", Now: clock.Now}),
	}
	e.Bucket = e.vitals.Bucket(function, store)
	return e, out, clock
}

func signsOf(t *testing.T, bucket blob.Reader, clock *functionstest.Clock, function string) vitals.Sign {
	t.Helper()
	signs, err := vitals.ReadSigns(t.Context(), bucket, clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return signs.Function(function)
}

func TestWatchFeedsBackAndBuries(t *testing.T) {
	store := memblob.New()
	e, _, clock := watched(task.Pack, store)
	handle := e.Watch(func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		return message.Each(ctx, e.Log, event, func(context.Context, string) error {
			clock.Advance(10 * time.Second)
			return errors.New("no luck")
		}), nil
	})
	event := events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: "1", Body: "x", Attributes: map[string]string{"ApproximateReceiveCount": "12"},
	}}}
	run := func() {
		t.Helper()
		if response, err := handle(t.Context(), event); err != nil || len(response.BatchItemFailures) != 1 {
			t.Fatalf("%+v, %v", response, err)
		}
	}
	run() // ten seconds after birth
	if keys := functionstest.Keys(t, store, layout.Feedback); len(keys) != 0 {
		t.Errorf("fed back too early: %q", keys)
	}
	want := message.DeadLetter{Queue: task.Pack, Body: "x"}.Key()
	if keys := functionstest.Keys(t, store, layout.DeadLetters); len(keys) != 1 || keys[0] != want {
		t.Errorf("dead letters %q, want %s", keys, want)
	}
	run()
	got := signsOf(t, store, clock, task.Pack)
	if got.Invocations != 2 || got.Failures != 2 || got.Requests.Put != 2 || got.LastError == nil || got.LastError.Text != "no luck" {
		t.Errorf("sign %+v", got)
	}
	run()
	e.end()
	if got := signsOf(t, store, clock, task.Pack); got.Invocations != 3 {
		t.Errorf("after the end: sign %+v", got)
	}
}

func TestWatchHTTPFeedsBack(t *testing.T) {
	store := memblob.New()
	e, _, clock := watched("query", store)
	handler := e.WatchHTTP(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		clock.Advance(time.Minute)
		w.WriteHeader(http.StatusTeapot)
	}))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if got := signsOf(t, store, clock, "query"); w.Code != http.StatusTeapot || got.Invocations != 1 || got.Failures != 0 {
		t.Errorf("answered %d, sign %+v", w.Code, got)
	}
}

// TestFeedbackFails checks that an invocation succeeds even if its vital signs cannot be stored.
func TestFeedbackFails(t *testing.T) {
	broken := faultblob.New(memblob.New(), func(faultblob.Call) faultblob.Fault { return faultblob.Before })
	e, out, clock := watched(task.Pack, broken)
	handle := e.Watch(func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
		clock.Advance(time.Minute)
		return events.SQSEventResponse{}, nil
	})
	if _, err := handle(t.Context(), events.SQSEvent{}); err != nil {
		t.Errorf("the invocation fails: %v", err)
	}
	if said := out.String(); !strings.Contains(said, "level=WARN") || !strings.Contains(said, "cannot put feedback") {
		t.Errorf("log: %s", said)
	}
}

// TestCookies checks that handlers get the cookies of a request, which the package lambdaurl leaves
// out.
func TestCookies(t *testing.T) {
	handle := lambdaurl.Wrap(withCookies(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, cookie := range r.Cookies() {
			fmt.Fprintf(w, "%s is %s; ", cookie.Name, cookie.Value)
		}
	})))
	for want, event := range map[string]events.LambdaFunctionURLRequest{
		"a is 1; b is 2; ": {Cookies: []string{"a=1", "b=2"}},
		"c is 3; ":         {Cookies: []string{"c=3"}, Headers: map[string]string{"cookie": "c=3"}},
		"":                 {},
	} {
		event.RequestContext.DomainName, event.RequestContext.HTTP.Method, event.RawPath = "x.lambda-url.eu-central-1.on.aws", "GET", "/"
		response, err := handle(t.Context(), &event)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(response.Body); err != nil || string(got) != want {
			t.Errorf("cookies %q, %v; want %q", got, err, want)
		}
	}
}
