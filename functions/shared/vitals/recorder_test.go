package vitals

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

func TestWatch(t *testing.T) {
	clock := functionstest.NewClock()
	answer := func(response events.SQSEventResponse, err error) message.Handler {
		return func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) { return response, err }
	}
	untold := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{{ItemIdentifier: "x"}}}
	tests := []struct {
		name   string
		handle message.Handler
		bodies []string
		reason string // "": no failure
		later  int64
	}{
		{"all is well", handler(clock), []string{"a", "b"}, "", 0},
		{"a message fails", handler(clock), []string{"a", "fail", "b"}, "no luck", 0},
		{"a message panics", handler(clock), []string{"panic"}, "panic: oh", 0},
		{"a message is early", handler(clock), []string{"a", "later"}, "", 1},
		{"one is early, one fails", handler(clock), []string{"fail", "later"}, "no luck", 0},
		{"an error", answer(events.SQSEventResponse{}, errors.New("cannot")), []string{"a"}, "cannot", 0},
		{"a failure without a reason", answer(untold, nil), []string{"x"}, errUntold.Error(), 0},
		{"a long reason", answer(events.SQSEventResponse{}, errors.New(strings.Repeat("é", 300))), []string{"a"}, strings.Repeat("é", 250), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRecorder("w", clock)
			want, wantErr := tt.handle(t.Context(), eventOf(tt.bodies...))
			began := clock.Now()
			got, err := r.Watch("pack", tt.handle)(t.Context(), eventOf(tt.bodies...))
			expect(t, "response", want, got)
			if !errors.Is(err, wantErr) {
				t.Errorf("error %v, want %v", err, wantErr)
			}
			activity := Activity{Invocations: 1, Postponed: tt.later, BusySeconds: clock.Now().Sub(began).Seconds()}
			if tt.reason != "" {
				activity.Failures, activity.LastError = 1, &LastError{tt.reason, clock.Now()}
			}
			expect(t, "activity", map[string]Activity{"pack": activity}, r.read().functions)
		})
	}
}

func TestWatchCountsAPanic(t *testing.T) {
	r := newRecorder("w", functionstest.NewClock())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = r.Watch("pack", func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) { panic("oh") })(t.Context(), eventOf("a"))
	}()
	want := map[string]Activity{"pack": {Invocations: 1, Failures: 1, LastError: &LastError{errPanic.Error(), start}}}
	expect(t, "activity", want, r.read().functions)
}

func TestMessagesInFlight(t *testing.T) {
	r := newRecorder("w", functionstest.NewClock())
	inside := func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
		expect(t, "meanwhile", map[string]Activity{"index": {InFlight: 2}}, r.read().functions)
		return events.SQSEventResponse{}, nil
	}
	if _, err := r.Watch("index", inside)(t.Context(), eventOf("a", "b")); err != nil {
		t.Fatal(err)
	}
	expect(t, "afterwards", map[string]Activity{"index": {Invocations: 1}}, r.read().functions)
}

func TestWatchHTTP(t *testing.T) {
	clock := functionstest.NewClock()
	r := newRecorder("w", clock)
	watched := r.WatchHTTP("query", http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		clock.Advance(100 * time.Millisecond)
		if err := http.NewResponseController(w).Flush(); err != nil && request.URL.Path == "/" {
			t.Errorf("cannot flush: %v", err)
		}
		switch request.URL.Path {
		case "/panic":
			panic(http.ErrAbortHandler)
		case "/gone":
			message.Note(request.Context(), "it is gone")
			http.NotFound(w, request)
		case "/broken":
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	serve := func(path string) {
		defer func() { _ = recover() }()
		// A recorder cannot flush before the status, so that /broken keeps its own.
		w := http.ResponseWriter(struct{ http.ResponseWriter }{httptest.NewRecorder()})
		if path == "/" {
			w = httptest.NewRecorder()
		}
		watched.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	}
	for _, path := range []string{"/", "/gone", "/panic", "/broken"} {
		serve(path)
	}
	want := map[string]Activity{"query": {
		Invocations: 4, Failures: 2, BusySeconds: 0.4,
		LastError: &LastError{"GET /broken was answered by 503 Service Unavailable", clock.Now()},
		Notes:     map[string]int64{"it is gone": 1},
	}}
	expect(t, "activity", want, r.read().functions)
}

// TestNotesAreCounted checks that the faults that message.Note reports are counted, and that no
// message fails because of them.
func TestNotesAreCounted(t *testing.T) {
	clock := functionstest.NewClock()
	r := newRecorder("w", clock)
	handle := r.Watch("index", func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		return message.Each(ctx, slog.New(slog.DiscardHandler), event, func(ctx context.Context, body string) error {
			message.Note(ctx, body)
			return nil
		}), nil
	})
	if _, err := handle(t.Context(), eventOf("odd", "odd", "even")); err != nil {
		t.Fatal(err)
	}
	first := r.read()
	expect(t, "activity", Activity{Invocations: 1, Notes: map[string]int64{"odd": 2, "even": 1}}, first.functions["index"])
	if _, err := handle(t.Context(), eventOf("odd")); err != nil {
		t.Fatal(err)
	}
	expect(t, "since then", Activity{Invocations: 1, Notes: map[string]int64{"odd": 1}}, r.read().functions["index"].since(first.functions["index"]))
}
