package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/local/system"
)

func crawlCommand(where *location) *cobra.Command {
	var flags crawling
	var renew, only, asJSON bool
	cmd := &cobra.Command{
		Use:   "crawl [SEED...]",
		Short: "Crawl web sites to the end, pack and index them",
		Long: "Crawl follows links from the seeds, stores every page, builds the index, prints a\n" +
			"summary and ends; its exit code is 3 if no seed led to a page. A later crawl goes\n" +
			"on where an earlier one stopped, asks again for what failed, and takes up what a\n" +
			"narrower scope left out. A page that is stored is asked for again once it is due: as\n" +
			"its collection's schedule says, else a day after the last look, twice that each time\n" +
			"it has not changed (64 days at most), and half when it has (an hour and a half at\n" +
			"least). --recrawl asks for all of them now; what has not changed costs no download\n" +
			"where the server can tell. A page that is gone twice in a row leaves the index.\n\n" +
			"A collection is a file in TOML that says what to crawl, how far, how fast and how often:\n\n" +
			"  name = \"postgres\"\n" +
			"  seeds = [\"https://www.postgresql.org/docs/16/\"]\n" +
			"  scope = \"prefix\"    # also depth, include, exclude, delay, pages, agent, schedule, topic …",
		Example: "  bucketsearch crawl https://www.example.org/\n" +
			"  bucketsearch crawl --scope prefix --depth 3 https://example.org/docs/\n" +
			"  bucketsearch crawl --pages 100 https://example.org/ https://example.com/\n" +
			"  bucketsearch crawl --collection postgres.toml --collection news.toml\n" +
			"  bucketsearch crawl --only https://example.org/    whatever else is waiting\n" +
			"  bucketsearch crawl --recrawl    all that was ever crawled\n" +
			"  bucketsearch crawl --delay 0 --allow-private http://127.0.0.1:8000/",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args)+len(flags.collections) == 0 && only {
				return errors.New("--only needs a seed or --collection FILE: what is to be crawled alone")
			}
			if len(args)+len(flags.collections) == 0 && !renew {
				return errors.New("crawl needs a seed, the address at which to begin, such as: bucketsearch crawl https://example.org/, or --collection FILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := flags.plan(cmd.Flags(), args)
			if err != nil {
				return misuse(err)
			}
			plan.Renew, plan.Only = renew, only
			return runCrawl(cmd, where, &flags, plan, asJSON)
		},
	}
	cmd.Flags().BoolVar(&renew, "recrawl", false, "ask again for every stored page: of seeds and collections that are\ngiven, else of all")
	cmd.Flags().BoolVar(&only, "only", false, "crawl the seeds and collections that are given, and have what\nearlier crawls left wait until a crawl without --only")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, an object a line: the progress every five seconds, and\nat last the summary")
	flags.flags(cmd.Flags())
	return cmd
}

// What is shown while the index is merged, and then ranked, when all pages can be found already.
const (
	merging = "all pages can be found; merging the index"
	ranking = "all pages can be found; ranking them by links, and learning words from their translations"
)

// runCrawl runs the crawl of a plan until it is done, shows its progress and prints a
// summary. If asJSON is true, it prints both as JSON.
func runCrawl(cmd *cobra.Command, where *location, flags *crawling, plan system.Plan, asJSON bool) (err error) {
	ctx := cmd.Context()
	s, err := where.open(ctx, flags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	began := time.Now()
	if err := s.Plan(ctx, plan); err != nil {
		return err
	}
	if err := s.Publish(""); err != nil {
		return err
	}
	if err := s.Run(ctx); err != nil {
		return err
	}
	meter := newMeter(cmd.ErrOrStderr())
	if asJSON {
		meter = &crawlMeter{out: where.sentences(cmd.OutOrStdout(), true), json: true, now: time.Now, began: began, shown: began}
	}
	err = s.Wait(ctx, true, meter.show)
	meter.end()
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(cmd.ErrOrStderr(), "Stopping. What was fetched is kept; the same command goes on from here.")
		return endBy(exitStopped)
	}
	if partition.IsFault(err) {
		return fmt.Errorf("nothing is crawled before a repair, lest what is stored is asked for once more: %w", err)
	}
	if errors.Is(err, system.ErrPaused) {
		return fmt.Errorf("%w; what was fetched is kept and indexed, and the same command goes on once it is resumed", err)
	}
	if err != nil {
		return err
	}
	if err := meter.during(merging, func() error { return s.Merge(ctx) }); err != nil {
		return fmt.Errorf("all is crawled and indexed, but the index cannot be merged: %w", err)
	}
	if err := meter.during(ranking, func() error { return s.Rank(ctx) }); err != nil {
		return fmt.Errorf("all is crawled and indexed, but cannot be ranked by its links: %w", err)
	}
	summary, err := s.Summarize(ctx, plan, began)
	if err != nil {
		return fmt.Errorf("all is crawled and indexed, but the summary cannot be read: %w", err)
	}
	took := time.Since(began)
	if asJSON {
		err = printLine(where.sentences(cmd.OutOrStdout(), true), summaryOf(summary, took, meter.last.Dead))
	} else {
		printSummary(where.sentences(cmd.OutOrStdout(), false), summary, took, meter)
	}
	if err != nil {
		return err
	}
	if !reached(summary.Seeds) {
		return endBy(exitNothing)
	}
	return nil
}

// reached reports whether any of the seeds led to a stored page. Without seeds it returns
// true.
func reached(seeds []system.Fate) bool {
	if len(seeds) == 0 {
		return true
	}
	for _, seed := range seeds {
		if seed.Stored() {
			return true
		}
	}
	return false
}
