package message_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

func eventOf(bodies ...string) events.SQSEvent {
	var event events.SQSEvent
	for _, body := range bodies {
		event.Records = append(event.Records, events.SQSMessage{MessageId: "id-" + body, Body: body})
	}
	return event
}

func failedIDs(r events.SQSEventResponse) []string {
	var ids []string
	for _, f := range r.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	return ids
}

func TestEachReportsOnlyFailures(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	run := func(_ context.Context, body string) error {
		switch body {
		case "retry":
			return errors.New("not yet")
		case "poison":
			return message.Terminal(errors.New("no JSON"))
		case "panic":
			panic("oh")
		case "early":
			return fmt.Errorf("cannot begin: %w", message.Later(errors.New("too early")))
		}
		return nil
	}
	got := failedIDs(message.Each(t.Context(), log, eventOf("good", "retry", "poison", "panic", "early", "fine"), run))
	if diff := cmp.Diff([]string{"id-retry", "id-poison", "id-panic", "id-early"}, got); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}

	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	wants := [][]string{
		{"level=WARN", "message=id-retry", `error="not yet"`},
		{"level=ERROR", "message=id-poison", `error="no JSON"`, "terminal=true"},
		{"level=ERROR", "message=id-panic", "panic: oh", "stack=", "each_test.go"},
		{"level=DEBUG", "message=id-early", "too early"},
	}
	if len(lines) != len(wants) {
		t.Fatalf("log has %d lines, want one a failure:\n%s", len(lines), out.String())
	}
	for i, want := range wants {
		for _, part := range want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("log line %d lacks %q: %s", i, part, lines[i])
			}
		}
	}
}

func TestEachStopsRunningWhenContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ran := 0
	response := message.Each(ctx, slog.New(slog.DiscardHandler), eventOf("a", "b", "c"), func(context.Context, string) error {
		ran++
		cancel()
		return nil
	})
	if ran != 1 {
		t.Errorf("ran %d messages, want 1", ran)
	}
	if diff := cmp.Diff([]string{"id-b", "id-c"}, failedIDs(response)); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

