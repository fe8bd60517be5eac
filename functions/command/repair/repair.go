// Package repair mends in the bucket what verify finds wrong, as far as the
// bucket holds what that takes: a segment is made anew from its package, a
// generation from the hint, a page by fetching it again.
//
// Damaged bytes are kept in quarantine first. What goes together becomes true
// in one generation of a partition, beside a system that runs or with none.
// Repair removes and takes back, and never makes up: index builds what is not
// indexed, and the crawl fetches what was taken back, as with everything else
// that is undone. It may be stopped anywhere and run again.
//
// # Lost generations
//
// Where objects prove that the last generations of a partition are lost (see
// layout/partition), one is made anew first of all: see remains.
//
// # Lost
//
// A page that cannot be read any more, and a page of which no book tells, gets
// an outcome Lost in a new epoch, which takes back all that was known of its
// URL: the URL waits again. A frontier that runs finds itself behind the new
// book and is rebuilt.
//
// When a book is lost, the links that it told of are found again: be u any URL
// that was discovered. A path of links leads from a seed to u. Where the first
// link of the path is missing that no book tells of any more, its source was
// discovered, by the links before, and the lost book told of its outcome too,
// because pack writes outcome and links of a page into one book. So the source
// has no outcome, or the Lost one that repair gave it, and is fetched again,
// with all its links. As long as anything is missing, this goes on.
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

// maxRounds is how often at most all is verified and mended: once shows what
// was behind what is mended, and once that nothing is left, unless there are
// more problems than a report tells.
const maxRounds = 10

// Repairer mends one bucket.
type Repairer struct {
	Bucket blob.Bucket
	Now    func() time.Time
	Log    *slog.Logger
	// Frontiers, unless nil, returns those of verify.Verifier, once deleted settings
	// are there again. Progress is that of verify.Verifier.
	Frontiers func(context.Context) ([]*frontier.Frontier, error)
	Progress  func(verify.Progress)
}

// Report is what was mended, and what was not.
type Report struct {
	Mended []string         `json:"mended"` // a sentence each
	Left   []verify.Problem `json:"left"`   // what cannot be mended, or not by repair
	More   int              `json:"more"`   // problems left beyond those
	Index  int              `json:"index"`  // packages that index has still to take
	Fetch  int              `json:"fetch"`  // pages that have still to be fetched again
	// Rebuild: a frontier is not what the books say, and does not find out by
	// itself. Rebuild it.
	Rebuild bool `json:"rebuild"`
}

// Run verifies and mends until nothing is left that can be mended.
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
			report.Rebuild = report.Rebuild && report.Fetch == 0 // else they are behind, and notice
			return report, nil
		}
		fronts = nil // they know nothing yet of what was mended
	}
}

// condemnUnlisted condemns what no generation lists and is older than the
// grace, also where that is more than half of a partition, which the sweep
// leaves to a person. A partition that has lost generations is left as it is.
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

// Mend mends what it can of the problems, which may be older than the bucket,
// and adds to the report what it did.
func (r *Repairer) Mend(ctx context.Context, problems []verify.Problem, report *Report) error {
	var partitions []layout.Partition
	of := make(map[layout.Partition][]verify.Problem)
	for _, p := range problems {
		if p.Kind == verify.Foreign { // what it is for, its owner knows
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

// ofFrontier reports whether a problem is one of Redis. Nothing is to be done
// about it in the bucket.
func ofFrontier(p verify.Problem) bool {
	return p.Key == "" && (p.Kind == verify.Behind || p.Kind == verify.Double)
}
