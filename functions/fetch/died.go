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

// failedRuns is the set of the latest batches for which Run returned an error in this process. By
// it, bury can tell them from batches that crashed a fetch. It is safe for concurrent use; its zero
// value is empty.
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

// maxLate is the time after a batch's deadline until which bury may put a spool object for the
// batch. After that the sweep may have marked the batch as closed in the manifest, so that pack
// would ignore the object.
const maxLate = 10 * time.Minute

// bury records that an earlier fetch of a batch has ended without a spool object: it puts such an
// object, unless there is one. It is called when the batch's deadline has passed and its message
// was delivered before. The outcomes in the object say what became of the earlier fetch:
//
//	the earlier fetch                                outcome of each URL
//	crashed, or ran out of memory or time            retry, with one more attempt
//	returned an error in this process                not asked
//
// Without bury, a URL that crashes every fetch would be leased for ever: a crashed fetch writes no
// spool object, and an expired lease does not prove that a fetch began. The frontier takes only the
// number of attempts from outcomes that come after the deadline, as these do.
//
// A URL that was alone in its batch fails when it reaches MaxAttempts. Of several URLs, each may
// have caused the crash. So none of them fails; later they are leased one by one.
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
