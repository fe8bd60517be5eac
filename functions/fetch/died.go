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

// maxSurvived is how many of the latest batches survived remembers.
const maxSurvived = 1000

// survived remembers batches whose fetch returned an error in this process, and so
// did not die. It is safe for concurrent use; its zero value is empty.
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

// maxLate is the time after a batch's deadline until which bury may put its spool
// object. Later the sweep may already have closed the batch.
const maxLate = 10 * time.Minute

// bury puts the spool object of a late batch whose message was received before,
// if it is absent.
//
//	the earlier fetch                                outcome of each URL
//	died (ran out of memory or time, or crashed)     one attempt more
//	returned an error in this process                not asked
//
// Without bury, a URL that kills its fetch would be leased for ever: a dead fetch
// reports nothing, and an expired lease does not prove that a fetch began. The
// frontier takes only the attempts from these outcomes, because they are late, and
// counts an expired lease. Only a URL that was alone fails: the cause of another one's
// death may be its neighbour, so it will be leased alone.
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
		if len(b.Targets) == 1 || o.Attempts < MaxAttempts-1 {
			o.Attempts = more(o.Attempts)
		}
		conclude(o, t, died)
	}
	r.end(f.Now())
	f.Log.WarnContext(ctx, "batch given up: a fetch that had it left nothing", "partition", b.Storage, "crawl", b.Crawl, "batch", b.Version, "host", b.Host, "urls", len(b.Targets))
	return f.put(ctx, layout.SpoolKey(b.Storage, b.Version), spool.Spool{Ledger: r.ledger})
}

// receives returns the number of deliveries of a message, this one included; 1 when
// the queue does not tell.
func receives(m events.SQSMessage) int {
	n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	if err != nil {
		return 1
	}
	return n
}
