// Package message has the code with which all functions handle the messages that start them. It
// reports which messages of an event have failed, so that only these are delivered again, and
// stores dead letters. It reads the keys of new objects from bucket events, and sends messages to
// SQS.
//
// A bucket's event reaches a function as the body of an SQS message, because
// S3 → SQS → Lambda gives it retries and dead letters:
//
//	SQSEvent.Records[i].Body = {"Records":[{"eventName":"ObjectCreated:Put",
//	    "s3":{"bucket":{"name":"b"},"object":{"key":"spool/0001/a%2Bb.spool"}}}]}
//
// A message becomes a dead letter in the bucket when no retry can succeed (see
// Terminal) or when it fails at its last receive. The dead letter,
// layout.DeadLetterKey(queue, hash of the body), is JSON:
//
//	{"queue": "pack", "message": "the id", "body": "what was sent", "receives": 12,
//	 "reason": "why the last try failed", "at": "2026-11-22T02:00:00Z"}
package message

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Handler is the signature of all functions that read a queue.
type Handler = func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// Each calls run with the body of every message of the event, one after another,
// and returns the failed messages, so that only they are delivered again. A panic
// in run fails its message, and its stack is logged. When ctx ends, the remaining
// messages fail without being run. Every failure is logged once, here, and
// reported to the listeners of ctx (see Listen).
func Each(ctx context.Context, log *slog.Logger, event events.SQSEvent, run func(ctx context.Context, body string) error) events.SQSEventResponse {
	var response events.SQSEventResponse
	for _, m := range event.Records {
		err := guarded(ctx, log, m, func(ctx context.Context, m events.SQSMessage) error { return run(ctx, m.Body) })
		report(ctx, log, m, err, &response)
	}
	return response
}

// EachTask is like Each, but calls run with a T, which it decodes from the JSON object in the body
// of a message. A message with any other body fails with a Terminal error. If run fails because
// nothing is published yet (settings.ErrUnpublished), there is nothing to do: EachTask logs this,
// and the message has not failed.
func EachTask[T any](ctx context.Context, log *slog.Logger, event events.SQSEvent, run func(context.Context, T) error) events.SQSEventResponse {
	return Each(ctx, log, event, func(ctx context.Context, body string) error {
		var task T
		if err := Decode(body, &task); err != nil {
			return err
		}
		err := run(ctx, task)
		if errors.Is(err, settings.ErrUnpublished) {
			log.InfoContext(ctx, "nothing to do", "reason", err.Error())
			return nil
		}
		return err
	})
}

// Together calls run with all messages of the event at the same time, and returns the
// failed ones (otherwise like Each).
func Together(ctx context.Context, log *slog.Logger, event events.SQSEvent, run func(context.Context, events.SQSMessage) error) events.SQSEventResponse {
	failures := make([]error, len(event.Records))
	var running sync.WaitGroup
	for i, m := range event.Records {
		running.Go(func() { failures[i] = guarded(ctx, log, m, run) })
	}
	running.Wait()
	var response events.SQSEventResponse
	for i, m := range event.Records {
		report(ctx, log, m, failures[i], &response)
	}
	return response
}

// Decode decodes the JSON object in the body of a message into a variable, to which the second
// parameter points. Any other body is a Terminal error.
func Decode(body string, into any) error {
	err := fmt.Errorf("%d bytes are more than the %d of a message", len(body), MaxBody)
	if len(body) <= MaxBody {
		err = json.Unmarshal([]byte(body), into)
	}
	if err == nil && !strings.HasPrefix(strings.TrimSpace(body), "{") { // JSON's null would decode into any value
		err = errors.New("it is no JSON object")
	}
	if err != nil {
		return Terminal(fmt.Errorf("cannot read message: %w", err))
	}
	return nil
}

// Task decodes the body of a message as a task of type T. The result isTask is false if the body has fields that T
// lacks, such as the body of a bucket event.
func Task[T any](body string) (t T, isTask bool) {
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&t)
	return t, err == nil
}

// guarded calls run for one message, unless ctx has ended. If run panics, guarded returns the panic
// as an error.
func guarded(ctx context.Context, log *slog.Logger, m events.SQSMessage, run func(context.Context, events.SQSMessage) error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value, debug.Stack()}
		}
	}()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return run(context.WithValue(ctx, logKey{}, &noting{log, m}), m)
}

func report(ctx context.Context, log *slog.Logger, m events.SQSMessage, err error, response *events.SQSEventResponse) {
	if err == nil {
		return
	}
	logFailure(ctx, log, m, err)
	tell(ctx, m, err)
	response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
}