func TestListenersAreToldOfFailures(t *testing.T) {
	var told []string
	listen := func(name string) func(events.SQSMessage, error) {
		return func(m events.SQSMessage, err error) { told = append(told, name+" "+m.MessageId+": "+err.Error()) }
	}
	ctx := message.Listen(t.Context(), message.Listener{Failed: listen("outer")})
	ctx = message.Listen(ctx, message.Listener{Failed: listen("inner")})
	message.Each(ctx, slog.New(slog.DiscardHandler), eventOf("good", "bad", "worse"), func(_ context.Context, body string) error {
		switch body {
		case "bad":
			return errors.New("no")
		case "worse":
			panic("oh")
		}
		return nil
	})
	want := []string{"outer id-bad: no", "inner id-bad: no", "outer id-worse: panic: oh", "inner id-worse: panic: oh"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestLater(t *testing.T) {
	if err := message.Later(nil); err != nil {
		t.Errorf("Later(nil) = %v", err)
	}
	cause := errors.New("cause")
	err := message.Later(cause)
	if !errors.Is(err, cause) || err.Error() != "cause" || !message.IsLater(fmt.Errorf("cannot: %w", err)) {
		t.Errorf("Later hides its cause, or is not found: %v", err)
	}
	if message.IsLater(cause) || message.IsLater(nil) {
		t.Error("what is not marked is later")
	}
}

func TestTerminal(t *testing.T) {
	if err := message.Terminal(nil); err != nil {
		t.Errorf("Terminal(nil) = %v", err)
	}
	cause := errors.New("cause")
	if err := message.Terminal(cause); !errors.Is(err, cause) || err.Error() != "cause" {
		t.Errorf("Terminal hides its cause: %v", err)
	}
}

func TestKinds(t *testing.T) {
	plain := errors.New("plain")
	terminal, later := message.Terminal(plain), message.Later(plain)
	rebuilt := fmt.Errorf("cannot settle: %w", frontier.ErrNotBuilt)
	for _, c := range []struct {
		name                    string
		err                     error
		wantTerminal, wantLater bool
	}{
		{"none", nil, false, false},
		{"plain", plain, false, false},
		{"terminal", fmt.Errorf("x: %w", terminal), true, false},
		{"later", fmt.Errorf("x: %w", later), false, true},
		{"the frontier is rebuilt", rebuilt, false, true},
		{"and by a message of two errors", fmt.Errorf("%w: %w", rebuilt, later), false, true},
		{"both terminal", errors.Join(nil, terminal, terminal), true, false},
		{"one of two is plain", errors.Join(terminal, plain), false, false},
		{"rebuilt, and something else", errors.Join(rebuilt, blob.ErrRetryable), false, false},
	} {
		if got := message.IsTerminal(c.err); got != c.wantTerminal {
			t.Errorf("%s: terminal is %v", c.name, got)
		}
		if got := message.IsLater(c.err); got != c.wantLater {
			t.Errorf("%s: later is %v", c.name, got)
		}
	}
}

func TestDecode(t *testing.T) {
	for body, good := range map[string]bool{`{}`: true, ` {"crawl":3}`: true, ``: false, `null`: false, `[]`: false, `3`: false, `{"crawl":`: false, `{"crawl":"x"}`: false} {
		var into struct{ Crawl int }
		if err := message.Decode(body, &into); (err == nil) != good || message.IsTerminal(err) == good {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestTask(t *testing.T) {
	type lease struct{ Crawl int }
	for body, want := range map[string]bool{`{"crawl":3}`: true, `{}`: true, `{"Records":[]}`: false, `{"crawl":3,"more":1}`: false, `{"crawl":"x"}`: false, `?`: false, ``: false} {
		if got, isTask := message.Task[lease](body); isTask != want || want && body != `{}` && got.Crawl != 3 {
			t.Errorf("%q: %+v, %v", body, got, isTask)
		}
	}
}

// TestEachKey checks that EachKey calls its function for all keys of an event, even if the
// function fails for one of them.
func TestEachKey(t *testing.T) {
	const body = `{"Records":[{"eventName":"ObjectCreated:Put","s3":{"object":{"key":"a"}}},{"eventName":"ObjectCreated:Put","s3":{"object":{"key":"b"}}}]}`
	var ran []string
	err := message.EachKey(body, func(key string) error {
		ran = append(ran, key)
		return message.Terminal(errors.New(key))
	})
	if diff := cmp.Diff([]string{"a", "b"}, ran); diff != "" || !message.IsTerminal(err) {
		t.Errorf("ran (-want +got):\n%s%v", diff, err)
	}
	if err := message.EachKey("{", nil); !message.IsTerminal(err) {
		t.Errorf("no event: %v", err)
	}
}

// TestFullRedis: errors of a Redis that has no memory are of the kind Later, however they are wrapped. Its other
// errors are not, and neither is a full Redis joined with one of them.
func TestFullRedis(t *testing.T) {
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	defer rdb.Close()
	answer := func(text string) error {
		server.SetError(text)
		return fmt.Errorf("cannot write: %w", rdb.Set(t.Context(), "key", "value", 0).Err())
	}
	full := answer("OOM command not allowed when used memory > 'maxmemory'.")
	other := answer("MISCONF Redis is configured to save RDB snapshots, but it cannot.")
	aborted := answer("EXECABORT Transaction discarded because of previous errors.")
	for _, test := range []struct {
		err  error
		want bool
	}{{full, true}, {aborted, false}, {errors.Join(full, full), true}, {other, false}, {errors.Join(full, other), false}} {
		if got := message.IsLater(test.err); got != test.want {
			t.Errorf("later: %v, want %v: %v", got, test.want, test.err)
		}
	}
}
