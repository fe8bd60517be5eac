// Package repair mends the problems that verify finds, as far as the bucket holds
// what this takes: it builds a segment again from its package, restores a
// generation from the hint, and has a page fetched again.
//
// Damaged bytes are first copied into quarantine. All edits of a partition become
// true in one generation, beside a running system or without one. Repair removes
// objects and takes back outcomes, and never invents any: index builds missing
// segments, and the crawl fetches what was taken back, as it does all other work.
// Repair may be stopped anywhere and run again.
//
// # Lost generations
//
// If objects prove that the last generations of a partition are lost (see
// layout/partition), a new one is made first: see package remains.
//
// # Lost
//
// A page that cannot be read, and a page that no book names, gets an outcome Lost
// in a new epoch. It takes back all that was known of the page's URL: the URL
// waits again. A running frontier notices that it is behind the new book, and is
// rebuilt.
//
// The links of a lost book are found again. Proof: let u be a discovered URL. A
// path of links leads from a seed to u. Take the first link on the path that no
// book records any more. Its source was discovered, by the links before it, and the
// lost book recorded the source's outcome too, because pack writes the outcome and
// the links of a page into one book. So the source has no outcome, or a Lost one
// from repair, and is fetched again with all its links. This repeats until no link
// of the path is missing.
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

// maxRounds is the greatest number of rounds of verify and mend. Normally the
// second round shows problems that the first ones hid, and the third that none is
// left, unless there were more problems than a report lists.
const maxRounds = 10

// Repairer mends one bucket.
type Repairer struct {
	Bucket blob.Bucket
	Now    func() time.Time
	Log    *slog.Logger
	// Frontiers, if not nil, returns verify.Verifier.Frontiers, after deleted
	// settings are restored. Progress is verify.Verifier.Progress.
	Frontiers func(context.Context) ([]*frontier.Frontier, error)
	Progress  func(verify.Progress)
}

// Report says what was mended, and what was not.
type Report struct {
	Mended []string         `json:"mended"` // a sentence each
	Left   []verify.Problem `json:"left"`   // what cannot be mended, or not by repair
	More   int              `json:"more"`   // problems left beyond those
	Index  int              `json:"index"`  // packages that index has still to take
	Fetch  int              `json:"fetch"`  // pages that have still to be fetched again
	// Rebuild: a frontier differs from the books and cannot notice it. Rebuild the
	// frontier.
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

// condemnUnlisted condemns objects that no generation lists and that are older than
// the grace period, even if they are more than half of a partition, which the
// sweep leaves to a person. It skips a partition with lost generations.
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

// Mend mends those of the problems that it can, and adds what it did to the report.
// Problems that were mended since they were found do no harm.
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

// ofFrontier reports whether a problem is in Redis, so that the bucket needs no
// repair.
func ofFrontier(p verify.Problem) bool {
	return p.Key == "" && (p.Kind == verify.Behind || p.Kind == verify.Double)
}
