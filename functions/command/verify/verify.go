// Package verify proves from the bucket alone that nothing is lost and nothing is
// stored twice (law 7):
//
//	generations   each one names the hash of the one before, and no object proves that later
//	              ones are lost
//	objects       every listed object is whole, and no object is foreign
//	URLs          every URL is in exactly one state
//	pages         every stored page can be read where the books say
//	documents     every live page is one live document of one segment; no document
//	              of a gone page is live
//	forgetting    no object holds a forgotten page, outcome or link
//
// It reads packages, books, ranges of URLs and segments in parallel, one for each
// processor. Memory holds the packages or segments being read, 48 bytes for each page, and
// the URLs of the ranges being read.
//
// The proof holds for the moment at which it began, whatever is committed
// meanwhile. Work that a running system still has to do is counted as waiting, and
// is no problem.
package verify

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Report is the result of Verifier.Run: the amounts of stored data, the problems, and the work that
// a running system still has to do.
type Report struct {
	Generations int `json:"generations"`
	URLs        int `json:"urls"` // number of discovered URLs: Stored + Skipped + Failed + Pending
	Stored      int `json:"stored"`
	Skipped     int `json:"skipped"`
	Failed      int `json:"failed"`
	Pending     int `json:"pending"`
	Pages       int `json:"pages"` // number of pages in packages, older versions included
	Packages    int `json:"packages"`
	Books       int `json:"books"`
	Segments    int `json:"segments"`

	Waiting Waiting `json:"waiting"`
	// number of packages, books and segments that are neither listed nor condemned
	Orphans int `json:"orphans"`

	Warnings []string  `json:"warnings,omitempty"` // warnings about published documents (see settings.Settings)
	Notes    []string  `json:"notes,omitempty"`    // sentences on facts that are no problems
	Problems []Problem `json:"problems"`
	More     int       `json:"more"` // number of problems that Problems does not list
}

// Waiting counts the work that a running system still has to do.
type Waiting struct {
	Spool  int `json:"spool"`  // number of batches to be packed
	Index  int `json:"index"`  // number of packages to be indexed
	Forget int `json:"forget"` // number of partitions that have to erase forgotten pages
	Gone   int `json:"gone"`   // number of documents of gone pages that are still to be marked as dead
	Delete int `json:"delete"` // number of condemned objects that are to be deleted
	Fetch  int `json:"fetch"`  // number of URLs whose outcomes are lost, to be fetched again
	// Find counts URLs with an outcome to which no seed or link leads at present: the page
	// with the link is forgotten, or is lost and will be fetched again.
	Find int `json:"find"`
	// Moved counts documents whose page has a later version in another partition: the sweep
	// will mask them, and searches show the later version already.
	Moved int `json:"moved"`
	// number of pending URLs that are not requested now because only other collections are crawled
	Held int `json:"held"`
}

// Sound reports whether there are no problems.
func (r *Report) Sound() bool { return len(r.Problems) == 0 }

// Verifier checks one bucket.
type Verifier struct {
	Bucket blob.Reader
	Now    time.Time // time of the verification; the strategies in force at this time apply
	// Frontiers, if not nil, are compared with the pending URLs of the books. Set it only
	// if Redis is up and no function runs.
	Frontiers []*frontier.Frontier
	// Progress, if not nil, is called often, by several goroutines.
	Progress func(Progress)
}

// Run verifies the whole bucket and returns a report, which has the problems. An error means that
// the verification could not be finished.
func (v *Verifier) Run(ctx context.Context) (Report, error) {
	s, err := settings.Read(ctx, v.Bucket, v.Now)
	if err != nil {
		return Report{}, err
	}
	r := &run{Verifier: v, settings: s, byKey: make(map[string]*storedPackage)}
	for _, step := range []func(context.Context) error{
		r.readApart, r.begin, r.readPackages, r.readBooks, r.foldRanges, r.readSegments, r.judgePages, r.readQuarantine, r.readJudgments,
	} {
		if err := step(ctx); err != nil {
			return Report{}, err
		}
	}
	r.report.Problems, r.report.More = r.problems.sorted(), r.problems.more
	r.report.Warnings = r.untold(s.Warnings)
	return r.report, nil
}

