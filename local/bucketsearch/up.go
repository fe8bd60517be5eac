package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/query/limit"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// freshness is the maximum age of the state of the index (its manifests) from which the search page
// answers. So queries find a newly indexed page after this time at the latest.
const freshness = 2 * time.Second

func upCommand(where *location) *cobra.Command {
	var flags crawling
	var serve serving
	cmd := &cobra.Command{
		Use:   "up [SEED...]",
		Short: "Run everything and serve the search page",
		Long: "Up runs object store, Redis, functions and the search page in one process tree,\n" +
			"crawls seeds and collections if there are any, and goes on with what earlier crawls\n" +
			"left. Ctrl-C stops it; the next start goes on where it stopped.\n\n" +
			"Whoever has a key may judge results: after signing in at /judge, every result has a\n" +
			"field that says how well it answers, and bucketsearch eval --judged measures the\n" +
			"ranking by that. Names and keys, of 16 characters or more, are read from\n" +
			"BUCKETSEARCH_JUDGES; without it, nobody judges.\n\n" +
			"With BUCKETSEARCH_CLICKS, a secret of 16 characters or more, clicks on results are\n" +
			"counted: browsers report them, and query, page, position and day are kept for 90 days,\n" +
			"nothing of the person. bucketsearch eval --clicked measures the ranking by that.\n" +
			"Without the secret, no click is counted.\n\n" +
			"With BUCKETSEARCH_LEAVES, the URLs of other servers on the same bucket, these search parts\n" +
			"of a large index for this one. All of them need the same BUCKETSEARCH_LEAF_KEY, a secret\n" +
			"of 16 characters or more.\n\n" +
			"When more is asked than can be answered, some requests wait, and those that would wait\n" +
			"for more than a second are refused (429, with Retry-After). Costly searches, such as those\n" +
			"for a hundred results or many prefixes, wait for each other and give way to quick ones.\n" +
			"Behind a proxy, name it by --proxy, else all clients count as one.\n\n" +
			"A line in a page of any site puts a search box there; the page /v1/ says more:\n" +
			"<script src=\"https://search.example.org/search.js\" defer></script>",
		Example: "  bucketsearch up\n  bucketsearch up https://www.example.org/\n  bucketsearch up --title \"Example\" --logo logo.svg --colour '#2457c5'\n  bucketsearch up --collection docs.toml\n  bucketsearch up --listen 127.0.0.1:9090\n" +
			"  BUCKETSEARCH_JUDGES=\"ann:$(openssl rand -hex 16)\" bucketsearch up\n" +
			"  BUCKETSEARCH_CLICKS=\"$(openssl rand -hex 16)\" bucketsearch up",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runUp(cmd, where, &flags, &serve, args)
		},
	}
	serve.flags(cmd.Flags())
	flags.flags(cmd.Flags())
	return cmd
}

// runUp runs the system. It crawls what flags and arguments say, and serves the search page, until ctx
// ends or the system cannot go on.
func runUp(cmd *cobra.Command, where *location, flags *crawling, serve *serving, args []string) (err error) {
	ctx := cmd.Context()
	plan, err := flags.plan(cmd.Flags(), args)
	if err != nil {
		return misuse(err)
	}
	looks, err := serve.options(freshness)
	if err != nil {
		return misuse(err)
	}
	listener, err := serve.listen()
	if err != nil {
		return err
	}
	defer listener.Close()
	s, err := where.open(ctx, flags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if plan.Empty() {
		err = s.Choose(ctx, plan)
	} else {
		err = s.Plan(ctx, plan)
	}
	if err != nil {
		return err
	}
	if err := s.Run(ctx); err != nil {
		return err
	}
	page, err := s.Page(looks)
	if err != nil {
		return err
	}
	server := limit.Server(handlerFor(listener.Addr(), page), looks.Limits.Proxies)
	served := make(chan error, 1)
	go func() { served <- server.Serve(limit.Listener(s.Listener(listener), time.Now)) }()
	defer server.Close()
	home := "http://" + listener.Addr().String() + "/"
	if err := s.Publish(home); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Search page: %s (Ctrl-C stops)\n", home)
	watching, stop := context.WithCancel(ctx)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		follow(watching, cmd, where, s, plan, home)
	}()
	err = nil
	select {
	case <-ctx.Done():
	case <-s.Failed():
		err = s.Err()
	case err = <-served:
		err = fmt.Errorf("cannot go on serving the search page: %w", err)
	}
	stop()
	<-followed
	if err == nil {
		fmt.Fprintln(cmd.OutOrStdout(), "Stopping. Nothing is lost; the next start goes on from here.")
	}
	return err
}

// follow shows the progress of the crawl and, when the crawl is done, a summary. After that,
// until ctx ends, it prints which functions fail repeatedly. The parameter home is the address of the
// search page.
func follow(ctx context.Context, cmd *cobra.Command, where *location, s *system.System, plan system.Plan, home string) {
	m := newMeter(cmd.ErrOrStderr())
	if showCrawl(ctx, cmd, where, s, plan, home, m) != nil {
		return // runUp notices the reason by itself
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
			m.tell(s.Failing())
		}
	}
}

// showCrawl shows the progress of the crawl until it is done. Then it prints a summary, unless
// there is nothing to report: the command line named nothing to crawl (the plan is empty), and the
// number of stored pages has not changed.
func showCrawl(ctx context.Context, cmd *cobra.Command, where *location, s *system.System, plan system.Plan, home string, m *crawlMeter) error {
	began := time.Now()
	err := s.Wait(ctx, false, m.show)
	m.end()
	if err != nil {
		return err
	}
	if plan.Empty() && m.last.Stored == m.first {
		return nil
	}
	if err := m.during(merging, func() error { return s.Merge(ctx) }); err != nil {
		s.Log.Warn("merge", "error", err)
	}
	if err := m.during(ranking, func() error { return s.Rank(ctx) }); err != nil {
		s.Log.Warn("rank", "error", err)
	}
	summary, err := s.Summarize(ctx, plan, began)
	if err != nil {
		s.Log.Warn("summary", "error", err)
		return nil
	}
	if summary.New > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "%s crawled and indexed.\n", count(summary.New, "page"))
	}
	out := where.sentences(cmd.OutOrStdout(), false)
	printSeeds(out, summary)
	printAdvice(out, summary.Status, home)
	return nil
}