// panicError is a panic turned into an error.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func logFailure(ctx context.Context, log *slog.Logger, m events.SQSMessage, err error) {
	level := slog.LevelWarn
	attrs := append(subject(m),
		slog.String("message", m.MessageId),
		slog.String("receives", m.Attributes[receiveCount]),
		slog.Any("error", err),
	)
	what := "message failed"
	if IsLater(err) {
		level, what = slog.LevelDebug, "message postponed"
	}
	if IsTerminal(err) {
		level = slog.LevelError
		attrs = append(attrs, slog.Bool("terminal", true))
	}
	if panicked, ok := errors.AsType[*panicError](err); ok {
		level = slog.LevelError
		attrs = append(attrs, slog.String("stack", string(panicked.stack)))
	}
	log.LogAttrs(ctx, level, what, attrs...)
}

// Listener is a pair of functions that are called for failures. Either function may be nil. Both
// must be safe for concurrent use.
type Listener struct {
	Failed func(events.SQSMessage, error) // called by Each and Together for every failed message, with its error
	Noted  func(what string)              // called by Note, with the text of the fault
}

type listenerKey struct{}

// Listen returns a copy of ctx to which the listener l is added. Failures of messages that are
// handled with this context are reported to l and to the listeners of ctx.
func Listen(ctx context.Context, l Listener) context.Context {
	earlier, _ := ctx.Value(listenerKey{}).([]Listener)
	return context.WithValue(ctx, listenerKey{}, append(earlier[:len(earlier):len(earlier)], l))
}

func tell(ctx context.Context, m events.SQSMessage, err error) {
	listening, _ := ctx.Value(listenerKey{}).([]Listener)
	for _, l := range listening {
		if l.Failed != nil {
			l.Failed(m, err)
		}
	}
}

type logKey struct{}

// noting says for which message a function is running, and to which log Note writes.
type noting struct {
	log *slog.Logger
	m   events.SQSMessage
}

// Note records a fault that was met while a message is handled, but that does not make the message
// fail. Note logs the text of the fault (the parameter what), the attributes, and what the message is
// about; ctx carries the message. Note also calls the listeners of ctx (see Listen). They count faults
// by their texts, so a text must be one of a few constants.
func Note(ctx context.Context, what string, attrs ...slog.Attr) {
	listening, _ := ctx.Value(listenerKey{}).([]Listener)
	for _, l := range listening {
		if l.Noted != nil {
			l.Noted(what)
		}
	}
	if n, run := ctx.Value(logKey{}).(*noting); run {
		n.log.LogAttrs(ctx, slog.LevelWarn, what, append(subject(n.m), attrs...)...)
	}
}

// An error is of one of three kinds:
//
//	kind      a retry        the message                                    counted as
//	Terminal  cannot help    becomes a dead letter at once                  failed
//	Later     will help      is retried; after MaxReceives it is            postponed
//	                         acknowledged, and the sweep finds the work
//	other     may help       is retried; after MaxReceives it becomes       failed
//	                         a dead letter
//
// Joined errors are of a kind only if each of them is.

// marked is an error that Terminal (a retry cannot help) or Later (the message came too early) has
// marked.
type marked struct {
	error
	kind kind
}

type kind byte

const (
	terminal kind = iota
	later
)

// Unwrap returns the error without the mark.
func (m *marked) Unwrap() error { return m.error }

func mark(err error, k kind) error {
	if err == nil {
		return nil
	}
	return &marked{err, k}
}

func isOf(err error, k kind) bool {
	m, is := err.(*marked)
	return is && m.kind == k
}

// Terminal marks err as an error that a retry cannot mend, such as a message that
// does not parse. Terminal(nil) is nil.
func Terminal(err error) error { return mark(err, terminal) }

// IsTerminal reports whether err is marked by Terminal.
func IsTerminal(err error) bool {
	return every(err, func(err error) bool { return isOf(err, terminal) })
}

// Later marks err as the error of a message that came too early and must be delivered again. This
// is no fault, and is logged at debug level. Later(nil) is nil.
func Later(err error) error { return mark(err, later) }

// IsLater reports whether err is marked by Later, or is one of two errors of functions that need Redis:
//
//	frontier.ErrNotBuilt    until the frontier is rebuilt
//	Redis has no memory     until there is room (see vitals.RedisFull)
//
// Their messages must come again, too.
func IsLater(err error) bool {
	return every(err, func(err error) bool {
		return isOf(err, later) || err == frontier.ErrNotBuilt || isFull(err)
	})
}

// isFull reports whether err itself, and not an error that it wraps, is the answer of a Redis that has refused
// a command because it has no memory.
func isFull(err error) bool {
	_, refused := err.(redis.Error)
	return refused && redis.IsOOMError(err)
}

// every reports whether err is of the kind for which the given function returns true. An error that
// wraps one of this kind is also of this kind. Several joined errors (errors.Join) are of this kind
// only if each of them is.
func every(err error, is func(error) bool) bool {
	if err == nil {
		return false
	}
	if is(err) {
		return true
	}
	if joined, many := err.(interface{ Unwrap() []error }); many {
		for _, one := range joined.Unwrap() {
			if !every(one, is) {
				return false
			}
		}
		return len(joined.Unwrap()) > 0
	}
	return every(errors.Unwrap(err), is)
}
