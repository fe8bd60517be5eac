package queue

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
)

// Function processes the messages of a queue.
type Function = message.Handler

// Mapping is Lambda's event source mapping: how a queue invokes a function.
type Mapping struct {
	Function    Function
	Concurrency int           // invocations at once, at least 1
	BatchSize   int           // messages of an invocation at most, at least 1
	Timeout     time.Duration // of an invocation
	Grace       time.Duration // for running invocations when delivery ends
	Log         *slog.Logger
}

// Deliver invokes the function with the queue's messages until ctx ends.
//
//	the function                                  its messages are
//	returns                                       deleted, except the failed ones
//	reports messages as failed                    given back
//	returns an error, panics, exceeds its time    all given back
//
// An invocation over its time is left running, since only the end of a process could stop
// it. When ctx ends, no more messages are taken, and running invocations, whose context
// goes on, get the mapping's grace period. Those that do not finish are cancelled, their
// messages given back, and Deliver's error says so.
func Deliver(ctx context.Context, q *Queue, m Mapping) error {
	running, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	slots := make(chan struct{}, m.Concurrency)
	var invocations sync.WaitGroup
	for ctx.Err() == nil {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			continue
		}
		batch := q.await(ctx, m.BatchSize)
		if batch == nil {
			<-slots
			continue
		}
		invocations.Go(func() {
			defer func() { <-slots }()
			m.invoke(running, q, batch)
		})
	}

	finished := make(chan struct{})
	go func() {
		invocations.Wait()
		close(finished)
	}()
	select {
	case <-finished:
		return nil
	case <-time.After(m.Grace):
	}
	var err error
	if n := len(slots); n > 0 {
		err = fmt.Errorf("queue %s: invocations given up because they still ran %v after the end: %d", q.options.Name, m.Grace, n)
	}
	giveUp(err)
	<-finished
	return err
}

// await returns up to limit messages as soon as there are any, and none once
// ctx has ended.
func (q *Queue) await(ctx context.Context, limit int) []events.SQSMessage {
	for ctx.Err() == nil {
		if batch := q.Receive(limit); len(batch) > 0 {
			return batch
		}
		wait, some, changed := q.upcoming()
		var due <-chan time.Time
		if some {
			due = time.After(wait)
		}
		select {
		case <-due:
		case <-changed:
		case <-ctx.Done():
		}
	}
	return nil
}

func (m Mapping) invoke(ctx context.Context, q *Queue, batch []events.SQSMessage) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.Timeout, fmt.Errorf("timed out after %v", m.Timeout))
	defer cancel()
	response, err := m.call(ctx, batch)
	var failed map[string]bool
	if err == nil {
		failed, err = failures(batch, response)
	}
	if err != nil {
		m.Log.WarnContext(ctx, "invocation failed", "queue", q.options.Name, "messages", len(batch), "error", err)
	}
	for _, delivered := range batch {
		switch {
		case err != nil:
			q.Fail(delivered.ReceiptHandle, err.Error())
		case failed[delivered.MessageId]:
			q.Fail(delivered.ReceiptHandle, "the function reported a failure; its log says why")
		default:
			q.Delete(delivered.ReceiptHandle)
		}
	}
}

// call runs the function, turning a panic into an error, until ctx ends.
func (m Mapping) call(ctx context.Context, batch []events.SQSMessage) (events.SQSEventResponse, error) {
	var response events.SQSEventResponse
	result := make(chan error, 1)
	go func() {
		defer func() {
			if value := recover(); value != nil {
				result <- fmt.Errorf("panic: %v\n%s", value, debug.Stack())
			}
		}()
		r, err := m.Function(ctx, events.SQSEvent{Records: batch})
		response = r
		result <- err
	}()
	select {
	case err := <-result:
		return response, err
	case <-ctx.Done():
		return events.SQSEventResponse{}, context.Cause(ctx)
	}
}

// failures returns the ids that the response reports. As with Lambda, an id
// that is none of the batch's fails the whole batch.
func failures(batch []events.SQSMessage, response events.SQSEventResponse) (map[string]bool, error) {
	known := map[string]bool{}
	for _, delivered := range batch {
		known[delivered.MessageId] = true
	}
	failed := map[string]bool{}
	for _, f := range response.BatchItemFailures {
		if !known[f.ItemIdentifier] {
			return nil, fmt.Errorf("the function reported a failure of %q, which is no message of its batch", f.ItemIdentifier)
		}
		failed[f.ItemIdentifier] = true
	}
	return failed, nil
}
