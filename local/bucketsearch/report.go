package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/command/report"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

func reportCommand(where *location) *cobra.Command {
	var by string
	var moment time.Time
	var asJSON, asCSV bool
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Count stored pages, sites and bytes by language, collection and day",
		Long: "Report counts the stored pages, their sites and their compressed bytes by language,\n" +
			"collection and day of the download (UTC), or by site, with assets of pages apart; and\n" +
			"says what packages, index, links and outcomes take, of all versions that are kept, as\n" +
			"Brin and Page did in 1998.\n" +
			"Books, index and directories tell all this, so no page is read. Of a page of two\n" +
			"collections both count one. The language is \"-\" if it is not known, or not yet. Its\n" +
			"source is how it is known: the page declares it; it is guessed from the text; or the\n" +
			"text proves that the page declares a wrong one, which is overruled.",
		Example: "  bucketsearch report\n  bucketsearch report --by site --csv > sites.csv",
		Args:    nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			if asJSON && asCSV {
				return misuse(errors.New("--json and --csv do not go together; leave one out"))
			}
			if by != "" && (&report.Report{}).Table(by) == nil {
				return misuse(literal.Wrong("--by", by, "language, source, collection, site or day"))
			}
			if moment.IsZero() {
				moment = time.Now()
			}
			inForce, err := a.Settings.Get(cmd.Context())
			if err != nil {
				return err
			}
			r, err := report.Make(cmd.Context(), a.Bucket, inForce, moment)
			if err != nil {
				return err
			}
			switch out := cmd.OutOrStdout(); {
			case asJSON:
				err = printJSON(where.sentences(out, true), r)
			case asCSV:
				err = printTablesCSV(out, r, by)
			default:
				err = printTables(out, r, by)
			}
			if r.Empty {
				fmt.Fprintln(cmd.ErrOrStderr(), "At that time nothing was stored yet.")
			}
			if err == nil && len(r.Faults) > 0 {
				tellFaults(cmd, r.Faults)
				err = endBy(exitDamaged)
			}
			return err
		}),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&by, "by", "", "only the table by language, source, collection, site or day: `by` which")
	asofVar(flags, &moment, "the bucket as it was at this `time`, of the last seven days")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	flags.BoolVar(&asCSV, "csv", false, "print CSV")
	return cmd
}

// usualTables are the names of the tables that the command report prints without the flag --by.
var usualTables = []string{"language", "source", "collection", "day"}

// printTables prints a report as text. It prints only the named table; if the name is "", it
// prints the usualTables and the table of sizes (see report.Size).
func printTables(out io.Writer, r *report.Report, by string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	tables := usualTables
	if by != "" {
		tables = []string{by}
	}
	for _, name := range tables {
		withAssets := r.Total.Assets > 0 && name != "language"
		assets := ""
		if withAssets {
			assets = "assets\tbytes\t"
		}
		fmt.Fprintf(w, "pages\tsites\tbytes\t%s  %s\n", assets, name)
		rows := *r.Table(name)
		for i, row := range append(slices.Clip(rows), r.Total) {
			if withAssets {
				assets = fmt.Sprintf("%d\t%s\t", row.Assets, bytesText(row.AssetBytes))
			}
			value := cmp.Or(row.Value, "-")
			if i == len(rows) {
				value = "all"
			}
			fmt.Fprintf(w, "%d\t%d\t%s\t%s  %s\n", row.Pages, row.Sites, bytesText(row.Bytes), assets, value)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if by == "" {
			fmt.Fprintln(out)
		}
	}
	if by != "" {
		return nil
	}
	for _, size := range r.Sizes {
		counted := ""
		if size.Unit != "" {
			counted = " (" + count(size.Count, size.Unit) + ")"
		}
		if _, err := fmt.Fprintf(out, "%10s  %s%s\n", bytesText(size.Bytes), size.What, counted); err != nil {
			return err
		}
	}
	return nil
}

// printTablesCSV prints a report as CSV (RFC 4180). The parameter by is the name of the only table to
// print, such as "site". If it is "", printTablesCSV prints all tables, and as a last table the sizes
// (see report.Size). The first column of a row is the name of its table, "size" for the sizes.
func printTablesCSV(out io.Writer, r *report.Report, by string) error {
	w := csv.NewWriter(out)
	write := func(table string, row report.Row) error {
		return w.Write([]string{table, row.Value, strconv.Itoa(row.Pages), strconv.Itoa(row.Sites), strconv.FormatInt(row.Bytes, 10),
			strconv.Itoa(row.Assets), strconv.FormatInt(row.AssetBytes, 10)})
	}
	err := w.Write([]string{"by", "value", "pages", "sites", "bytes", "assets", "asset_bytes"})
	tables := append(usualTables, "site")
	if by != "" {
		tables = []string{by}
	}
	for _, name := range tables {
		for _, row := range *r.Table(name) {
			err = errors.Join(err, write(name, row))
		}
	}
	if by == "" {
		for _, size := range r.Sizes {
			err = errors.Join(err, w.Write([]string{"size", size.What, "", "", strconv.FormatInt(size.Bytes, 10), "", ""}))
		}
	}
	w.Flush()
	return errors.Join(err, w.Error())
}
