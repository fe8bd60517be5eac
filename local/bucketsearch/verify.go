package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/verify"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

func verifyCommand(where *location) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check that nothing is lost and nothing is twice",
		Long: "Verify checks from the bucket that every URL is in exactly one state, that every\n" +
			"stored page is readable and whole, and that every package is indexed exactly\n" +
			"once. It exits with 1 and the list of what is wrong when not.",
		Example: "  bucketsearch verify",
		Args:    nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			fronts, err := frontiers(cmd.Context(), a)
			if err != nil {
				return err
			}
			report, err := (&verify.Verifier{Bucket: a.Bucket, Frontiers: fronts}).Run(cmd.Context())
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			for _, problem := range report.Problems {
				fmt.Fprintln(out, problem)
			}
			fmt.Fprintf(out, "%s, %s in %s, %s: %s\n", count(report.URLs, "URL"), count(report.Pages, "page"),
				count(report.Packages, "package"), count(report.Segments, "segment"), count(len(report.Problems), "problem"))
			if len(report.Problems) > 0 {
				return errSaid
			}
			return nil
		}),
	}
}

// frontiers returns those of a system that runs and is at rest; while it works
// its frontier is ahead of what was read of the books.
func frontiers(ctx context.Context, a *system.Attached) ([]*frontier.Frontier, error) {
	if a.Redis == nil {
		return nil, nil
	}
	inForce, err := a.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	var fronts []*frontier.Frontier
	for _, crawl := range inForce.Crawl.Partitions() {
		front := frontier.New(a.Redis, crawl)
		err := front.Built(ctx, inForce.Fingerprint())
		if errors.Is(err, frontier.ErrNotBuilt) {
			return nil, nil
		}
		counts, errCounts := front.Counts(ctx)
		if err := errors.Join(err, errCounts); err != nil {
			return nil, err
		}
		if counts.Leased > 0 {
			return nil, nil
		}
		fronts = append(fronts, front)
	}
	return fronts, nil
}
