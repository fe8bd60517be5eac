package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// addresses parses an argument as a URL. It returns the address of this URL, and then the
// addresses that collections crawl in its place, such as the URL without a session id (see
// system.Attached.Addresses).
func addresses(ctx context.Context, a *system.Attached, arg string) ([]address.Address, error) {
	if _, err := system.ParseAddress(arg); err != nil {
		return nil, fmt.Errorf("%.200q is no web address; write it like https://example.org/", arg)
	}
	return a.Addresses(ctx, arg)
}

// goneText returns a sentence about a stored page that has vanished from its site. It says when
// a request found the page gone, for what reason, and when the stored copy was downloaded.
func goneText(page engine.Copy) string {
	gone := page.Gone
	return fmt.Sprintf("This page is gone, at the latest since %s UTC (%s); this is the copy of %s UTC.",
		gone.Time.UTC().Format(timeForm), strings.TrimSpace(gone.Reason+" "+gone.Detail), page.Downloaded.UTC().Format(timeForm))
}

func pageCommand(where *location) *cobra.Command {
	var moment time.Time
	var format string
	cmd := &cobra.Command{
		Use:     "page URL",
		Short:   "Print the stored page, byte for byte or as text, Markdown or JSON",
		Example: "  bucketsearch page https://example.org/ > page.html\n  bucketsearch page --format markdown https://example.org/\n  bucketsearch page --asof 2026-11-21T09:30:00Z https://example.org/",
		Args:    oneAddress,
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			as, err := engine.ParseFormat(format)
			if err != nil {
				return misuse(fmt.Errorf("--%w", err))
			}
			wanted, err := addresses(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			e, err := openEngine(a)
			if err != nil {
				return err
			}
			page, err := e.PageInBooks(cmd.Context(), wanted[0], moment)
			for _, cleaned := range wanted[1:] {
				if errors.Is(err, engine.ErrNoPage) {
					page, err = e.PageInBooks(cmd.Context(), cleaned, moment)
				}
			}
			for _, unread := range page.Unread {
				fmt.Fprintf(cmd.ErrOrStderr(), "Left out is what may tell of this page, too: %v. To mend it: bucketsearch verify --repair\n", unread)
			}
			if errors.Is(err, engine.ErrNoPage) {
				err = fmt.Errorf("%w; for the reason: bucketsearch why %s", err, quoted(wanted[0].URL))
				if len(page.Unread) > 0 {
					err = coded{err, exitDamaged}
				}
				return err
			}
			if err != nil {
				return err
			}
			if page.Gone != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), goneText(page))
			}
			data, _, err := as.As(page.Object)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(data)
			return err
		}),
	}
	cmd.Flags().StringVar(&format, "format", "html", "`format`: html as it is stored; or its main part as text,\nmarkdown or json")
	asofVar(cmd.Flags(), &moment, "print the page as it was at this `time`, of the last seven days")
	return cmd
}