// untold returns those of the warnings about published documents that are not about an object for
// which the report already has a problem.
func (v *run) untold(warnings []string) []string {
	return slices.DeleteFunc(slices.Clone(warnings), func(warning string) bool {
		return slices.ContainsFunc(v.report.Problems, func(p Problem) bool { return p.Key != "" && strings.Contains(warning, p.Key) })
	})
}

// run is the state of one call of Verifier.Run.
type run struct {
	*Verifier
	settings   *settings.Settings
	problems   problems
	partitions []*audit
	packages   []*storedPackage
	byKey      map[string]*storedPackage // each element of packages, by its present key and by its former ones
	pages      pageList
	ranges     []layout.Range
	waiting    backlog

	unplaced atomic.Int64 // number of wanted URLs for which a strategy has no partition
	remarks  remarks
	// URLs that may be a problem, because no seed or link leads to them (see judgeUndiscovered);
	// protected by mu
	undiscovered []Problem

	mu     sync.Mutex // protects report
	report Report
}

// audit is the newest generation of a storage partition, with its spool and books. begin
// and readBooks fill it; it does not change after that.
type audit struct {
	manifest.Manifest
	clean bool // the manifest says that all forgotten pages have been erased from the partition
	// the partition's contents are not all known: a later generation is lost, or the newest one cannot
	// be read
	unknown bool
	spooled []spool.Ledger // ledgers of the spool objects that are not packed yet
	books   []*openBook
}

// begin checks the generations of every partition and the objects that the newest one
// lists, and reads the spool. It lists the spool before the generations: a batch that is
// packed in between is then found in the books.
func (v *run) begin(ctx context.Context) error {
	if err := v.foreign(ctx); err != nil {
		return err
	}
	for _, p := range v.settings.Partitions() {
		spooled, err := blob.List(ctx, v.Bucket, layout.SpoolPrefix(p))
		if err != nil {
			return err
		}
		h, err := v.history(ctx, p)
		if err != nil {
			return err
		}
		exists, err := v.exists(ctx, p)
		if err != nil {
			return err
		}
		newest := v.inForce(p, h, exists)
		if newest == nil {
			if newest, err = v.before(ctx, p); err != nil {
				return err
			}
		}
		if err := v.chain(ctx, p, h, newest); err != nil {
			return err
		}
		own := &audit{Manifest: manifest.Manifest{Partition: p}}
		if newest != nil {
			own.Manifest = newest.Manifest
			v.objects(&own.Manifest, exists)
		}
		if own.unknown, err = v.lost(ctx, own.Manifest); err != nil {
			return err
		}
		if !own.unknown && newest != nil && own.Generation > 0 {
			if err := v.uncommitted(ctx, own.Manifest); err != nil {
				return err
			}
		}
		own.unknown = own.unknown || newest == nil
		v.partitions = append(v.partitions, own)
		v.forgetting(own)
		if err := v.readSpool(ctx, own, spooled); err != nil {
			return err
		}
	}
	return nil
}

// incomplete reports whether a book or generation of any partition could not be read. If so, verify
// does not report contradictions that may be due to the unread book or generation.
func (v *run) incomplete() bool {
	for _, p := range v.partitions {
		if p.incomplete() {
			return true
		}
	}
	return false
}

func (p *audit) incomplete() bool {
	for _, b := range p.books {
		if b.lost.Load() {
			return true
		}
	}
	return p.unknown
}

// each calls do for all elements, in parallel on all processors. It returns the first error, after
// which it begins no further calls.
func each[T any](ctx context.Context, all []T, do func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, one := range all {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, one)
		})
	}
	return group.Wait()
}

// problem adds to the report a problem of the object with the key. format and args are those of
// fmt.Sprintf; the text that they give follows the key in the report.
func (v *run) problem(kind Kind, p layout.Partition, key, format string, args ...any) {
	v.problems.add(Problem{Kind: kind, Partition: p, Key: key, Detail: fmt.Sprintf(format, args...)})
}

func (v *run) count(change func(*Report)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change(&v.report)
}
