package search

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
)

const (
	// parallelPostings is the least number of postings of a query's words for which segments are scanned in
	// parallel. With fewer postings, starting goroutines and waiting for them takes longer than the scan.
	parallelPostings = 1 << 15
	// parallelMatches is the greatest number of best matches for which segments are scanned in parallel. Each of
	// the parallel scans keeps this number of matches in memory.
	parallelMatches = 1 << 12
)

// scanParts scans all parts (segments) of the index. When the time for scanning has passed, it stops without an
// error, and marks the result as partial.
//
// If the words of the query have few postings, it scans one part after another. If they have many, it divides the
// parts into batches. It takes one batch after another, and scans the parts of a batch in parallel. A scan skips
// documents that cannot be among the best matches, by the scores of all earlier batches and of its own part. It
// does not use the scores of the other parts in its batch. So its result does not depend on how fast the other
// scans are:
//
//	best matches                   the same on all machines
//	number of counted matches,     the same each time on machines with the same number of processors;
//	which skipping lowers          another number of processors may give another number
func (s *search) scanParts(ctx deadline, work *scan) error {
	work.stop = func() error { return effort.Spend(ctx.scan, perScanned*(1+len(s.plan.words))) }
	var parts []int
	for part := range s.parts {
		if !s.missing[part] {
			parts = append(parts, part)
		}
	}
	processors := runtime.GOMAXPROCS(0)
	if s.postings() < s.ix.parallel || work.top.size > parallelMatches {
		processors = 1
	}
	width := 1
	if processors > 1 && len(parts) <= 2*processors {
		width = processors
	}
	for len(parts) > 0 && !s.result.Partial {
		batch := parts[:min(len(parts), width)]
		parts = parts[len(batch):]
		var err error
		if len(batch) == 1 {
			err = s.scanPart(ctx, work, batch[0])
		} else {
			err = s.scanBatch(ctx, work, batch, processors)
		}
		if err != nil {
			return err
		}
		if processors > 1 {
			width = 2 * processors // larger batches: the scores of the first one let them skip more
		}
	}
	return nil
}

// scanPart scans one part.
func (s *search) scanPart(ctx deadline, work *scan, part int) error {
	if !work.open(s, part) {
		return nil
	}
	err := work.pass(uint32(s.parts[part].Segment.Documents()))
	if ctx.passed(ctx.scan) {
		s.result.Partial = true
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.named(part, err)
}

// scanBatch scans some parts in parallel. It adds what was found to work, in the order of the parts.
func (s *search) scanBatch(ctx deadline, work *scan, parts []int, processors int) error {
	if work.seen != nil {
		s.startCounts() // before the scans, because it is not safe for concurrent use
	}
	scanned, errs := make([]*scan, len(parts)), make([]error, len(parts))
	var next atomic.Int64
	var failed atomic.Bool
	var group sync.WaitGroup
	for range min(processors, len(parts)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(parts) && !failed.Load(); i = int(next.Add(1)) - 1 {
				scanned[i] = work.fork(s)
				if scanned[i].open(s, parts[i]) {
					errs[i] = scanned[i].pass(uint32(s.parts[parts[i]].Segment.Documents()))
				}
				if errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	group.Wait()
	before := work.count
	for _, of := range scanned {
		if of == nil { // not scanned, after an error of another part
			continue
		}
		work.count += of.count - before
		work.passed = work.passed || of.passed
		for _, f := range slices.Concat(of.top.best, of.top.ties) {
			work.top.offer(f)
		}
		scans.Put(of)
	}
	if ctx.passed(ctx.scan) {
		s.result.Partial = true
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, err := range errs {
		if err != nil {
			return s.named(parts[i], err)
		}
	}
	return nil
}

// fork returns a scan of one part, which runs beside scans of other parts. It knows the lowest score of the best
// matches that s has found so far, and skips documents that do not reach it.
func (s *scan) fork(of *search) *scan {
	fork := scans.Get().(*scan)
	fork.begin(of)
	fork.limit, fork.seen, fork.stop, fork.count = s.limit, s.seen, s.stop, s.count
	fork.top.reset(s.top.size)
	fork.top.floor = s.top.least()
	return fork
}
