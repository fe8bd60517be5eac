package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// judgePages reports two kinds of problems: stored pages for whose URL there is no outcome, and
// live pages that are missing from the index although their package is indexed. (The method pagesOf
// checks pages for whose URL there are outcomes.) judgePages must be called after all steps that
// read pages and documents, because it uses their results.
func (v *run) judgePages(ctx context.Context) error {
	v.judgeVersions()
	unindexed := make([]int, len(v.packages))
	stray := make(map[*storedPackage][]*page)
	for i := range v.pages {
		p := &v.pages[i]
		in := v.packages[p.pkg]
		switch {
		case p.has(markDamaged):
		case !p.has(markKnown):
			if p.has(markWanted) && !in.partition.incomplete() { // a forgotten page may remain in its package without an outcome
				stray[in] = append(stray[in], p)
			}
		case p.has(markLive) && !p.has(markAsset) && p.has(markWanted) && p.documents() == 0 && in.Indexed && !in.unsearchable.Load():
			unindexed[p.pkg]++
		}
	}
	for i, in := range v.packages {
		if unindexed[i] > 0 {
			v.problem(Missing, in.partition.Partition, in.Key, "is indexed without %d of its pages", unindexed[i])
		}
	}
	for in, pages := range stray {
		if err := v.reportStray(ctx, in, pages); err != nil {
			return err
		}
	}
	return nil
}

// judgeVersions looks for URLs with live documents of more than one version of the page. Only the
// newest version should be live. An older version is a problem if it is in the same partition as the
// newest one. If it is in another partition, it is counted in Waiting.Moved.
func (v *run) judgeVersions() {
	for from, to := 0, 0; from < len(v.pages); from = to {
		var newest *page
		for to = from; to < len(v.pages) && v.pages[to].id == v.pages[from].id; to++ {
			p := &v.pages[to]
			if p.documents() == 0 || p.has(markDamaged) {
				continue
			}
			older := p
			if newest == nil || newest.version.Compare(p.version) < 0 {
				newest, older = p, newest
			}
			if older != nil {
				in := v.packages[older.pkg]
				if v.packages[newest.pkg].partition != in.partition { // a strategy has moved the page, and searches show the newest version
					v.report.Waiting.Moved++
					continue
				}
				v.problems.add(Problem{Kind: Double, Partition: in.partition.Partition, Key: in.Key, Offset: int64(older.offset),
					Detail: "is searched, and so is another version of it"})
			}
		}
	}
}

// reportStray reports each of the given pages of a package as a page for whose URL there is no
// outcome. It reads the URLs of the pages from the package.
func (v *run) reportStray(ctx context.Context, in *storedPackage, pages []*page) error {
	listed, err := webobject.List(ctx, v.Bucket, in.Key)
	if err != nil && !errors.Is(err, webobject.ErrDamaged) && !errors.Is(err, blob.ErrAbsent) {
		return err
	}
	urls := make(map[int64]string)
	for _, l := range listed {
		urls[l.Offset] = l.URL
	}
	for _, p := range pages {
		v.problems.add(Problem{Kind: Unaccounted, Partition: in.partition.Partition, Key: in.Key, Offset: int64(p.offset),
			URL: urls[int64(p.offset)], Detail: "stands there, and no outcome says so"})
	}
	return nil
}

// Kind is the kind of a problem.
type Kind string

// The kinds of problems.
const (
	Missing     Kind = "missing"     // an object or page that something refers to does not exist
	Damaged     Kind = "damaged"     // the bytes of an object or page have changed
	Unaccounted Kind = "unaccounted" // an object, page or document exists, but nothing refers to it
	Double      Kind = "double"      // an object, page or document exists more than once
	Behind      Kind = "behind"      // a forgotten URL is still stored, or the frontier in Redis differs from the books
	Stale       Kind = "stale"       // searches find a document whose page is no longer at its URL
	// an object proves that the partition had later versions of its manifest, which are lost
	Lost    Kind = "lost"
	Foreign Kind = "foreign" // an object was not written by this project
)

// Problem is one violation of the invariants that verify checks.
type Problem struct {
	Kind      Kind             `json:"kind"`
	Partition layout.Partition `json:"partition"`
	Key       string           `json:"key,omitempty"` // key of the object
	// offset of the page in bytes, if the object is a package
	Offset int64  `json:"offset,omitempty"`
	URL    string `json:"url,omitempty"` // URL of the page; "" if the problem is about the object
	Detail string `json:"detail"`        // predicate of a sentence about the URL and the key, such as "is missing"
}

// String returns the problem as one sentence.
func (p Problem) String() string {
	subject := make([]string, 0, 2)
	if p.URL != "" {
		subject = append(subject, p.URL)
	}
	if p.Key != "" {
		key := p.Key
		if p.Offset > 0 {
			key = fmt.Sprintf("%s at byte %d", key, p.Offset)
		}
		subject = append(subject, key)
	}
	if len(subject) == 0 {
		subject = append(subject, "partition "+p.Partition.String())
	}
	return strings.Join(subject, " in ") + " " + p.Detail
}

func (p Problem) compare(q Problem) int {
	return cmp.Or(
		cmp.Compare(p.Partition, q.Partition),
		cmp.Compare(p.Key, q.Key),
		cmp.Compare(p.Offset, q.Offset),
		cmp.Compare(p.URL, q.URL),
		cmp.Compare(p.Kind, q.Kind),
		cmp.Compare(p.Detail, q.Detail),
	)
}

// MaxProblems is the greatest number of problems that a report lists; Report.More counts
// the others.
const MaxProblems = 10_000

// problems collects the problems that Verifier.Run finds. It is safe for concurrent use.
type problems struct {
	mu    sync.Mutex // protects the fields below
	first []Problem  // the first MaxProblems problems
	more  int        // number of problems after the first MaxProblems
}

func (c *problems) add(p Problem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.first) == MaxProblems {
		c.more++
		return
	}
	c.first = append(c.first, p)
}

func (c *problems) sorted() []Problem {
	slices.SortFunc(c.first, Problem.compare)
	return c.first
}

// Progress says how much of a stage is done.
type Progress struct {
	Stage       Stage
	Done, Total int64 // amount done so far and total amount, in the unit of the stage (see Stage)
}

// Stage is the name of a part of the verification.
type Stage string

// The stages, in their order.
const (
	Manifests Stage = "manifests" // checks the chains of versions of manifests; progress is counted in versions
	Packages  Stage = "packages"  // reads all packages; progress is counted in bytes
	Books     Stage = "books"     // reads all books; progress is counted in bytes
	// compares the outcomes of URLs, one range of URLs after another; progress is counted in ranges
	Ranges   Stage = "ranges"
	Segments Stage = "segments" // reads all segments; progress is counted in bytes
)

// stage counts the progress of a stage and passes it to Verifier.Progress.
type stage struct {
	name  Stage
	tell  func(Progress)
	total int64
	done  atomic.Int64
}

func (v *Verifier) stage(name Stage, total int64) *stage {
	s := &stage{name: name, tell: v.Progress, total: total}
	s.add(0)
	return s
}

func (s *stage) add(n int64) {
	done := s.done.Add(n)
	if s.tell != nil {
		s.tell(Progress{s.name, done, s.total})
	}
}
