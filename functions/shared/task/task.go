// Package task defines the queues by which functions call each other, and the messages in them
// other than bucket events. A message is only a hint: the function that receives it reads from
// the bucket or Redis what it has to do.
package task

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Names of the queues. Each queue is read by the function with the same name.
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

// IsOnlyTicked reports whether only a clock sends messages to a queue. They are all equal, and a lost one does no harm,
// because the next tick does the same work. On AWS there are no such queues: clocks invoke their functions directly.
func IsOnlyTicked(queue string) bool { return queue == Rank || queue == Watch }

// timeouts holds the time limit of each function, by its queue. The functions schedule and watch take
// seconds. The function fetch gets more time than the lease of its batch, which is two minutes. The function
// merge may rewrite a whole partition, and rank reads all books.
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

// Timeout returns the time limit for one invocation of the function that reads a queue, in the
// cloud and on one machine.
func Timeout(queue string) time.Duration { return timeouts[queue] }

// BatchSize returns how many messages of a queue one invocation of its function may get, if the function runs
// as a Lambda function. The function fetch gets many: each is a batch of another host, fetch mostly waits
// for hosts, and in the cloud waiting is paid for by invocation.
func BatchSize(queue string) int {
	if queue == Fetch {
		return 64
	}
	return 1
}

// Window returns for how long messages of a queue are gathered in the cloud, until they are BatchSize
// or until the function is invoked with those that there are.
func Window(queue string) time.Duration {
	if queue == Fetch {
		return 5 * time.Second
	}
	return 0
}

// Visibility returns the time for which a received message is hidden in the queue: as AWS advises, six
// times the timeout of its function, and the time for which messages are gathered. A message that is
// not acknowledged by then is delivered again. For fetch the time is shorter: a message is of no use to it
// much later than the deadline of its batch, but tells it soon after that an earlier fetch has died.
func Visibility(queue string) time.Duration {
	if queue == Fetch {
		return 2*Timeout(queue) + Window(queue)
	}
	return 6 * Timeout(queue)
}

// Lease asks the function schedule to lease batches of a crawl partition, that is, to hand out URLs
// to be fetched.
type Lease struct {
	Crawl int `json:"crawl"`
}

// Gather asks the function pack to pack the spool objects (fetched batches) of a storage partition
// if there are enough for a package. If Flush is true, pack packs them however few there are.
type Gather struct {
	Storage layout.Partition `json:"storage"`
	Flush   bool             `json:"flush,omitempty"`
}

// Tiers asks the function merge to merge segments of a storage partition, as segments.Limits says. Ended is true if no
// further packages are expected soon: then merge leaves fewer segments.
type Tiers struct {
	Storage layout.Partition `json:"storage"`
	Ended   bool             `json:"ended,omitempty"`
}

// Together asks the function index to make the documents of a storage partition's small packages again, together
// (see segments.Together). Ended is true if no further packages are expected soon: then index does not wait for
// more pages.
type Together struct {
	Storage layout.Partition `json:"storage"`
	Ended   bool             `json:"ended,omitempty"`
}

// Clean says what the function sweep is to do:
//
//	{}               sweep everything: it sends itself a message of the next kind for each storage partition
//	{"storage": 3}   sweep this storage partition
//	{"gone": 3}      only hide the pages of this storage partition that are gone from the web, by
//	                 marking their documents as dead
//	{"count": true}  only go on counting URLs; it sends itself this message until all are counted. An
//	                 earlier program takes it for the first kind
type Clean struct {
	Storage *layout.Partition `json:"storage,omitempty"`
	Gone    *layout.Partition `json:"gone,omitempty"`
	Count   bool              `json:"count,omitempty"`
}

// Sender sends messages: Send puts one on a queue, to be delivered after the delay.
type Sender interface {
	Send(ctx context.Context, queue string, body []byte, delay time.Duration) error
}

// Send encodes the message as JSON and sends it, to be delivered after the delay. It does not
// escape the '&' of URLs, which would take six bytes, so a message is not much longer than its
// values.
func Send(ctx context.Context, to Sender, queue string, message any, delay time.Duration) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		return fmt.Errorf("cannot encode message for %s: %w", queue, err)
	}
	return to.Send(ctx, queue, bytes.TrimSpace(body.Bytes()), delay)
}
