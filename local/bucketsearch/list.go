package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/functions/shared/inventory"
	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// selectionFlags defines the flags that select pages, such as --collection, and sets the fields of
// s from them.
func selectionFlags(flags *pflag.FlagSet, s *inventory.Selection) {
	flags.StringVar(&s.Collection, "collection", "", "only pages of the collection of this `name`")
	flags.StringVar(&s.Site, "site", "", "only pages of this `site`, a host or a domain with its hosts")
	languageVar(flags, &s.Lang, "lang", "only pages in this `language`, such as de")
	timeVar(flags, &s.Since, "since", "only pages fetched at this `time` or later, such as 2026-11-21")
	timeVar(flags, &s.Until, "until", "only pages fetched before this `time`")
}

func pagesCommand(where *location) *cobra.Command {
	var selected inventory.Selection
	var day, moment time.Time
	var asJSON, assets bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List stored pages: time, language, size, type and address",
		Long: "List prints a line for each stored page, those of a site together: when it was\n" +
			"fetched, its language, its compressed size in bytes, its media type and its address.\n" +
			"Books and index tell all this, so no page is read. Language and type are \"-\" until a\n" +
			"page is indexed, some seconds after it is stored. Images, style sheets and other assets\n" +
			"of pages are listed with --assets only; their type is \"asset\".",
		Example: "  bucketsearch list --site example.org --lang de\n" +
			"  bucketsearch list --day 2026-11-21 --json | jq -r .url",
		Args: nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			if !day.IsZero() {
				if !selected.Since.IsZero() || !selected.Until.IsZero() {
					return misuse(errors.New("--day does not go with --since and --until, which say the same; leave one out"))
				}
				selected.Since = day.UTC().Truncate(24 * time.Hour)
				selected.Until = selected.Since.Add(24 * time.Hour)
			}
			if moment.IsZero() {
				moment = time.Now()
			}
			inForce, err := a.Settings.Get(cmd.Context())
			if err != nil {
				return err
			}
			all, err := inventory.Open(cmd.Context(), a.Bucket, inForce, moment)
			if err == nil {
				err = all.ReadIndex(cmd.Context())
			}
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			printed, unknown := 0, 0
			for page, err := range all.Pages(cmd.Context(), selected) {
				if err != nil {
					return errors.Join(err, out.Flush())
				}
				if page.Asset && (!assets || selected.Lang != "") {
					continue
				}
				if selected.Lang != "" && !page.Indexed {
					unknown++
					continue
				}
				if err := printPage(out, page, asJSON); err != nil {
					return err
				}
				printed++
			}
			if err := out.Flush(); err != nil {
				return err
			}
			switch {
			case all.Empty():
				fmt.Fprintln(cmd.ErrOrStderr(), "At that time nothing was stored yet.")
			case printed == 0:
				fmt.Fprintln(cmd.ErrOrStderr(), "No stored page matches.")
			}
			if unknown > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "Not listed, for the index does not tell their language: %s\n", count(unknown, "page"))
			}
			return tellUnlisted(cmd, all)
		}),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	selectionFlags(flags, &selected)
	timeVar(flags, &day, "day", "only pages fetched on this `day`, in UTC")
	asofVar(flags, &moment, "the pages as they were at this `time`, of the last seven days")
	flags.BoolVar(&assets, "assets", false, "assets of pages, too, unless --lang is given")
	flags.BoolVar(&asJSON, "json", false, "print JSON, an object a line")
	return cmd
}

// listedPage is a stored page in the output of `bucketsearch list --json`.
type listedPage struct {
	URL         string    `json:"url"`
	Fetched     time.Time `json:"fetched"`
	Lang        string    `json:"lang,omitempty"`
	MIME        string    `json:"mime,omitempty"`
	Asset       bool      `json:"asset,omitempty"`
	Bytes       int64     `json:"stored_bytes"`
	Collections []string  `json:"collections"`
}

func printPage(out io.Writer, p inventory.Page, asJSON bool) error {
	if !asJSON {
		kind := cmp.Or(printable(p.MIME), "-")
		if p.Asset {
			kind = "asset"
		}
		_, err := fmt.Fprintf(out, "%s  %-3s %9d  %-16s  %s\n", p.Time.UTC().Format(timeForm), cmp.Or(p.Lang, "-"), p.Length, kind, p.URL)
		return err
	}
	line, err := reply.Marshal(listedPage{p.URL, p.Time, p.Lang, p.MIME, p.Asset, p.Length, p.Collections}, false)
	if err == nil {
		_, err = out.Write(line)
	}
	return err
}

// tellUnlisted prints which objects in the bucket are lost or damaged. Because of them the list of
// pages is incomplete: it lacks pages, or the language and type of some pages. If there are such
// objects, tellUnlisted returns an error that makes the program end with exitDamaged.
func tellUnlisted(cmd *cobra.Command, all *inventory.Inventory) error {
	for _, err := range all.Faults {
		fmt.Fprintf(cmd.ErrOrStderr(), "Not listed is what this tells of: %v\n", err)
	}
	for _, err := range all.Unindexed {
		fmt.Fprintf(cmd.ErrOrStderr(), "Not in full: %v\n", err)
	}
	if len(all.Faults)+len(all.Unindexed) > 0 {
		return endBy(exitDamaged)
	}
	return nil
}
