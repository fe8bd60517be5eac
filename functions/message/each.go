package message

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/aws/aws-lambda-go/events"
)

// Handler is the one shape of the functions that a queue feeds.
type Handler = func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// Each calls run with the body of every message of the event, one after
// another, and returns those that failed, so that only they are delivered
// again. A panic in run is a failure of that message, and its stack is logged.
// Once ctx has ended the rest fail without being run. Every failure is logged
// here, once, and told to those who listen (see OnFailure).
func Each(ctx context.Context, log *slog.Logger, event events.SQSEvent, run func(ctx context.Context, body string) error) events.SQSEventResponse {
	var response events.SQSEventResponse
	for _, m := range event.Records {
		err := context.Cause(ctx)
		if err == nil {
			err = guarded(ctx, m.Body, run)
		}
		if err == nil {
			continue
		}
		logFailure(ctx, log, m, err)
		tell(ctx, m, err)
		response.BatchItemFailures = append(response.BatchItemFailures,
			events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
	}
	return response
}

type listenerKey struct{}

// OnFailure returns a context in which Each tells of every message that fails,
// and why. Whoever listened before goes on listening. It is called by Each's
// goroutine.
func OnFailure(ctx context.Context, listen func(events.SQSMessage, error)) context.Context {
	earlier, _ := ctx.Value(listenerKey{}).(func(events.SQSMessage, error))
	return context.WithValue(ctx, listenerKey{}, func(m events.SQSMessage, err error) {
		if earlier != nil {
			earlier(m, err)
		}
		listen(m, err)
	})
}

func tell(ctx context.Context, m events.SQSMessage, err error) {
	if listen, ok := ctx.Value(listenerKey{}).(func(events.SQSMessage, error)); ok {
		listen(m, err)
	}
}

// Terminal marks err as one that another try cannot mend, such as a message
// that does not parse. The message is still reported as failed, because only
// the queue's redrive policy moves it to the dead letters, which it does after
// the last of its tries; the mark raises the log's level to an error.
// Terminal(nil) is nil.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &terminalError{err}
}

type terminalError struct{ err error }

func (e *terminalError) Error() string { return e.err.Error() }
func (e *terminalError) Unwrap() error { return e.err }

// Later marks err as no fault: the message has come too early, and shall come
// again. It is logged as a mere remark, and counts as no failure of the
// function. Later(nil) is nil.
func Later(err error) error {
	if err == nil {
		return nil
	}
	return &laterError{err}
}

type laterError struct{ err error }

func (e *laterError) Error() string { return e.err.Error() }
func (e *laterError) Unwrap() error { return e.err }

// IsLater reports whether err is marked by Later.
func IsLater(err error) bool {
	_, ok := errors.AsType[*laterError](err)
	return ok
}

// panicError is a panic turned into an error.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func guarded(ctx context.Context, body string, run func(context.Context, string) error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value, debug.Stack()}
		}
	}()
	return run(ctx, body)
}

func logFailure(ctx context.Context, log *slog.Logger, m events.SQSMessage, err error) {
	level := slog.LevelWarn
	attrs := append(subject(m),
		slog.String("message", m.MessageId),
		slog.String("receives", m.Attributes[receiveCount]),
		slog.Any("error", err),
	)
	if IsLater(err) {
		level = slog.LevelDebug
	}
	if _, ok := errors.AsType[*terminalError](err); ok {
		level = slog.LevelError
		attrs = append(attrs, slog.Bool("terminal", true))
	}
	if panicked, ok := errors.AsType[*panicError](err); ok {
		level = slog.LevelError
		attrs = append(attrs, slog.String("stack", string(panicked.stack)))
	}
	log.LogAttrs(ctx, level, "message failed", attrs...)
}
