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
)

// Handler is the one shape of the functions that a queue feeds.
type Handler = func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// Each calls run with the body of every message of the event, one after
// another, and returns those that failed, so that only they are delivered
// again. A panic in run is a failure of that message, and its stack is logged.
// Once ctx has ended the rest fail without being run. Every failure is logged
// here, once, and told to those who listen (see Listen).
func Each(ctx context.Context, log *slog.Logger, event events.SQSEvent, run func(ctx context.Context, body string) error) events.SQSEventResponse {
	var response events.SQSEventResponse
	for _, m := range event.Records {
		err := guarded(ctx, log, m, func(ctx context.Context, m events.SQSMessage) error { return run(ctx, m.Body) })
		report(ctx, log, m, err, &response)
	}
	return response
}

// Together is Each with all messages run at the same time.
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

// Decode reads the body of a message that is a JSON object. What is none is a
// Terminal error.
func Decode(body string, into any) error {
	err := fmt.Errorf("%d bytes are more than the %d of a message", len(body), MaxBody)
	if len(body) <= MaxBody {
		err = json.Unmarshal([]byte(body), into)
	}
	if err == nil && !strings.HasPrefix(strings.TrimSpace(body), "{") { // null fits everything
		err = errors.New("it is no JSON object")
	}
	if err != nil {
		return Terminal(fmt.Errorf("cannot read message: %w", err))
	}
	return nil
}

// guarded runs one message; a panic is its failure.
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
