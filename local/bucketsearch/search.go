package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bucketsearch/bucketsearch/functions/query"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// maxResults is the most that one search prints.
const maxResults = 1000

func searchCommand(where *location) *cobra.Command {
	var asJSON bool
	var size int
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Search what has been indexed",
		Long: "Search prints the best pages. Words are joined by OR, and pages with all of them\n" +
			"come first; \"quoted words\" must stand together, +word must occur, -word must not.",
		Example: "  bucketsearch search connection pool\n  bucketsearch search -n 3 '\"foreign key\" -mysql'\n  bucketsearch search --json vacuum",
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return errors.New("search needs words to look for, such as: bucketsearch search connection pool")
			}
			if size < 1 || size > maxResults {
				return fmt.Errorf("-n %d: want 1 to %d results", size, maxResults)
			}
			return nil
		},
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			found, err := engine(a).Search(cmd.Context(), segment.Query{Text: strings.Join(args, " "), Size: size})
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return printJSON(out, found.Answer())
			}
			printResult(out, found, styleOf(out))
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().IntVarP(&size, "number", "n", 10, "print at most `n` results")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w; a query in which a word begins with - goes in quotes behind --: bucketsearch search -- 'pool -mysql'", err)
	})
	return cmd
}

// engine answers one command.
func engine(a *system.Attached) *query.Engine {
	return &query.Engine{
		Bucket:   a.Bucket,
		Settings: a.Settings,
		Now:      time.Now,
		Age:      time.Minute,
		Log:      slog.New(slog.DiscardHandler), // the result says what is missing
	}
}

// style colours a terminal; elsewhere its codes are empty.
type style struct{ title, url, match, faint, off string }

func styleOf(out io.Writer) style {
	file, isFile := out.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) || os.Getenv("NO_COLOR") != "" {
		return style{}
	}
	return style{title: "\x1b[1;34m", url: "\x1b[32m", match: "\x1b[1;33m", faint: "\x1b[2m", off: "\x1b[0m"}
}

func printResult(out io.Writer, r query.Result, s style) {
	for i, hit := range r.Hits {
		title := hit.Title
		if title == "" {
			title = hit.URL
		}
		fmt.Fprintf(out, "%2d. %s%s%s\n    %s%s%s\n", i+1, s.title, title, s.off, s.url, hit.URL, s.off)
		if len(hit.Snippet) == 0 {
			continue
		}
		fmt.Fprint(out, "    ")
		for _, f := range hit.Snippet {
			if f.Match {
				fmt.Fprint(out, s.match, f.Text, s.off)
			} else {
				fmt.Fprint(out, f.Text)
			}
		}
		fmt.Fprintln(out)
	}
	if r.Incomplete {
		fmt.Fprintln(out, "Some pages are missing: a part of the index is damaged. To mend it: bucketsearch verify --repair")
	}
	fmt.Fprintf(out, "%s%s (%.1f ms)%s\n", s.faint, matches(r.Total), float64(r.Took.Microseconds())/1000, s.off)
}

func matches(n int) string {
	if n == 1 {
		return "1 page matches"
	}
	return fmt.Sprintf("%d pages match", n)
}
