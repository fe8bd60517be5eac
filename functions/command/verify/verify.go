// Package verify proves from the bucket alone that nothing is lost and nothing
// is twice (law 7): every generation follows from the one before and nothing
// tells of later ones, every object
// that is named is whole, every URL is in exactly one state, every stored page
// can be read where the books say, every live page is one live document
// of one segment, no page is searched that is gone, of what is forgotten
// nothing is left, and no object is foreign.
//
// It reads packages, books, ranges of URLs and segments one a processor. In
// memory are, at a time, the packages or segments that are being read, 48
// bytes of each page, and the URLs of the ranges that are being folded.
//
// The proof holds for the moment at which it began, whatever is committed
// meanwhile. What is still to be done is counted as waiting, and is no problem.
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

// Report is what was proved and what was found wrong.
type Report struct {
	Generations int `json:"generations"`
	URLs        int `json:"urls"` // discovered, each in one of the states that follow
	Stored      int `json:"stored"`
	Skipped     int `json:"skipped"`
	Failed      int `json:"failed"`
	Pending     int `json:"pending"`
	Pages       int `json:"pages"` // in packages, also of older versions
	Packages    int `json:"packages"`
	Books       int `json:"books"`
	Segments    int `json:"segments"`

	Waiting Waiting `json:"waiting"`
	Orphans int     `json:"orphans"` // packages, books and segments that nothing names

	Warnings []string  `json:"warnings,omitempty"` // of what was published, see settings.Settings
	Notes    []string  `json:"notes,omitempty"`    // what is no problem, and good to know
	Problems []Problem `json:"problems"`
	More     int       `json:"more"` // problems beyond MaxProblems
}

// Waiting is what is still to be done by a system that runs.
type Waiting struct {
	Spool  int `json:"spool"`  // batches to be packed
	Index  int `json:"index"`  // packages to be indexed
	Forget int `json:"forget"` // partitions that still forget
	Gone   int `json:"gone"`   // documents of pages that are no more
	Delete int `json:"delete"` // condemned objects that are still there
	Fetch  int `json:"fetch"`  // URLs of which all is lost that was known
	// Find are URLs with an outcome to which no link leads just now: the page
	// that links to them is forgotten, or lost and will be fetched again.
	Find int `json:"find"`
	// Moved are documents of which another partition has a later version, which
	// is the one that is shown.
	Moved int `json:"moved"`
	Held  int `json:"held"` // pending URLs of collections that are held back
}

// Sound reports whether nothing is wrong.
func (r *Report) Sound() bool { return len(r.Problems) == 0 }

// Verifier checks one bucket.
type Verifier struct {
	Bucket blob.Reader
	Now    time.Time // of the proof: the strategies that are in force then count
	// Frontiers, when Redis is up and the system at rest, hold exactly the
	// pending URLs.
	Frontiers []*frontier.Frontier
	// Progress, unless nil, is told how far the proof has come, by any
	// goroutine and often.
	Progress func(Progress)
}

// Run checks everything. Problems are in the report; an error means that the
// proof could not be finished.
func (v *Verifier) Run(ctx context.Context) (Report, error) {
	s, err := settings.Read(ctx, v.Bucket, v.Now)
	if err != nil {
		return Report{}, err
	}
	r := &run{Verifier: v, settings: s, byKey: make(map[string]*storedPackage)}
	for _, step := range []func(context.Context) error{
		r.readApart, r.begin, r.readPackages, r.readBooks, r.foldRanges, r.readSegments, r.judgePages, r.readQuarantine,
	} {
		if err := step(ctx); err != nil {
			return Report{}, err
		}
	}
	r.report.Problems, r.report.More = r.problems.sorted(), r.problems.more
	r.report.Warnings = r.untold(s.Warnings)
	return r.report, nil
}

// untold returns those warnings of what no problem tells: of a damaged document
// both would.
func (v *run) untold(warnings []string) []string {
	return slices.DeleteFunc(slices.Clone(warnings), func(warning string) bool {
		return slices.ContainsFunc(v.report.Problems, func(p Problem) bool { return p.Key != "" && strings.Contains(warning, p.Key) })
	})
}

// run is one proof.
type run struct {
	*Verifier
	settings   *settings.Settings
	problems   problems
	partitions []*audit
	packages   []*storedPackage
	byKey      map[string]*storedPackage // by every key that they have or had
	pages      pageList
	ranges     []layout.Range
	waiting    backlog

	unplaced     atomic.Int64 // URLs that are wanted and have no partition
	undiscovered []Problem    // if they are any; protected by mu

	mu     sync.Mutex // protects report
	report Report
}

// audit is what is known of a storage partition. It does not change while
// the stages run that read it.
type audit struct {
	manifest.Manifest
	clean   bool           // nothing that is forgotten may be left
	unknown bool           // no generation could be read
	spooled []spool.Ledger // of what waits to be packed
	books   []*openBook
}

// begin reads the generations in force. The spool is listed first: a batch that
// is consumed in between is found in the books.
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

// incomplete reports whether any books could not be read, so that nothing can
// be said of what they would explain.
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

// each runs the same for many, one a processor.
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

func (v *run) problem(kind Kind, p layout.Partition, key, format string, args ...any) {
	v.problems.add(Problem{Kind: kind, Partition: p, Key: key, Detail: fmt.Sprintf(format, args...)})
}

func (v *run) count(change func(*Report)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change(&v.report)
}
