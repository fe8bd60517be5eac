package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/query/limit"
	"github.com/bucketsearch/bucketsearch/local/system"
)

const (
	usualCache = 10_000_000_000 // size of --cache in bytes, unless --cache-size is given
	// servedAge is the maximum age of the state of the index (its manifests) from which the command query
	// answers: that of the function query in the cloud, where each look at the bucket costs money.
	servedAge = 10 * time.Second
	// drain is the maximum time for which requests that are being answered may go on when the command query
	// is told to stop. Then it stores its last vital signs; see system.LastSigns.
	drain = 25 * time.Second
)

func queryCommand(where *location) *cobra.Command {
	var serve serving
	var dir string
	var disk int64
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Serve the search page alone, from a bucket elsewhere",
		Long: "Query serves the search page and the HTTP API from the bucket of --s3, and runs nothing else:\n" +
			"it needs no Redis and keeps nothing, so any number of them may serve one bucket. Credentials\n" +
			"that may only read and list are enough; judging, counting clicks and vital signs write.\n\n" +
			"/healthz answers while the process runs, /readyz once searches can be answered, and /metrics\n" +
			"speaks to Prometheus on the same machine, or with a key of the scope metrics. At SIGTERM it\n" +
			"accepts no further connection, and ends when all requests are answered. It logs JSON to the\n" +
			"standard error.\n\n" +
			"The servers of an index that is too large for one share the work: with BUCKETSEARCH_LEAVES,\n" +
			"the URLs of others, a server asks them to search parts of the index, and joins what they\n" +
			"find. All of them need the same BUCKETSEARCH_LEAF_KEY, a secret of 16 characters or more. What\n" +
			"does not answer in time is left out, and the answer says so. After three failures in a row, a\n" +
			"server is not asked for a while, of a second at first and of half a minute at most: then its\n" +
			"bucketsearch_leaf_resting is 1 in /metrics, and status has an alert.\n\n" +
			"BUCKETSEARCH_JUDGES and BUCKETSEARCH_CLICKS are read as by bucketsearch up.",
		Example: "  bucketsearch query --s3 https://s3.eu-central-1.amazonaws.com/my-bucket --listen 0.0.0.0:8080\n" +
			"  bucketsearch query --s3 http://127.0.0.1:9000/pages --cache /var/cache/bs --cache-size 20GB\n" +
			"  export BUCKETSEARCH_LEAVES=\"http://10.0.0.2:8080 http://10.0.0.3:8080\"\n" +
			"  bucketsearch query --s3 http://10.0.0.1:9000/pages",
		Args: nothing,
		PreRunE: func(*cobra.Command, []string) error {
			if where.s3 == "" {
				return misuse(errors.New("query needs a bucket elsewhere, such as --s3 https://s3.eu-central-1.amazonaws.com/my-bucket; to serve a data directory: bucketsearch up"))
			}
			if disk > 0 && dir == "" {
				return misuse(errors.New("--cache-size has no meaning without --cache"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			page, err := serve.options(servedAge)
			if err != nil {
				return misuse(err)
			}
			page.Dir, page.Disk = dir, cmp.Or(disk, usualCache)
			return runQuery(cmd, where, &serve, page)
		},
	}
	cmd.Flags().SortFlags = false
	serve.flags(cmd.Flags())
	cmd.Flags().StringVar(&dir, "cache", "", "keep parts of the index that were read in this `dir`, too, beside\nmemory; it survives restarts")
	sizeVar(cmd.Flags(), &disk, "cache-size", "greatest `size` of --cache, such as 20GB; else 10GB")
	return cmd
}

// runQuery serves the search page until ctx ends.
func runQuery(cmd *cobra.Command, where *location, serve *serving, page system.PageOptions) error {
	ctx := cmd.Context()
	options, err := where.options()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), nil))
	slog.SetDefault(log)
	s, err := system.NewSearcher(options, page, log)
	if err != nil {
		return err
	}
	listener, err := serve.listen()
	if err != nil {
		return err
	}
	server := limit.Server(handlerFor(listener.Addr(), s.Page), page.Limits.Proxies)
	served := make(chan error, 1)
	go func() { served <- server.Serve(limit.Listener(s.Listener(listener), time.Now)) }()
	fmt.Fprintf(cmd.OutOrStdout(), "Search page: http://%s/ (Ctrl-C stops)\n", listener.Addr())
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		s.KeepSigns(keeping)
	}()
	select {
	case <-ctx.Done():
	case err := <-served:
		return fmt.Errorf("cannot go on serving the search page: %w", err)
	}
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err = server.Shutdown(draining)
	stop()
	<-kept
	if err != nil {
		return errors.Join(fmt.Errorf("some requests were not answered within %v", drain), server.Close())
	}
	return nil
}
