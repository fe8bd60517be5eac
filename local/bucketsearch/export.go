package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/command/export"
	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/local/system"
)

func exportCommand(where *location) *cobra.Command {
	var task export.Task
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write stored pages to files: JSON Lines, XML, Markdown, WARC, WACZ, mirror …",
		Long: "Export writes the stored pages, or those of a collection, site, language or time,\n" +
			"as they are at this moment, even while a crawl goes on. When it is interrupted, the\n" +
			"same command goes on.\n\n" +
			"  jsonl     a JSON object a line: address, times, title, language, text …\n" +
			"  xml       one document with its DTD\n" +
			"  markdown  a folder with a file for each page\n" +
			"  warc      WARC 1.1, compressed: the answers of the servers, for replay\n" +
			"  wacz      WACZ 1.1.1: such a WARC with its index and a list of pages, for replay\n" +
			"  webo      Web objects of version 1 in a .webop, with its description beside it\n" +
			"  mirror    a folder for a browser, with links between its files; whole for a\n" +
			"            collection with assets = true",
		Example: "  bucketsearch export --format jsonl -o pages.jsonl\n" +
			"  bucketsearch export --site example.org --format markdown -o example\n" +
			"  bucketsearch export --collection docs --format mirror -o mirror\n" +
			"  bucketsearch export --since 2026-11-01 --format warc -o november.warc.gz",
		Args: nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			if task.Path == "" {
				return errors.New("export needs a file or folder, such as: bucketsearch export -o pages.jsonl")
			}
			if task.At.IsZero() {
				task.At = time.Now()
			}
			inForce, err := a.Settings.Get(cmd.Context())
			if err != nil {
				return err
			}
			bar := newBar(cmd.ErrOrStderr())
			task.Progress = func(done, total int) {
				bar.show(verify.Progress{Stage: "export", Done: int64(done), Total: int64(total)})
			}
			report, err := task.Run(cmd.Context(), a.Bucket, inForce)
			bar.end()
			printUnread(cmd.ErrOrStderr(), report.Unread)
			if err != nil {
				return err
			}
			earlier := ""
			if report.Resumed > 0 {
				earlier = fmt.Sprintf(", %d of them by an earlier run", report.Resumed)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s in %s, as of %s UTC%s\n", count(report.Pages, "page"), task.Path, report.At.UTC().Format(timeForm), earlier)
			if len(report.Unread) > 0 {
				return endBy(exitDamaged)
			}
			return nil
		}),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&task.Path, "output", "o", "", "write to this new `file`, or folder for markdown and mirror")
	flags.StringVar(&task.Format, "format", "jsonl", "`format`: one of the above")
	selectionFlags(flags, &task.Selection)
	asofVar(flags, &task.At, "the pages as they were at this `time`, of the last seven days")
	return cmd
}

// unreadShown is the maximum number of errors that printUnread prints.
const unreadShown = 10

// printUnread prints the errors that say why an export lacks pages: pages could not be read, or
// generations or books are lost.
func printUnread(out io.Writer, unread []error) {
	for _, err := range unread[:min(unreadShown, len(unread))] {
		fmt.Fprintf(out, "left out: %v\n", err)
	}
	if more := len(unread) - unreadShown; more > 0 {
		fmt.Fprintf(out, "left out: %s more\n", count(more, "page"))
	}
	if len(unread) > 0 {
		fmt.Fprintln(out, "to mend what can be mended: bucketsearch verify --repair")
	}
}
