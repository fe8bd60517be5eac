package message

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
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

// Watch has a dead letter kept, with its reason, of every message of the queue
// that the function fails at its last receive. A function that dies without a
// word leaves none.
func (g Graves) Watch(queue string, handle Handler) Handler {
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		bury := func(m events.SQSMessage, reason error) {
			receives, err := strconv.Atoi(m.Attributes[receiveCount])
			if err != nil || receives < MaxReceives {
				return
			}
			within, cancel := context.WithTimeout(context.WithoutCancel(ctx), burialTime)
			defer cancel()
			g.Bury(within, DeadLetter{
				Queue: queue, Message: m.MessageId, Body: m.Body, Reason: reason.Error(), At: g.Now(), Receives: receives,
			})
		}
		response, err := handle(OnFailure(ctx, bury), event)
		if err != nil { // of all messages
			for _, m := range event.Records {
				bury(m, err)
			}
		}
		return response, err
	}
}

// Bury keeps a dead letter. One that is there already, from an earlier death
// of the same message, stays. That it cannot be kept is logged: the queue has
// the message still, where queues have dead letters of their own.
func (g Graves) Bury(ctx context.Context, d DeadLetter) {
	content, err := d.Encode()
	if err == nil {
		err = g.Bucket.Create(ctx, d.Key(), content)
	}
	if err != nil && !errors.Is(err, blob.ErrExists) {
		g.Log.ErrorContext(ctx, "dead letter is not kept", "queue", d.Queue, "message", d.Message, "reason", cut(d.Reason, maxReason),
			"error", fmt.Errorf("cannot create %s: %w", d.Key(), err))
	}
}
