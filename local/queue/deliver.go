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

// Function handles batches of messages of a queue, like a Lambda function for an SQS queue.
type Function = message.Handler

// Source is a queue from which Deliver takes messages: a Queue, or one that several machines share.
type Source interface {
	// Await waits until messages can be received, and receives at most as many as the limit. If ctx ends
	// before that, it returns none.
	Await(ctx context.Context, limit int) []events.SQSMessage
	// Delete removes a message that is done, by its receipt handle.
	Delete(receipt string)
	// Fail gives a message back, because it could not be handled for the given reason.
	Fail(receipt, reason string)
}

// Mapping says how a queue invokes a function, as an event source mapping does in Lambda.
type Mapping struct {
	Function    Function
	Concurrency int           // maximum number of concurrent invocations, at least 1
	BatchSize   int           // maximum number of messages of one invocation, at least 1
	Timeout     time.Duration // maximum duration of one invocation
	Grace       time.Duration // time for which invocations may still run after ctx of Deliver has ended
	Log         *slog.Logger  // names the function
}

// Deliver invokes the function with the queue's messages until ctx ends.
//
//	the function                                         messages
//	returns without an error                             are deleted, but those that it reports as failed are given back
//	returns an error, panics, or exceeds the timeout     are all given back
//
// An invocation that exceeds the timeout goes on running, because a goroutine cannot be killed.
// When ctx ends, Deliver takes no more messages. Running invocations may go on for Mapping.Grace,
// because their context does not end yet. After that they are cancelled, their messages are given
// back, and Deliver returns an error.
func Deliver(ctx context.Context, q Source, m Mapping) error {
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
		batch := q.Await(ctx, m.BatchSize)
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
		err = fmt.Errorf("invocations given up because they still ran %v after the end: %d", m.Grace, n)
	}
	giveUp(err)
	<-finished
	return err
}

// Await implements Source.
func (q *Queue) Await(ctx context.Context, limit int) []events.SQSMessage {
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

// invoke invokes the function with a batch of messages, and deletes the messages or gives
// them back.
func (m Mapping) invoke(ctx context.Context, q Source, batch []events.SQSMessage) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.Timeout, fmt.Errorf("timed out after %v", m.Timeout))
	defer cancel()
	response, err := m.call(ctx, batch)
	var failed map[string]bool
	if err == nil {
		failed, err = failures(batch, response)
	}
	if err != nil {
		m.Log.WarnContext(ctx, "invocation failed", "messages", len(batch), "error", err)
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

// call calls the function. If the function panics, call returns an error. If ctx ends before the
// function returns, call returns the cause of ctx, and the function goes on running.
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

// failures returns the ids of the messages that the response reports as failed. If one of
// these ids is not in the batch, it returns an error: as with Lambda, the whole batch
// counts as failed then.
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
