package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

func workCommand(where *location) *cobra.Command {
	var functions []string
	var queues string
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
			"bucketsearch:queue:{FUNCTION}, and of the sorted set bucketsearch:queue:{FUNCTION}:delayed of\n" +
			"those for later, by which programs such as KEDA start and stop workers. Clocks tick in workers\n" +
			"that run schedule, sweep, rank and watch: some worker of these must always run.\n\n" +
			"With --queues, functions of a stack on AWS run here, beside those in Lambda or in place of them\n" +
			"(disable their event source mappings). Fetch, rank and watch need no Redis then.",
		Example: "  bucketsearch work --s3 http://127.0.0.1:9000/my-bucket --redis redis://127.0.0.1:6379/0\n" +
			"  bucketsearch work --s3 URL --redis URL --functions fetch\n" +
			"  bucketsearch work --s3 URL --redis URL --functions schedule,pack,index,merge,rank,sweep,watch\n" +
			"  bucketsearch work --s3 URL --functions fetch --queues https://sqs.REGION.amazonaws.com/1/S-",
		Args: nothing,
		PreRunE: func(*cobra.Command, []string) error {
			if functions == nil {
				functions = task.Queues
			}
			for _, name := range functions {
				if where.redisURL() == "" && queues != "" && system.NeedsRedis(name) {
					return misuse(fmt.Errorf("the function %s needs a Redis: --redis URL or BUCKETSEARCH_REDIS", name))
				}
			}
			if where.s3 == "" || where.redisURL() == "" && queues == "" {
				return misuse(errors.New("work needs a bucket and a Redis elsewhere, --s3 URL and --redis URL or BUCKETSEARCH_REDIS; on one machine alone: bucketsearch up"))
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
			w, err := system.OpenWorker(cmd.Context(), system.WorkerOptions{Options: options, Run: functions, Queues: queues, Log: log})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w.Close()) }()
			fmt.Fprintf(cmd.OutOrStdout(), "Working: %s (Ctrl-C stops)\n", strings.Join(functions, ", "))
			return w.Run(cmd.Context())
		},
	}
	cmd.Flags().SortFlags = false
	functionsVar(cmd.Flags(), &functions)
	cmd.Flags().StringVar(&queues, "queues", "", "take messages from the queues of a stack on AWS, whose URLs begin\nwith this `URL`, such as https://sqs.eu-central-1.amazonaws.com/\n123456789012/STACK-")
	cmd.Flags().BoolVar(&allowPrivate, "allow-private", false, "crawl addresses that are not public, too, such as 127.0.0.1")
	return cmd
}

// functionsVar defines the flag --functions, a list of names of functions, which are those of their queues.
func functionsVar(flags *pflag.FlagSet, to *[]string) {
	read := func(name, text string) (functions []string, err error) {
		for function := range strings.SplitSeq(text, ",") {
			if !slices.Contains(task.Queues, function) {
				return nil, literal.Wrong(name, text, "some of "+strings.Join(task.Queues, ","))
			}
			if !slices.Contains(functions, function) {
				functions = append(functions, function)
			}
		}
		return functions, nil
	}
	show := func(functions []string) string { return strings.Join(functions, ",") }
	flags.Var(flagValue[[]string]{"--functions", to, read, show}, "functions", "run only these `functions`, with commas between them; else all")
}
