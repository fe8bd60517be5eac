package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/system"
)

func crawlCommand(where *location) *cobra.Command {
	var flags crawling
	cmd := &cobra.Command{
		Use:   "crawl [SEED...]",
		Short: "Crawl web sites to the end, pack and index them",
		Long: "Crawl follows links from the seeds, stores every page, builds the index, prints a\n" +
			"summary and ends; its exit code is 1 if no seed led to a page. A later crawl goes\n" +
			"on where an earlier one stopped, asks again for what failed, and takes up what a\n" +
			"narrower scope left out. Pages that are stored already are not asked for again.\n\n" +
			"A collection is a file in TOML that says what to crawl, how far, how fast and how often:\n\n" +
			"  name = \"postgres\"\n" +
			"  seeds = [\"https://www.postgresql.org/docs/16/\"]\n" +
			"  scope = \"prefix\"    # also depth, include, exclude, delay, host_connections, pages, agent …",
		Example: "  bucketsearch crawl https://www.example.org/\n" +
			"  bucketsearch crawl --scope prefix --depth 3 https://example.org/docs/\n" +
			"  bucketsearch crawl --max-pages 100 https://example.org/ https://example.com/\n" +
			"  bucketsearch crawl --collection postgres.toml --collection news.toml\n" +
			"  bucketsearch crawl --delay 0 --allow-private http://127.0.0.1:8000/",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args)+len(flags.collections) == 0 {
				return errors.New("crawl needs a seed, the address at which to begin, such as: bucketsearch crawl https://example.org/, or --collection FILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCrawl(cmd, where, &flags, args)
		},
	}
	flags.flags(cmd.Flags())
	return cmd
}

func runCrawl(cmd *cobra.Command, where *location, flags *crawling, args []string) (err error) {
	ctx := cmd.Context()
	plan, err := flags.plan(cmd.Flags(), args)
	if err != nil {
		return err
	}
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
	err = s.Wait(ctx, true, meter.show)
	meter.end()
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(cmd.ErrOrStderr(), "Stopping. What was fetched is kept; the same command goes on from here.")
		return errSaid
	}
	if errors.Is(err, system.ErrPaused) {
		return fmt.Errorf("%w; what was fetched is kept and indexed, and the same command goes on once it is resumed", err)
	}
	if err != nil {
		return err
	}
	summary, err := s.Summarize(ctx, plan, began)
	if err != nil {
		return fmt.Errorf("all is crawled and indexed, but the summary cannot be read: %w", err)
	}
	printSummary(cmd.OutOrStdout(), summary, time.Since(began), meter)
	if !reached(summary.Seeds) {
		return errSaid
	}
	return nil
}

// reached reports whether any seed led to a page.
func reached(seeds []system.Fate) bool {
	for _, seed := range seeds {
		if seed.Stored() {
			return true
		}
	}
	return false
}
