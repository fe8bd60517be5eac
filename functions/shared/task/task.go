// Package task defines the queues by which functions call each other, and the
// messages other than bucket events. A message is only a hint: the function that
// receives it reads from the bucket or Redis what there is to do.
package task

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// The queues, each read by the function of its name.
const (
	Schedule = "schedule"
	Fetch    = "fetch"
	Pack     = "pack"
	Index    = "index"
	Merge    = "merge"
	Rank     = "rank"
	Sweep    = "sweep"
	Watch    = "watch"
)

// Queues lists all queues.
var Queues = []string{Schedule, Fetch, Pack, Index, Merge, Rank, Sweep, Watch}

// timeouts of the functions, by queue: schedule and watch take seconds, a fetch
// ends by its lease of two minutes, a merge may rewrite a whole partition, and rank reads
// all books.
var timeouts = map[string]time.Duration{
	Schedule: time.Minute,
	Fetch:    150 * time.Second,
	Pack:     5 * time.Minute,
	Index:    5 * time.Minute,
	Merge:    15 * time.Minute,
	Rank:     15 * time.Minute,
	Sweep:    15 * time.Minute,
	Watch:    time.Minute,
}

// Timeout returns how long an invocation of the function of a queue may take,
// in the cloud as on one machine.
func Timeout(queue string) time.Duration { return timeouts[queue] }

// Visibility returns how long after a receive a message of the queue is visible
// again: six times the timeout of its function, as AWS advises.
func Visibility(queue string) time.Duration { return 6 * Timeout(queue) }

// Lease asks schedule to lease batches of a crawl partition.
type Lease struct {
	Crawl int `json:"crawl"`
}

// Gather asks pack to pack the spool objects of a storage partition, if there are enough
// for a package, or in any case when Flush is set.
type Gather struct {
	Storage layout.Partition `json:"storage"`
	Flush   bool             `json:"flush,omitempty"`
}

// Tiers asks merge to merge segments of a storage partition (see segments.Limits).
type Tiers struct {
	Storage layout.Partition `json:"storage"`
}

// Mask asks sweep for one thing only: to mask the documents whose pages are gone in the
// storage partition Gone. A message in which Gone is nil, such as {}, asks for a whole
// sweep.
type Mask struct {
	Gone *layout.Partition `json:"gone"`
}

// Sender puts a message on a queue, to be delivered after the delay.
type Sender interface {
	Send(ctx context.Context, queue string, body []byte, delay time.Duration) error
}

// Send encodes the message as JSON and sends it. The '&' of URLs stays one
// byte, so that a message is not much longer than what it holds.
func Send(ctx context.Context, to Sender, queue string, message any, delay time.Duration) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		return fmt.Errorf("cannot encode message for %s: %w", queue, err)
	}
	return to.Send(ctx, queue, bytes.TrimSpace(body.Bytes()), delay)
}
