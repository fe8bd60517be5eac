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
	// parallel. Fewer are scanned faster than goroutines start and wait for each other.
	parallelPostings = 1 << 15
	// parallelMatches is the greatest number of best matches for which segments are scanned in parallel, since
	// each of the scans keeps so many.
	parallelMatches = 1 << 12
)

// scanParts scans all parts (segments) of the index. When the time for scanning has passed, it stops without an
// error, and marks the result as partial.
//
// If the words have many postings, it divides the parts into batches, one after the other, and scans the parts of a
// batch in parallel. Each of these scans skips what cannot be among the best matches by the scores of the batches
// before and by its own, not by those of the others of its batch. So the result does not depend on how fast each of
// them is: what is skipped, and so how many matches are counted, is the same each time on machines with as many
// processors. The best matches are the same on all machines.
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
			width = 2 * processors // of many parts, the first was scanned alone: after it, the others skip more
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

// scanBatch scans some parts in parallel, and adds what it has found to work, in the order of the parts.
func (s *search) scanBatch(ctx deadline, work *scan, parts []int, processors int) error {
	if work.seen != nil {
		s.startCounts() // so that the scans do not do it at the same time
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

// fork returns a scan for one part that runs beside others. It knows what s has found so far.
func (s *scan) fork(of *search) *scan {
	fork := scans.Get().(*scan)
	fork.begin(of)
	fork.limit, fork.seen, fork.stop, fork.count = s.limit, s.seen, s.stop, s.count
	fork.top.reset(s.top.size)
	fork.top.floor = s.top.least()
	return fork
}
