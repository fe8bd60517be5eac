// Command bucketsearch crawls web sites into a bucket and searches them, on one machine.
//
// Begin with the function command, which lists the subcommands. Each is in the file of its name, such as why.go, but
// rebuild, reindex and resend are in redo.go, and resume is in pause.go. Files of the parts of a larger command begin with
// its name, such as collectionsremove.go. A subcommand reads its flags, opens the bucket by a method of location
// (location.go), calls package system or a package of functions/command, and prints the result. What several subcommands
// share:
//
//	file          is about
//	args.go       the number of arguments
//	location.go   the bucket and Redis that the flags of all commands name
//	crawling.go   the flags of up and crawl
//	serving.go    the flags of up and query
//	values.go     values of flags, and errors about them
//	exit.go       exit codes
//	hints.go      commands in sentences of the program, which get the flags that name the bucket
//	text.go       numbers, sizes and JSON in the output
//	reasons.go    texts for the reasons of outcomes
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/memory"
)

// agent is the crawler's User-Agent, with the URL of a page about the crawler.
// infra/template.yaml must have the same.
const agent = "bucketsearch/" + release + " (+https://github.com/bucketsearch/bucketsearch/blob/main/.github/CRAWLER.md)"

func main() {
	part := memory.Command
	if len(os.Args) > 1 && os.Args[1] == storeName {
		part = memory.Store
	}
	memory.Tune(part, os.Getenv)
	logging.Disable() // go-redis prints errors that it also returns
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program immediately
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs one command and returns its exit code (see exitCodes).
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	cmd, where := command()
	errOut = where.sentences(errOut, false)
	cmd.SetArgs(args)
	cmd.SetIn(in)
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	begun := false
	cmd.PersistentPreRun = func(*cobra.Command, []string) { begun = true }
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil, errors.Is(err, errSaid):
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(errOut, "bucketsearch: stopped")
	default:
		fmt.Fprintln(errOut, "bucketsearch:", strings.TrimSpace(err.Error()))
	}
	return int(codeOf(ctx, err, begun))
}

// command returns the root command with all its subcommands, and the location, which the
// flags of the root command set.
func command() (*cobra.Command, *location) {
	root := &cobra.Command{
		Use:   "bucketsearch",
		Short: "A web search engine that lives in a bucket",
		Long: "Bucketsearch crawls web sites, keeps every page in packages in object storage,\n" +
			"builds an immutable index beside them, and answers searches.",
		Example: "  bucketsearch crawl https://example.org/docs/    crawl a site and index it\n" +
			"  bucketsearch search connection pool             search it\n" +
			"  bucketsearch up                                 serve the search page",
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		Args:                       noCommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(root.UsageTemplate() + "{{if not .HasParent}}\n" + exitHelp() + "\n{{end}}")
	var where location
	where.flags(root.PersistentFlags())
	add := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, c := range commands {
			c.GroupID = title
		}
		root.AddCommand(commands...)
	}
	add("Crawl and search:", upCommand(&where), queryCommand(&where), workCommand(&where), crawlCommand(&where), searchCommand(&where), pageCommand(&where), mcpCommand(&where), exportCommand(&where), importCommand(&where))
	add("See:", statusCommand(&where), whyCommand(&where), verifyCommand(&where), pagesCommand(&where), urlsCommand(&where), reportCommand(&where), evalCommand(&where))
	add("Steer:", publishCommand(&where), collectionsCommand(&where), strategyCommand(&where), pauseCommand(&where), resumeCommand(&where), limitsCommand(&where), keysCommand(&where), curateCommand(&where), forgetCommand(&where), resendCommand(&where), rebuildCommand(&where), reindexCommand(&where))
	help := helpCommand()
	root.SetHelpCommand(help)
	add("Other:", versionCommand(), manCommand(), help)
	root.SetCompletionCommandGroupID("Other:")
	root.AddCommand(storeCommand())
	where.completeValues(root)
	return root, &where
}

// noCommand returns an error if there are arguments: then the first one is not the name of a subcommand of the
// command. The error names similar subcommands.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	meant := ""
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		meant = "; perhaps " + strings.Join(similar, " or ") + " is meant"
	}
	return fmt.Errorf("there is no command %.100q%s; for all: %s --help", args[0], meant, cmd.CommandPath())
}

// helpCommand returns the command help. Unlike that of package cobra, it fails if there is no such command.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err == nil {
				err = noCommand(about, rest)
			}
			if err != nil {
				return misuse(err)
			}
			return about.Help()
		},
	}
}
