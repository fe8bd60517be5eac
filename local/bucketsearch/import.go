package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/command/ingest"
	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// importedName is the name of the collection of imported pages, unless a flag names another.
const importedName = "imported"

func importCommand(where *location) *cobra.Command {
	var name, to string
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Import the pages of WARC and WACZ files, or a DocSearch configuration",
		Long: "Import stores and indexes the pages of WARC files (1.0 and 1.1, as they are or with\n" +
			"gzip) and of WACZ files as if they had been fetched when they were captured: those of\n" +
			"Common Crawl, Browsertrix, wget --warc-file, and export --format warc or wacz. To import\n" +
			"twice is to import once. A capture that is older than what is stored is passed over, as\n" +
			"are errors and what is no page. Nothing is asked of the web.\n\n" +
			"The pages get the name of a collection. If that is one that is crawled, its rules say\n" +
			"which pages are imported, with their images and other assets if it has assets = true,\n" +
			"and the next crawl follows their links. If it is not, all pages are imported, without\n" +
			"assets, and no link is followed. A file ending in .toml is published first, as crawl\n" +
			"--collection does.\n\n" +
			"Where a file is damaged, import says so, goes on with the next record that it finds, and\n" +
			"ends with exit code 1.\n\n" +
			"A JSON file is a configuration of docs-scraper or DocSearch: import turns it into a\n" +
			"collection file, and says of each key that is not carried over why. Nothing is stored.",
		Example: "  bucketsearch import CC-MAIN-20260101000000-00000.warc.gz\n" +
			"  bucketsearch import --collection postgres archive/*.warc.gz\n" +
			"  bucketsearch import --collection postgres.toml postgres.wacz\n" +
			"  bucketsearch import --to docs.toml docsearch.json",
		Args: needs(some, "a file", "pages.warc.gz"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			switch is, err := isConfig(args[0]); {
			case err != nil:
				return misuse(err)
			case is:
				return importConfig(cmd, args, to)
			}
			if to != "" {
				return misuse(fmt.Errorf("--to is for a configuration in JSON, and %s is none", args[0]))
			}
			var published *collection.Collection
			if strings.HasSuffix(name, ".toml") {
				c, err := collection.ReadFile(name)
				if err != nil {
					return misuse(err)
				}
				published, name = &c, c.Name
			} else if err := collection.ValidName(name); err != nil {
				return misuse(err)
			}
			for _, file := range args { // checked before a bucket is made
				if _, err := os.Stat(file); err != nil {
					return misuse(err)
				}
			}
			options, err := where.options()
			if err != nil {
				return err
			}
			i, err := system.OpenImporter(cmd.Context(), options)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, i.Close()) }()
			if published != nil {
				if err := i.Publish(cmd.Context(), *published); err != nil {
					return err
				}
			}
			return runImport(cmd, i, args, name)
		},
	}
	cmd.Flags().StringVar(&name, "collection", importedName, "the `name` of the collection that gets the pages, or a file that\ndescribes it")
	cmd.Flags().StringVar(&to, "to", "", "write the collection made of a configuration to this `file`; else it is\nprinted")
	return cmd
}

func runImport(cmd *cobra.Command, i *system.Importer, files []string, name string) error {
	began := time.Now()
	bar := newBar(cmd.ErrOrStderr())
	show := func(stage string, done, total int64) {
		bar.show(verify.Progress{Stage: verify.Stage(stage), Done: done, Total: total})
	}
	report, err := i.Import(cmd.Context(), files, name, show)
	if err == nil {
		err = i.Wait(cmd.Context(), show)
	}
	bar.end()
	if report != nil {
		printImport(cmd.OutOrStdout(), report, time.Since(began))
		for _, fault := range report.Faults {
			fmt.Fprintln(cmd.ErrOrStderr(), "damaged:", fault)
		}
		if more := report.Faulty - len(report.Faults); more > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "damaged: %s more\n", count(more, "part"))
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(cmd.ErrOrStderr(), "Stopped. What was imported is kept; the same command imports the rest.")
		return endBy(exitStopped)
	case err != nil:
		return err
	case report.Faulty > 0:
		return endBy(exitFailed)
	}
	return nil
}

func printImport(out io.Writer, r *ingest.Report, took time.Duration) {
	fmt.Fprint(out, count(r.Stored, "page"))
	if r.Assets > 0 {
		fmt.Fprintf(out, " and %s", count(r.Assets, "asset"))
	}
	fmt.Fprintf(out, " imported in %s", took.Round(time.Second/10))
	if r.Unchanged > 0 {
		fmt.Fprintf(out, ", %d more as they were stored before", r.Unchanged)
	}
	fmt.Fprintln(out)
	printCounts(out, "recorded without a page", r.Skipped)
	printCounts(out, "passed over", r.Passed)
	printCounts(out, "records", r.Records)
}

// printCounts prints a title and the entries of counts, the greatest number first.
func printCounts(out io.Writer, title string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	var parts []string
	for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	}) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[name], explained(name)))
	}
	fmt.Fprintf(out, "%s: %s\n", title, strings.Join(parts, ", "))
}
