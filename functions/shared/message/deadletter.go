package message

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// MaxReceives is how many times a queue delivers a message before it gives the message up.
const MaxReceives = 12

// Limits of a dead letter.
const (
	maxReason     = 4 << 10 // greatest number of bytes of DeadLetter.Reason; the rest is cut off
	maxDeadLetter = 2 << 20 // greatest size of a dead letter as JSON; JSON may write a character as six bytes
)

// DeadLetter is a message that was given up. It is stored as a JSON object under
// layout.DeadLetters. If there is an object with its key already, this object stays as it is.
type DeadLetter struct {
	Queue    string    `json:"queue"`    // name of the queue, as in package task
	Message  string    `json:"message"`  // SQS's id of the message
	Body     string    `json:"body"`     // body of the message
	Reason   string    `json:"reason"`   // why the last try failed
	At       time.Time `json:"at"`       // time of the last try
	Receives int       `json:"receives"` // number of times that the message was delivered
}

// Key returns the key of the dead letter, which depends only on the queue and the body. So a body
// that is given up several times in the same queue makes only one dead letter.
func (d DeadLetter) Key() string {
	return layout.DeadLetterKey(d.Queue, layout.ContentHash([]byte(d.Body)))
}

// Encode returns the dead letter as JSON with a checksum (see layout.Seal). It cuts a reason that
// is too long.
func (d DeadLetter) Encode() ([]byte, error) {
	d.Reason, d.At = Cut(d.Reason, maxReason), d.At.UTC()
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("cannot encode dead letter of queue %s: %w", d.Queue, err)
	}
	content, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return layout.Seal(content), nil
}

// DecodeDeadLetter decodes a dead letter that Encode has encoded.
func DecodeDeadLetter(content []byte) (DeadLetter, error) {
	var d DeadLetter
	err := fmt.Errorf("%d bytes are more than %d", len(content), maxDeadLetter)
	if len(content) <= maxDeadLetter {
		err = unseal(content, &d)
	}
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return DeadLetter{}, fmt.Errorf("cannot read dead letter: %w", err)
	}
	return d, nil
}

func unseal(content []byte, d *DeadLetter) error {
	object, _, err := layout.Unseal(content)
	if err != nil {
		return err
	}
	return json.Unmarshal(object, d)
}

func (d DeadLetter) check() error {
	switch {
	case d.Queue == "" || strings.Contains(d.Queue, "/"):
		return fmt.Errorf("%q is no name of a queue", d.Queue)
	case d.Body == "":
		return errors.New("it has no body")
	case len(d.Body) > MaxBody:
		return fmt.Errorf("a body of %d bytes is over the limit of %d", len(d.Body), MaxBody)
	case len(d.Reason) > maxReason:
		return fmt.Errorf("a reason of %d bytes is over the limit of %d", len(d.Reason), maxReason)
	}
	return nil
}

// Cut shortens a text at its end to at most the given number of bytes. It keeps whole characters
// only, and removes bytes that are not UTF-8.
func Cut(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}

// DeadLetters yields the keys of all dead letters (messages that were given up) in the bucket. An
// error ends the sequence.
func DeadLetters(ctx context.Context, bucket blob.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for object, err := range bucket.List(ctx, layout.DeadLetters, "") {
			if err != nil {
				yield("", fmt.Errorf("cannot list dead letters: %w", err))
				return
			}
			if layout.IsDeadLetter(object.Key) && !yield(object.Key, nil) {
				return
			}
		}
	}
}

const (
	receiveCount = "ApproximateReceiveCount" // attribute of an SQS message: the number of its deliveries
	storeTime    = 10 * time.Second          // time limit for storing a dead letter; it applies even after the function's own deadline
)

// DeadLetterStore stores dead letters, that is, messages that are given up, in the bucket.
type DeadLetterStore struct {
	// Bucket is where the dead letters are stored, such as a blob.Bucket.
	Bucket interface {
		Create(ctx context.Context, key string, content []byte) error
	}
	Now func() time.Time
	Log *slog.Logger
}

// Watch returns a handler that calls handle, and stores a dead letter for each message that is
// given up. The dead letter is a copy of the message with the reason. A message is given up if its
// error is Terminal, or if it fails at its last delivery with an error that is not Later. If handle
// panics, all messages fail. A function that is killed stores no dead letter.
func (g DeadLetterStore) Watch(queue string, handle Handler) Handler {
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		var mu sync.Mutex             // protects over
		over := make(map[string]bool) // ids of failed messages that are acknowledged nevertheless
		failed := func(m events.SQSMessage, reason error) {
			if g.giveUp(ctx, queue, m, reason) {
				mu.Lock()
				defer mu.Unlock()
				over[m.MessageId] = true
			}
		}
		response, err := g.call(Listen(ctx, Listener{Failed: failed}), event, handle)
		if err != nil { // an error of all messages
			for _, m := range event.Records {
				g.giveUp(ctx, queue, m, err)
			}
		}
		response.BatchItemFailures = slices.DeleteFunc(response.BatchItemFailures, func(f events.SQSBatchItemFailure) bool { return over[f.ItemIdentifier] })
		return response, err
	}
}

// call calls the handler, and returns a panic in it as an error.
func (g DeadLetterStore) call(ctx context.Context, event events.SQSEvent, handle Handler) (response events.SQSEventResponse, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value, debug.Stack()}
			g.Log.ErrorContext(ctx, "function panicked", "error", err, "stack", string(debug.Stack()))
		}
	}()
	return handle(ctx, event)
}

// giveUp decides what becomes of a failed message. The kind of its error (the parameter reason) and
// the number of its deliveries decide whether the message is retried; see the table at Terminal. If
// it is not retried, giveUp stores a dead letter, or leaves the work to the sweep. It returns true
// if the message is to be acknowledged, so that the queue does not deliver it again.
func (g DeadLetterStore) giveUp(ctx context.Context, queue string, m events.SQSMessage, reason error) (over bool) {
	receives, err := strconv.Atoi(m.Attributes[receiveCount])
	last := err == nil && receives >= MaxReceives
	terminal := IsTerminal(reason)
	switch {
	case last && IsLater(reason):
		g.Log.InfoContext(ctx, "message is left to the sweep", "queue", queue, "message", m.MessageId, "receives", receives, "reason", reason)
		return true
	case last || terminal:
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
		defer cancel()
		kept := g.Store(within, DeadLetter{
			Queue: queue, Message: m.MessageId, Body: m.Body, Reason: reason.Error(), At: g.Now(), Receives: max(receives, 1),
		})
		return terminal && kept
	}
	return false
}

// Store stores a dead letter, and returns true if it is stored. An earlier dead letter with the same
// key stays as it is. If Store fails, it logs the error and returns false. The caller must then leave
// the message in its queue.
func (g DeadLetterStore) Store(ctx context.Context, d DeadLetter) (kept bool) {
	content, err := d.Encode()
	if err == nil {
		err = g.Bucket.Create(ctx, d.Key(), content)
	}
	if err != nil && !errors.Is(err, blob.ErrExists) {
		g.Log.ErrorContext(ctx, "dead letter is not kept", "queue", d.Queue, "message", d.Message, "reason", Cut(d.Reason, maxReason),
			"error", fmt.Errorf("cannot create %s: %w", d.Key(), err))
		return false
	}
	return true
}
