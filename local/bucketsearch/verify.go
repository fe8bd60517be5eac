package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/command/repair"
	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

func verifyCommand(where *location) *cobra.Command {
	var mend, asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Prove that nothing is lost and nothing is twice",
		Long: "Verify proves from the bucket alone that every generation follows from the one\n" +
			"before, every object that is named is whole, every URL is in exactly one state,\n" +
			"every stored page can be read, every page of text is in exactly one segment, and\n" +
			"of what is forgotten nothing is left. It exits with 4 and the list of what is\n" +
			"missing, damaged, unaccounted or double when not.\n\n" +
			"With --repair it mends that: segments are built anew from their packages, pages\n" +
			"that are lost are fetched again, by the system that runs or the next crawl.",
		Example: "  bucketsearch verify\n  bucketsearch verify --repair",
		Args:    nothing,
		RunE: where.attached(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			bar := newBar(cmd.ErrOrStderr())
			if mend {
				report, err := mendAll(cmd.Context(), a, bar)
				bar.end()
				if err != nil && len(report.Mended) == 0 {
					return err
				}
				return errors.Join(err, printRepair(where.sentences(cmd.OutOrStdout(), asJSON), report, asJSON))
			}
			if err := a.Check(cmd.Context()); err != nil {
				return err
			}
			fronts, err := frontiers(cmd.Context(), a)
			if err != nil {
				return err
			}
			verifier := verify.Verifier{Bucket: a.Bucket, Now: time.Now(), Frontiers: fronts, Progress: bar.show}
			report, err := verifier.Run(cmd.Context())
			bar.end()
			if err != nil {
				return err
			}
			return printReport(where.sentences(cmd.OutOrStdout(), asJSON), report, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&mend, "repair", false, "mend what can be mended")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// mendAll repairs the bucket, and shows the progress on the given bar. A repair needs the settings in
// the bucket. If they are missing, mendAll returns an error that says what to do.
func mendAll(ctx context.Context, a *system.Attached, bar *progressBar) (repair.Report, error) {
	repairer := repair.Repairer{
		Bucket: a.Bucket, Now: time.Now, Log: slog.New(slog.DiscardHandler), Progress: bar.show,
		Frontiers: func(ctx context.Context) ([]*frontier.Frontier, error) { return frontiers(ctx, a) },
	}
	report, err := repairer.Run(ctx)
	if errors.Is(err, blob.ErrAbsent) {
		err = a.Check(ctx)
	}
	return report, err
}

func printReport(out io.Writer, r verify.Report, asJSON bool) error {
	if asJSON {
		if err := printJSON(out, r); err != nil {
			return err
		}
	} else {
		for _, warning := range r.Warnings {
			fmt.Fprintf(out, "warning: %s\n", warning)
		}
		for _, note := range r.Notes {
			fmt.Fprintf(out, "note: %s\n", note)
		}
		printProblems(out, r.Problems, r.More)
		printWaiting(out, r.Waiting)
		if r.Orphans > 0 {
			fmt.Fprintf(out, "%s that no generation names: what was put and never committed\n", count(r.Orphans, "object"))
		}
		fmt.Fprintf(out, "%s: %d stored, %d skipped, %d failed, %d pending; %s in %s, %s, %s, %s: %s\n",
			count(r.URLs, "URL"), r.Stored, r.Skipped, r.Failed, r.Pending, count(r.Pages, "page"), count(r.Packages, "package"),
			count(r.Books, "book"), count(r.Segments, "segment"), count(r.Generations, "generation"), count(len(r.Problems)+r.More, "problem"))
	}
	if !r.Sound() {
		if !asJSON {
			fmt.Fprintln(out, "to mend what can be mended: bucketsearch verify --repair")
		}
		return endBy(exitDamaged)
	}
	return nil
}

func printProblems(out io.Writer, problems []verify.Problem, more int) {
	for _, p := range problems {
		fmt.Fprintf(out, "%s: %s\n", p.Kind, p)
	}
	if more > 0 {
		fmt.Fprintf(out, "and %s more\n", count(more, "problem"))
	}
}

// printWaiting prints how much work is left for the running system, such as batches to pack.
func printWaiting(out io.Writer, w verify.Waiting) {
	for _, of := range []struct {
		n           int
		thing, what string
	}{
		{w.Spool, "fetched batch", "packed"}, {w.Index, "package", "indexed"}, {w.Forget, "partition", "cleared of what is forgotten"},
		{w.Delete, "condemned object", "deleted a day after"}, {w.Fetch, "lost URL", "fetched again"}, {w.Find, "URL", "found again"}, {w.Held, "URL", "asked for, held back by --only"},
	} {
		if of.n > 0 {
			fmt.Fprintf(out, "%s still to be %s\n", count(of.n, of.thing), of.what)
		}
	}
}

func printRepair(out io.Writer, r repair.Report, asJSON bool) error {
	if asJSON {
		return printJSON(out, r)
	}
	for _, sentence := range r.Mended {
		fmt.Fprintf(out, "mended: %s\n", sentence)
	}
	printProblems(out, r.Left, r.More)
	if r.Index+r.Fetch > 0 {
		fmt.Fprintf(out, "%s to be indexed and %s to be fetched again by the system that runs, or the next crawl\n", count(r.Index, "package"), count(r.Fetch, "page"))
	}
	if r.Rebuild {
		fmt.Fprintln(out, "the frontier is not what the books say; to rebuild it: bucketsearch rebuild")
	}
	if len(r.Mended) == 0 {
		fmt.Fprintln(out, "nothing was mended")
	}
	fmt.Fprintf(out, "%s left\n", count(len(r.Left)+r.More, "problem"))
	if len(r.Left) > 0 {
		return endBy(exitDamaged)
	}
	return nil
}

// frontiers returns the frontiers of the running system (its known URLs and queues in Redis). The
// command verify compares them with the books, which record in the bucket what became of each URL.
// The function returns none if no system runs. It also returns none while a difference from the
// books need not be an error: while a frontier is being built, while a frontier has not read the
// newest books yet, and while batches are being fetched.
func frontiers(ctx context.Context, a *system.Attached) ([]*frontier.Frontier, error) {
	if a.Redis == nil {
		return nil, nil
	}
	inForce, err := a.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	learnt := make(map[layout.Partition]string)
	for _, p := range inForce.Partitions() {
		m, err := manifest.Read(ctx, a.Bucket, p)
		if err != nil {
			return nil, err
		}
		learnt[p] = m.Learnt
	}
	var fronts []*frontier.Frontier
	for _, crawl := range inForce.Crawl.Partitions() {
		front := frontier.New(a.Redis, crawl)
		err := front.Built(ctx, inForce.Fingerprint())
		if err == nil {
			err = front.Knows(ctx, learnt)
		}
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
