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

// maxFailedRuns is the greatest number of batches in failedRuns. Beyond it the oldest are dropped.
const maxFailedRuns = 1000

// failedRuns is the set of the latest batches for which Run returned an error in this process. It
// lets bury tell these batches from those whose fetch crashed. It is safe for concurrent use; its
// zero value is empty.
type failedRuns struct {
	mu      sync.Mutex // protects batches
	batches []layout.Version
}

func (s *failedRuns) add(v layout.Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.batches, v) {
		return
	}
	if len(s.batches) == maxFailedRuns {
		s.batches = slices.Delete(s.batches, 0, 1)
	}
	s.batches = append(s.batches, v)
}

func (s *failedRuns) has(v layout.Version) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.batches, v)
}

// maxLate limits when bury may put a spool object to record that a fetch crashed: at most this long
// after the batch's deadline. Later than that, the sweep may have closed the batch in the manifest,
// and pack ignores the objects of closed batches.
const maxLate = 10 * time.Minute

// bury puts a spool object for a batch whose earlier fetch has left none. It is called when the
// batch's deadline has passed and its message was delivered before. The outcomes in the object say
// what became of the earlier fetch:
//
//	the earlier fetch                                outcome of each URL
//	crashed, or ran out of memory or time            retry, with one more attempt
//	returned an error in this process                not asked
//
// Without bury, a URL that crashes every fetch would be leased for ever: a crashed fetch writes no
// spool object, and an expired lease does not prove that a fetch began. When these outcomes reach
// the frontier, the lease has expired, and the URLs wait again already. So for a retry the frontier
// only records the number of attempts.
//
// A URL that was alone in its batch fails when it reaches MaxAttempts. If there were several URLs,
// each of them may have caused the crash. Then none of them fails, and later they are leased one by
// one.
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
		if t.Denied != "" || f.failedRuns.has(b.Version) {
			continue // it was not requested, or the fetch of the batch did not crash
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

// receives returns how often a message has been delivered so far, this time included. It returns 1
// if the queue does not say.
func receives(m events.SQSMessage) int {
	n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	if err != nil {
		return 1
	}
	return n
}
