// Package repair mends problems that verify finds. For example, it has a segment built again
// from its package, or has a page fetched again. It restores the newest generation (version
// of a partition's manifest) from the hint, which is a copy of it. A problem stays if the
// bucket does not have the bytes that its repair needs.
//
// Damaged bytes are first copied into quarantine. All edits of a partition are committed
// as one generation; the system may run meanwhile. Repair itself makes no pages and no
// segments: index builds the missing segments, and the crawl fetches the URLs that
// repair has taken back, as part of their usual work. Repair may be stopped anywhere and
// run again.
//
// # Lost generations
//
// If objects prove that the last generations of a partition are lost (see
// layout/partition), a new one is made first: see package remains.
//
// # Lost
//
// If a stored page cannot be read, or no book has an outcome for it, its URL must be fetched
// again. So repair gives the URL an outcome Lost, in a new epoch. Then all earlier outcomes of
// the URL no longer count, and it waits to be fetched. A running frontier notices that it
// lacks this outcome, and is rebuilt.
//
// If a book is lost, all its links are found again. Proof: take a URL that was discovered by a
// path of links from a seed, and on this path the first link that is in no book any more. Let p
// be the page that has this link. All links of the path before p are in books, so the URL of p
// still counts as discovered. But it has no outcome, or an outcome Lost: pack writes the outcome
// and the links of a page into the same book, and that book is the lost one. A discovered URL
// without an outcome is fetched. So p is fetched again, and its link is found again. This repeats
// until no link of the path is missing.
package repair

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// maxRounds is the greatest number of rounds, each of which verifies the bucket and then mends.
// Three are normal: the second one finds problems that were hidden by others in the first, and the
// third finds none. There are more if a report cannot list all problems.
const maxRounds = 10

// Repairer mends one bucket.
type Repairer struct {
	Bucket blob.Bucket
	Now    func() time.Time
	Log    *slog.Logger
	// Frontiers, if not nil, returns the frontiers (queues of URLs in Redis) that are compared with
	// the outcomes and links on record (see verify.Verifier). Run calls it once, after it has
	// restored deleted settings.
	Frontiers func(context.Context) ([]*frontier.Frontier, error)
	// Progress, if not nil, is called often, by several goroutines, with the progress of verifying
	// (see verify.Verifier).
	Progress func(verify.Progress)
}

// Report is the result of a repair: the problems that it has mended, and those that are left.
type Report struct {
	Mended []string         `json:"mended"` // a sentence on each mended problem
	Left   []verify.Problem `json:"left"`   // problems that repair did not mend
	More   int              `json:"more"`   // number of problems that are left and not listed in Left
	Index  int              `json:"index"`  // number of packages that have still to be indexed
	Fetch  int              `json:"fetch"`  // number of URLs that have still to be fetched again
	// Rebuild is true if a frontier (the queues of URLs in Redis) differs from the books: a person must
	// have the frontiers rebuilt. It is false if repair gave URLs an outcome Lost. In that case the
	// frontiers find out by themselves that they lack outcomes, and are rebuilt.
	Rebuild bool `json:"rebuild"`
}

// Run verifies the bucket and mends problems, in rounds, until a round mends nothing.
func (r *Repairer) Run(ctx context.Context) (Report, error) {
	var report Report
	if err := r.restoreDeleted(ctx, &report); err != nil {
		return report, err
	}
	s, err := settings.Read(ctx, r.Bucket, r.Now())
	if err != nil {
		return report, err
	}
	if len(s.Collections) == 0 { // every page would look as if nobody had wanted it
		return report, errors.New("cannot repair a bucket without collections: put " + layout.Collections + " back, or crawl the seeds again")
	}
	if err := r.condemnUnlisted(ctx, s.Partitions()); err != nil {
		return report, err
	}
	var fronts []*frontier.Frontier
	if r.Frontiers != nil {
		if fronts, err = r.Frontiers(ctx); err != nil {
			return report, err
		}
	}
	for round := 0; ; round++ {
		verifier := verify.Verifier{Bucket: r.Bucket, Now: r.Now(), Frontiers: fronts, Progress: r.Progress}
		found, err := verifier.Run(ctx)
		if err != nil {
			return report, err
		}
		report.Left, report.More, report.Index = found.Problems, found.More, found.Waiting.Index
		before := len(report.Mended)
		if round < maxRounds {
			if err := r.Mend(ctx, found.Problems, &report); err != nil {
				return report, err
			}
		}
		if len(report.Mended) == before {
			report.Rebuild = report.Rebuild && report.Fetch == 0 // otherwise the frontiers are behind the book of Lost outcomes, and notice it
			return report, nil
		}
		fronts = nil // they do not know the new outcomes yet, and would differ from the books
	}
}

// condemnUnlisted condemns (marks for deletion) objects that no manifest lists and that are older
// than the grace period of unlisted objects. The sweep does so, too, but not if more than half of a
// partition's objects are unlisted: it leaves that decision to a person. Whoever runs a repair has
// decided, so condemnUnlisted has no such limit. It skips partitions with lost manifests.
func (r *Repairer) condemnUnlisted(ctx context.Context, partitions []layout.Partition) error {
	for _, id := range partitions {
		p, err := partition.Open(ctx, r.Bucket, id, r.Now)
		if err == nil && p.Manifest().Generation > 0 {
			collector := collect.Collector{Partition: p, Bucket: r.Bucket, Now: r.Now, Limits: collect.DefaultLimits(), Log: r.Log}
			err = collector.UnlistedOnDemand(ctx)
		}
		if err != nil && (errors.Is(err, blob.ErrRetryable) || ctx.Err() != nil) {
			return err
		}
	}
	return nil
}

// Mend mends as many of the problems as it can, and adds a sentence on each mended one to the
// report. The parameter problems may include some that have been mended since they were found.
func (r *Repairer) Mend(ctx context.Context, problems []verify.Problem, report *Report) error {
	var partitions []layout.Partition
	of := make(map[layout.Partition][]verify.Problem)
	for _, p := range problems {
		if p.Kind == verify.Foreign { // a person has to move it away
			continue
		}
		if apart, err := r.mendApart(ctx, p, report); err != nil {
			return err
		} else if apart {
			continue
		}
		if ofFrontier(p) {
			report.Rebuild = true
			continue
		}
		if _, found := of[p.Partition]; !found {
			partitions = append(partitions, p.Partition)
		}
		of[p.Partition] = append(of[p.Partition], p)
	}
	slices.Sort(partitions)
	for _, p := range partitions {
		if err := r.mendPartition(ctx, p, of[p], report); err != nil {
			return err
		}
	}
	return nil
}

// ofFrontier reports whether a problem concerns a frontier in Redis, and not an object in the
// bucket.
func ofFrontier(p verify.Problem) bool {
	return p.Key == "" && (p.Kind == verify.Behind || p.Kind == verify.Double)
}
