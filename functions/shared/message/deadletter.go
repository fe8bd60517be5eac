package message

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// MaxReceives is how often a message is delivered before its queue gives it
// up.
const MaxReceives = 12

// Limits of a dead letter.
const (
	maxReason     = 4 << 10 // bytes; the rest is cut off
	maxDeadLetter = 2 << 20 // bytes as JSON, which may write a byte as six
)

// DeadLetter is a message that was given up. It is one JSON object
// under layout.DeadLetters, created only if absent.
type DeadLetter struct {
	Queue    string    `json:"queue"`    // a name of package task
	Message  string    `json:"message"`  // the id of the message
	Body     string    `json:"body"`     // what is sent again
	Reason   string    `json:"reason"`   // why the last try failed
	At       time.Time `json:"at"`       // of the last try
	Receives int       `json:"receives"` // tries
}

// Key returns where the dead letter is kept: the same body in the same queue
// is one dead letter, however often it dies.
func (d DeadLetter) Key() string {
	return layout.DeadLetterKey(d.Queue, layout.ContentHash([]byte(d.Body)))
}

// Encode returns the dead letter as sealed JSON, a reason that is too long cut.
func (d DeadLetter) Encode() ([]byte, error) {
	d.Reason, d.At = cut(d.Reason, maxReason), d.At.UTC()
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("cannot encode dead letter of queue %s: %w", d.Queue, err)
	}
	content, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return layout.Seal(content), nil
}

// DecodeDeadLetter reads what Encode writes.
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

// cut returns at most so many bytes of a text, and whole characters.
func cut(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}

// DeadLetters yields the keys of all dead letters that the bucket keeps. An
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
