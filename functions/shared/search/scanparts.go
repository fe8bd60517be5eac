package search

import (
	"math"
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
	// stripeDocuments is the greatest number of documents of a stripe, where parts are divided into stripes.
	stripeDocuments = 1 << 16
	// dividing is a multiple of parallelPostings: the least number of postings of a query's words for which parts are
	// divided. Their stripes take about a tenth more of the processors' time than whole parts, since the first scans
	// know no scores by which they could skip documents.
	dividing = 16
)

// stripe is what a scan goes through at once: the documents of a part from the number from to the number to-1.
type stripe struct {
	part     int
	from, to uint32
}

// stripes divides the parts that were read into stripes of at most the given number of documents.
func (s *search) stripes(most uint32) (all []stripe) {
	for part := range s.parts {
		if s.missing[part] {
			continue
		}
		documents := uint32(s.parts[part].Segment.Documents())
		for from := uint32(0); from < documents; from += most {
			all = append(all, stripe{part, from, min(from+most, documents)})
		}
	}
	return all
}

// scanParts scans all parts (segments) of the index. When the time for scanning has passed, it stops without an
// error, and marks the result as partial.
//
// It scans one part after another or, by the number of postings of the query's words:
//
//	parallelPostings               several parts in parallel
//	dividing · parallelPostings    several stripes of parts in parallel, unless the scan counts matches by facet
//
// For this it divides the stripes into batches (a part that is not divided is one stripe). It takes one batch after
// another, and scans the stripes of a batch in parallel. A scan skips documents that cannot be among the best matches,
// by the scores of all earlier batches and of its own stripe. It does not use the scores of the other stripes in its
// batch. So its result does not depend on how fast the other scans are:
//
//	best matches                   the same on all machines
//	number of counted matches,     the same each time on machines with the same number of processors;
//	which skipping lowers          another number of processors may give another number
func (s *search) scanParts(ctx deadline, work *scan) error {
	work.stop = func() error { return effort.Spend(ctx.scan, perScanned*(1+len(s.plan.words))) }
	processors := runtime.GOMAXPROCS(0)
	if s.postings() < s.ix.parallel || work.top.size > parallelMatches {
		processors = 1
	}
	most := uint32(math.MaxInt32) // no part has more documents
	if processors > 1 && work.seen == nil && s.postings() >= dividing*s.ix.parallel {
		most = s.ix.stripe
	}
	all := s.stripes(most)
	width := 1
	if processors > 1 && len(all) <= 2*processors {
		width = processors
	}
	for len(all) > 0 && !s.result.Partial {
		batch := all[:min(len(all), width)]
		all = all[len(batch):]
		var err error
		if len(batch) == 1 {
			err = s.scanStripe(ctx, work, batch[0])
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

// scanStripe scans one stripe.
func (s *search) scanStripe(ctx deadline, work *scan, of stripe) error {
	if !work.open(s, of.part) {
		return nil
	}
	err := work.pass(of)
	if ctx.passed(ctx.scan) {
		s.result.Partial = true
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.named(of.part, err)
}

// scanBatch scans some stripes in parallel. It adds what was found to work, in the order of the stripes.
func (s *search) scanBatch(ctx deadline, work *scan, batch []stripe, processors int) error {
	if work.seen != nil {
		s.startCounts() // before the scans, because it is not safe for concurrent use
	}
	scanned, errs := make([]*scan, len(batch)), make([]error, len(batch))
	var next atomic.Int64
	var failed atomic.Bool
	var group sync.WaitGroup
	for range min(processors, len(batch)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(batch) && !failed.Load(); i = int(next.Add(1)) - 1 {
				scanned[i] = work.fork(s)
				if scanned[i].open(s, batch[i].part) {
					errs[i] = scanned[i].pass(batch[i])
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
		if of == nil { // not scanned, after an error of another stripe
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
			return s.named(batch[i].part, err)
		}
	}
	return nil
}

// fork returns a scan of one stripe, which runs beside scans of other stripes. It knows the lowest score of the best
// matches that s has found so far, and skips documents that do not reach it.
func (s *scan) fork(of *search) *scan {
	fork := scans.Get().(*scan)
	fork.begin(of)
	fork.limit, fork.seen, fork.stop, fork.count = s.limit, s.seen, s.stop, s.count
	fork.top.reset(s.top.size)
	fork.top.floor = s.top.least()
	return fork
}
