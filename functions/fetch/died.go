package fetch

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// maxSurvived is how many batches a survived remembers, the latest.
const maxSurvived = 1000

// survived remembers batches that failed without killing their fetch. It is
// safe for concurrent use; its zero value is empty.
type survived struct {
	mu      sync.Mutex // protects batches
	batches []layout.Version
}

func (s *survived) add(v layout.Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.batches, v) {
		return
	}
	if len(s.batches) == maxSurvived {
		s.batches = slices.Delete(s.batches, 0, 1)
	}
	s.batches = append(s.batches, v)
}

func (s *survived) has(v layout.Version) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.batches, v)
}

// maxLate is how long after its deadline a batch is buried: its spool object
// must not come when the sweep no longer takes batches of its time.
const maxLate = 10 * time.Minute

// bury puts the spool object of a late batch that a fetch was given before:
// every URL was asked once more, and the fetch died of one of them. But if it
// failed here, in an outage of the bucket say, it did not die: then nothing
// was asked. Without bury a URL that kills its fetch would be leased for ever,
// for a fetch that dies says nothing, and the expiry of a lease is no proof
// that there was one. It is put only if absent: the fetch before may have died
// after it put its own. The lease is over, so that the frontier takes nothing
// from a retry but its attempts; a URL whose attempts may be used up by the
// next is leased alone.
func (f *Function) bury(ctx context.Context, b batch.Batch) error {
	if f.Now().Sub(b.Deadline) > maxLate {
		return f.Run(ctx, b)
	}
	r, err := f.newRun(ctx, b)
	if err != nil {
		return err
	}
	died := verdict{book.Retry, "fetch died", "the batch was given to a fetch before, which left nothing until the deadline"}
	for i, t := range b.Targets {
		o := &r.ledger.Outcomes[i]
		if t.Denied != "" || f.survived.has(b.Version) {
			continue // was not asked for, or to no effect
		}
		o.Attempts = more(o.Attempts)
		conclude(o, t, died)
	}
	r.end(f.Now())
	f.Log.WarnContext(ctx, "batch given up: a fetch that had it left nothing", "partition", b.Storage, "crawl", b.Crawl, "batch", b.Version, "host", b.Host, "urls", len(b.Targets))
	return f.put(ctx, layout.SpoolKey(b.Storage, b.Version), spool.Spool{Ledger: r.ledger})
}

// receives is how often a message was delivered, this time included; 1 when
// the queue does not tell.
func receives(m events.SQSMessage) int {
	n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	if err != nil {
		return 1
	}
	return n
}
