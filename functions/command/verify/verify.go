// Package verify proves from the bucket alone that nothing is lost and nothing is
// stored twice (law 7 in layout/README.md):
//
//	generations   each version of a manifest names the hash of the one before, and no object
//	              proves that later ones are lost
//	objects       every listed object is whole, and every object has a key of a known format
//	URLs          every URL is in exactly one state
//	pages         every stored page can be read where the books say
//	documents     for every page that is now at its URL, the index has exactly one document
//	              that is not marked as dead; for other pages it has none
//	forgetting    no object holds a forgotten page, outcome or link
//
// It reads packages, books, ranges of URLs and segments in parallel, one for each
// processor. Memory holds the packages or segments being read, 48 bytes for each page, and
// the URLs of the ranges being read.
//
// The result holds for the moment at which the verification began, even if a running
// system commits changes meanwhile. Work that such a system still has to do counts as
// waiting, and not as a problem.
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
	// number of packages, books and segments that the newest manifest neither lists nor marks for
	// deletion
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
	Forget int `json:"forget"` // number of partitions that still have to erase pages after a takedown
	Gone   int `json:"gone"`   // number of documents that are still to be marked as dead, because their page is no longer at its URL
	Delete int `json:"delete"` // number of objects that are marked for deletion and not deleted yet
	Fetch  int `json:"fetch"`  // number of URLs whose outcomes are lost, to be fetched again
	// Find counts URLs that were fetched although no seed and no stored link leads to them. Usually that
	// is a problem, which the report lists, and Find is 0. It is no problem if links are missing for a
	// known reason: pages were erased after a takedown, or data with links were lost. Then Find counts
	// the URLs, because the crawl may find links to them again.
	Find int `json:"find"`
	// Moved counts live documents of outdated versions of pages: a later version of the page is in
	// another partition, because a strategy moved the URL there. Searches show the later version only,
	// and the sweep will mark the outdated document as dead.
	Moved int `json:"moved"`
	// number of pending URLs that are not requested now, because the crawl is limited to other
	// collections or seeds
	Held int `json:"held"`
}

// Sound reports whether there are no problems.
func (r *Report) Sound() bool { return len(r.Problems) == 0 }

// Verifier checks one bucket.
type Verifier struct {
	Bucket blob.Reader
	Now    time.Time // time of the verification; the strategies in force at this time apply
	// Frontiers, the queues of URLs in Redis, are compared with the outcomes and links on record,
	// unless they are nil. Set them only if Redis is up and no function runs.
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
		r.readApart, r.begin, r.readPackages, r.readBooks, r.foldRanges, r.checkCensus, r.readSegments, r.judgePages, r.readQuarantine, r.readJudgments,
	} {
		if err := step(ctx); err != nil {
			return Report{}, err
		}
	}
	r.report.Problems, r.report.More = r.problems.sorted(), r.problems.more
	r.report.Warnings = r.untold(s.Warnings)
	return r.report, nil
}

// untold returns the given warnings about published documents, without those that repeat a problem
// of the report. A warning repeats a problem if it contains the key of the object with the problem.
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

// audit is the newest manifest of a storage partition, with its spool and books. begin and
// readBooks fill it; it does not change after that.
type audit struct {
	manifest.Manifest
	clean bool // the manifest says that all forgotten pages have been erased from the partition
	// the partition's contents are not all known: its newest manifest is lost or cannot be read
	unknown bool
	spooled []spool.Ledger // outcomes and links of the batches in the spool that are not packed yet
	books   []*openBook
}

// begin checks all versions of each partition's manifest, and the objects that the newest version
// lists. It also reads the spool, which has the batches that are not packed yet. It lists the spool
// before it reads the manifest. In the opposite order it would miss a batch that is packed between
// the two steps: the manifest would not have it yet, and the spool would not have it any more.
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
		newest, err := v.inForce(ctx, p, h, exists)
		if err != nil {
			return err
		}
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
			if err := v.objects(ctx, &own.Manifest, exists); err != nil {
				return err
			}
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

// incomplete reports whether a book or manifest of any partition could not be read. If so, verify
// does not report contradictions that may be due to the unread object.
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

// each calls the function do for every element, in parallel on all processors. It returns the first
// error of these calls. After that error it begins no further calls.
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
