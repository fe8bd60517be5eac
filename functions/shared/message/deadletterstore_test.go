package message_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

func received(receives int, body string) events.SQSMessage {
	return events.SQSMessage{
		MessageId: "id-" + body, Body: body,
		Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(receives)},
	}
}

// buried returns the reason of each dead letter (message that was given up) in a bucket, by the
// body of the message.
func buried(t *testing.T, bucket blob.Reader) map[string]string {
	t.Helper()
	reasons := make(map[string]string)
	for object, err := range bucket.List(t.Context(), layout.DeadLetters, "") {
		if err != nil {
			t.Fatal(err)
		}
		content, err := bucket.Get(t.Context(), object.Key, blob.Range{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := message.DecodeDeadLetter(content)
		if err != nil {
			t.Fatal(err)
		}
		if d.Key() != object.Key || d.Queue != "pack" || !d.At.Equal(noon) || d.Message != "id-"+d.Body {
			t.Errorf("%s is %+v", object.Key, d)
		}
		reasons[d.Body] = d.Reason
	}
	return reasons
}

func TestDeadLetterOfTheLastReceive(t *testing.T) {
	one := func(run func(string) error) message.Handler {
		return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
			return message.Each(ctx, slog.New(slog.DiscardHandler), event, func(_ context.Context, body string) error { return run(body) }), nil
		}
	}
	tests := []struct {
		name   string
		handle message.Handler
		want   map[string]string
	}{
		{"some messages", one(func(body string) error {
			switch body {
			case "good":
				return nil
			case "bad":
				return message.Terminal(errors.New("poison"))
			}
			return errors.New("not yet")
		}), map[string]string{"bad": "poison"}},
		{"panic", one(func(body string) error { panic("oh, " + body) }), map[string]string{"good": "panic: oh, good", "bad": "panic: oh, bad"}},
		{"nothing", one(func(string) error { return nil }), map[string]string{}},
		{"all", func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
			return events.SQSEventResponse{}, errors.New("cannot begin")
		}, map[string]string{"good": "cannot begin", "bad": "cannot begin"}},
	}
	event := events.SQSEvent{Records: []events.SQSMessage{received(12, "good"), received(12, "bad"), received(11, "late"), {Body: "odd"}}}
	// A message with a Terminal error is acknowledged at once.
	acknowledged := map[string]string{"some messages": "id-bad"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bucket := memblob.New()
			store := message.DeadLetterStore{Bucket: bucket, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}
			want, wantErr := tt.handle(t.Context(), event)
			want.BatchItemFailures = slices.DeleteFunc(want.BatchItemFailures, func(f events.SQSBatchItemFailure) bool {
				id, found := acknowledged[tt.name]
				return found && f.ItemIdentifier == id
			})
			for range 2 { // the queue may deliver the event twice
				got, err := store.Watch("pack", tt.handle)(t.Context(), event)
				if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (wantErr == nil) {
					t.Errorf("response (-want +got):\n%s%v", diff, err)
				}
			}
			if diff := cmp.Diff(tt.want, buried(t, bucket)); diff != "" {
				t.Errorf("dead letters (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDeadLetterOutlivesTheContext checks that a dead letter is stored even if the function's
// context has ended.
func TestDeadLetterOutlivesTheContext(t *testing.T) {
	bucket := memblob.New()
	store := message.DeadLetterStore{Bucket: bucket, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("timed out"))
	handle := store.Watch("pack", func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		return message.Each(ctx, slog.New(slog.DiscardHandler), event, func(context.Context, string) error { return nil }), nil
	})
	if _, err := handle(ctx, events.SQSEvent{Records: []events.SQSMessage{received(12, "a")}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "timed out"}, buried(t, bucket)); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}

func TestFirstReasonStays(t *testing.T) {
	var out bytes.Buffer
	bucket := memblob.New()
	store := message.DeadLetterStore{Bucket: bucket, Log: slog.New(slog.NewTextHandler(&out, nil))}
	first, second := letter(), letter()
	first.Message, second.Message = "id-"+first.Body, "id-"+first.Body
	second.Reason = "its function died without a word"
	store.Store(t.Context(), first)
	store.Store(t.Context(), second)
	if diff := cmp.Diff(map[string]string{first.Body: first.Reason}, buried(t, bucket)); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
	if out.Len() > 0 {
		t.Errorf("log: %s", out.String())
	}
}

func TestLostGraveIsLogged(t *testing.T) {
	var out bytes.Buffer
	broken := faultblob.New(memblob.New(), func(faultblob.Call) faultblob.Fault { return faultblob.Before })
	store := message.DeadLetterStore{Bucket: broken, Log: slog.New(slog.NewTextHandler(&out, nil))}
	store.Store(t.Context(), letter())
	for _, part := range []string{"level=ERROR", "queue=pack", "message=id", "reason=no", letter().Key()} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("log lacks %q: %s", part, out.String())
		}
	}
}

// each is a handler of messages, in which the body of a message says whether and how the message
// fails.
func each(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Each(ctx, slog.New(slog.DiscardHandler), event, func(_ context.Context, body string) error {
		switch body {
		case "poison":
			return message.Decode(body, new(struct{}))
		case "early":
			return fmt.Errorf("cannot settle: %w", frontier.ErrNotBuilt)
		case "panic":
			panic("oh")
		}
		return errors.New("not yet")
	}), nil
}

// TestWhatBecomesOfAMessage checks what becomes of a message, by the mark of its error:
//
//	Terminal   becomes a dead letter and is acknowledged at its first delivery
//	Later      comes again, and is left to the sweep after its last delivery
//	other      comes again, and becomes a dead letter after its last delivery
func TestWhatBecomesOfAMessage(t *testing.T) {
	for _, c := range []struct {
		body     string
		receives int
		again    bool
		reason   string // reason in its dead letter; "": there is none
	}{
		{"poison", 1, false, "cannot read message: invalid character 'p' looking for beginning of value"},
		{"early", 1, true, ""},
		{"early", 12, false, ""},
		{"panic", 1, true, ""},
		{"panic", 12, true, "panic: oh"},
		{"other", 11, true, ""},
		{"other", 12, true, "not yet"},
	} {
		t.Run(fmt.Sprint(c.body, c.receives), func(t *testing.T) {
			bucket := memblob.New()
			store := message.DeadLetterStore{Bucket: bucket, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}
			response, err := store.Watch("pack", each)(t.Context(), events.SQSEvent{Records: []events.SQSMessage{received(c.receives, c.body)}})
			if again := len(response.BatchItemFailures) == 1; err != nil || again != c.again {
				t.Errorf("comes again: %v, want %v; %v", again, c.again, err)
			}
			want := make(map[string]string)
			if c.reason != "" {
				want[c.body] = c.reason
			}
			if diff := cmp.Diff(want, buried(t, bucket)); diff != "" {
				t.Errorf("dead letters (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnburiedComesAgain checks that a message which is to be given up stays in its queue if its
// dead letter, the copy in the bucket, cannot be stored.
func TestUnburiedComesAgain(t *testing.T) {
	broken := faultblob.New(memblob.New(), func(faultblob.Call) faultblob.Fault { return faultblob.Before })
	store := message.DeadLetterStore{Bucket: broken, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}
	response, err := store.Watch("pack", each)(t.Context(), events.SQSEvent{Records: []events.SQSMessage{received(1, "poison")}})
	if err != nil || len(response.BatchItemFailures) != 1 {
		t.Errorf("%+v, %v; want it to come again", response, err)
	}
}

// TestPanicFailsAll checks that a panic in the handler, outside of the code for one message, fails
// all messages and does not end the program.
func TestPanicFailsAll(t *testing.T) {
	bucket := memblob.New()
	store := message.DeadLetterStore{Bucket: bucket, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}
	_, err := store.Watch("pack", func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) { panic("oh") })(
		t.Context(), events.SQSEvent{Records: []events.SQSMessage{received(12, "a"), received(1, "b")}})
	if err == nil || err.Error() != "panic: oh" {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(map[string]string{"a": "panic: oh"}, buried(t, bucket)); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}
