package message

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

const (
	receiveCount = "ApproximateReceiveCount" // an attribute of a message
	burialTime   = 10 * time.Second          // for the dead letter of a function whose own time is up
)

// Graves keeps in the bucket what queues give up.
type Graves struct {
	Bucket interface { // blob.Bucket has it
		Create(ctx context.Context, key string, content []byte) error
	}
	Now func() time.Time
	Log *slog.Logger
}

// Watch keeps a dead letter, with its reason, of every message of the queue
// that the function gives up: at once if no other try can mend it, and then
// the message is acknowledged; else at its last receive. One that only came too
// early is acknowledged at its last receive. A panic is an error of all
// messages. A function that dies without a word leaves nothing.
func (g Graves) Watch(queue string, handle Handler) Handler {
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		var mu sync.Mutex             // protects over
		over := make(map[string]bool) // messages that are to be acknowledged
		failed := func(m events.SQSMessage, reason error) {
			if g.settle(ctx, queue, m, reason) {
				mu.Lock()
				defer mu.Unlock()
				over[m.MessageId] = true
			}
		}
		response, err := g.call(Listen(ctx, Listener{Failed: failed}), event, handle)
		if err != nil { // of all messages
			for _, m := range event.Records {
				g.settle(ctx, queue, m, err)
			}
		}
		response.BatchItemFailures = slices.DeleteFunc(response.BatchItemFailures, func(f events.SQSBatchItemFailure) bool { return over[f.ItemIdentifier] })
		return response, err
	}
}

// call runs the function; a panic is its error.
func (g Graves) call(ctx context.Context, event events.SQSEvent, handle Handler) (response events.SQSEventResponse, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value, debug.Stack()}
			g.Log.ErrorContext(ctx, "function panicked", "error", err, "stack", string(debug.Stack()))
		}
	}()
	return handle(ctx, event)
}

// settle keeps a dead letter if it is time, and reports whether the message may
// be acknowledged.
func (g Graves) settle(ctx context.Context, queue string, m events.SQSMessage, reason error) (over bool) {
	receives, err := strconv.Atoi(m.Attributes[receiveCount])
	last := err == nil && receives >= MaxReceives
	terminal := IsTerminal(reason)
	switch {
	case last && IsLater(reason):
		g.Log.InfoContext(ctx, "message is left to the sweep", "queue", queue, "message", m.MessageId, "receives", receives, "reason", reason)
		return true
	case last || terminal:
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), burialTime)
		defer cancel()
		kept := g.Bury(within, DeadLetter{
			Queue: queue, Message: m.MessageId, Body: m.Body, Reason: reason.Error(), At: g.Now(), Receives: max(receives, 1),
		})
		return terminal && kept
	}
	return false
}

// Bury keeps a dead letter, and reports whether it is kept. One that is there
// already, from an earlier death of the same message, stays. That it cannot be
// kept is logged: the queue has the message still, and gives it up at the last
// receive.
func (g Graves) Bury(ctx context.Context, d DeadLetter) (kept bool) {
	content, err := d.Encode()
	if err == nil {
		err = g.Bucket.Create(ctx, d.Key(), content)
	}
	if err != nil && !errors.Is(err, blob.ErrExists) {
		g.Log.ErrorContext(ctx, "dead letter is not kept", "queue", d.Queue, "message", d.Message, "reason", cut(d.Reason, maxReason),
			"error", fmt.Errorf("cannot create %s: %w", d.Key(), err))
		return false
	}
	return true
}
