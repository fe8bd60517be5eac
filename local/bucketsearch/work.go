package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/system"
)

func workCommand(where *location) *cobra.Command {
	var functions []string
	var allowPrivate bool
	cmd := &cobra.Command{
		Use:   "work",
		Short: "Run functions on a bucket and a Redis elsewhere, beside other workers",
		Long: "Work runs functions as the cloud does, on any object store and any Redis 6.2 or newer, on\n" +
			"one machine or many: all workers of one bucket share the Redis, which has their queues, too.\n" +
			"What to crawl is published by bucketsearch publish, searches are served by bucketsearch query.\n\n" +
			"Each worker runs the functions of --functions, and every function must be run by some worker:\n\n" +
			"  schedule   chooses what is asked for next     pack    puts what was fetched into packages\n" +
			"  fetch      asks web sites                     index   makes packages searchable\n" +
			"  sweep      finds work that was lost, tidies   merge   makes few segments of many\n" +
			"  watch      sends alerts                       rank    ranks pages by their links\n\n" +
			"A worker may be killed at any moment: what it was doing comes to another within seconds. At\n" +
			"SIGTERM it begins nothing more, and ends within 25 seconds. It logs JSON to the standard error.\n" +
			"The number of messages of a function is the length of the Redis stream\n" +
			"bucketsearch:queue:{FUNCTION}, by which programs such as KEDA start and stop workers.",
		Example: "  bucketsearch work --s3 http://127.0.0.1:9000/my-bucket --redis redis://127.0.0.1:6379/0\n" +
			"  bucketsearch work --s3 URL --redis URL --functions fetch\n" +
			"  bucketsearch work --s3 URL --redis URL --functions schedule,pack,index,merge,rank,sweep,watch",
		Args: nothing,
		PreRunE: func(*cobra.Command, []string) error {
			if where.s3 == "" || where.redis == "" {
				return misuse(errors.New("work needs a bucket and a Redis elsewhere, --s3 URL and --redis URL; on one machine alone: bucketsearch up"))
			}
			for _, name := range functions {
				if !slices.Contains(task.Queues, name) {
					return misuse(fmt.Errorf("--functions: there is no function %q; want some of %s", name, strings.Join(task.Queues, ", ")))
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			options, err := where.options()
			if err != nil {
				return err
			}
			options.AllowPrivate = allowPrivate
			log := slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), nil))
			slog.SetDefault(log)
			if len(functions) == 0 {
				functions = task.Queues
			}
			functions = slices.Compact(slices.Sorted(slices.Values(functions)))
			w, err := system.OpenWorker(cmd.Context(), options, functions, log)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w.Close()) }()
			fmt.Fprintf(cmd.OutOrStdout(), "Working: %s (Ctrl-C stops)\n", strings.Join(functions, ", "))
			return w.Run(cmd.Context())
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringSliceVar(&functions, "functions", nil, "run only these `functions`, with commas between them; else all")
	cmd.Flags().BoolVar(&allowPrivate, "allow-private", false, "crawl addresses that are not public, too, such as 127.0.0.1")
	return cmd
}
