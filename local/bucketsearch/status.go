package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/shared/census"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/local/datadir"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

func statusCommand(where *location) *cobra.Command {
	var asJSON bool
	var name string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say what became of every URL, and what the bucket holds",
		Long: "Status says what became of every URL, which pages are to be asked for again and when,\n" +
			"how many of a topic's pages are on it, what the bucket holds, how often up and crawl\n" +
			"have asked the object store for something since the data directory was made, and\n" +
			"how every function fares: alerts, vital signs of the last minutes, dead letters.",
		Example: "  bucketsearch status\n  bucketsearch status --json | jq .pending",
		Args:    nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			requests, err := datadir.ReadRequests(where.data)
			if err != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "bucketsearch:", err)
			}
			status, err := system.ReadStatus(cmd.Context(), a.Bucket, requests, name)
			if err != nil {
				return err
			}
			if err := a.AddLive(cmd.Context(), &status); err != nil {
				return err
			}
			health, err := a.ReadHealth(cmd.Context())
			if err != nil {
				return err
			}
			out := where.sentences(cmd.OutOrStdout(), asJSON)
			if asJSON {
				return printJSON(out, system.Report{Status: status, Health: health})
			}
			printStatus(out, status)
			printHealth(out, health)
			return nil
		}),
	}
	cmd.Flags().StringVar(&name, "collection", "", "count only the URLs of this collection, by its `name`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// tellUncounted says which share of the URLs is missing in the numbers of the status, if any is.
func tellUncounted(out io.Writer, s system.Status) {
	switch percent := int(100 * s.Uncounted); {
	case percent > 0:
		fmt.Fprintf(out, "some %d %% of the URLs are still being counted, and missing in these numbers\n", percent)
	case s.Uncounted > 0:
		fmt.Fprintln(out, "less than 1 % of the URLs are still being counted, and missing in these numbers")
	}
}

func printStatus(out io.Writer, s system.Status) {
	for _, fault := range s.Faults {
		fmt.Fprintf(out, "ALERT not counted here: %s\n", fault)
	}
	tellUncounted(out, s)
	fmt.Fprintf(out, "%s discovered\n", count(s.Discovered, "URL"))
	fmt.Fprintf(out, "%10d stored%s\n", s.Stored, ofAssets(s.Assets))
	printEach(out, s.Remarks)
	printReasons(out, "skipped", s.Skipped)
	printReasons(out, "failed", s.Failed)
	fmt.Fprintf(out, "%10d pending\n", s.Pending)
	printLive(out, s)
	printApart(out, s)
	if n := len(s.Crowded); n > 0 {
		fmt.Fprintf(out, "sitemaps of %s wait, for more than %d URLs wait there already, or %d in all: %s\n",
			count(n, "host"), s.MaxWaiting, frontier.WaitingFactor*s.MaxWaiting, strings.Join(s.Crowded[:min(n, 5)], ", "))
	}
	printSilent(out, s.Silent)
	for _, c := range s.Collections {
		printCollection(out, c)
	}
	fmt.Fprintf(out, "%s, %s, %s (%d ranked by links), %s\n", count(s.Packages, "package"), count(s.Segments, "segment"),
		count(s.Documents, "document"), s.Ranked, bytesText(s.Held))
	printUnvisited(out, s)
	printDictionaries(out, s.Dictionaries)
	if s.Requests == (system.Requests{}) { // functions on other machines asked it
		return
	}
	fmt.Fprintf(out, "object store so far: %d PUT, %d GET, %d LIST, %d DELETE, %d HEAD; %s read, %s written\n",
		s.Requests.Put, s.Requests.Get, s.Requests.List, s.Requests.Delete, s.Requests.Head,
		bytesText(s.Bytes.Read), bytesText(s.Bytes.Written))
}

// hostsShown is the greatest number of hosts that are being fetched and that printLive names.
const hostsShown = 5

// printLive prints how many processes fetch if there are several, and what they work on: hosts that are being fetched, or the next
// request, and the pages that cannot be searched yet.
func printLive(out io.Writer, s system.Status) {
	if s.Processes > 1 {
		fmt.Fprintf(out, "%d processes fetch for this bucket\n", s.Processes)
	}
	for _, h := range s.Fetching[:min(hostsShown, len(s.Fetching))] {
		fmt.Fprintf(out, "%14s %s\n", "", h.Text())
	}
	if more := len(s.Fetching) - hostsShown; more > 0 {
		fmt.Fprintf(out, "%14s and URLs of %s\n", "", count(more, "more host"))
	}
	if s.Next != nil {
		fmt.Fprintf(out, "%14s %s\n", "", system.Turn{Next: *s.Next}.Text(time.Now()))
	}
	if n := s.Unpacked + s.Unindexed; n > 0 {
		fmt.Fprintf(out, "%s cannot be searched yet: %d to be packed, %d to be indexed\n", count(n, "page"), s.Unpacked, s.Unindexed)
	}
}

// printUnvisited prints how many URLs without a stored page are found by the texts of links to them,
// if there are any, and how many more a limit has left out.
func printUnvisited(out io.Writer, s system.Status) {
	if s.Unvisited == 0 {
		return
	}
	var omitted []string
	if s.UnvisitedCut > 0 {
		omitted = []string{fmt.Sprintf("%d more, as there are too many", s.UnvisitedCut)}
	}
	fmt.Fprintf(out, "%s without a stored page, found by the texts of links to them%s\n", count(s.Unvisited, "URL"), without(omitted))
}

// dictionariesShown is the greatest number of pairs of languages that printDictionaries names.
const dictionariesShown = 10

// printDictionaries prints a line for each pair of languages that has dictionaries in both
// directions, at most dictionariesShown lines. A line has the sizes of the dictionaries and the
// number of pages that they were learnt from. If something was left out because of limits, the line
// ends with it, such as "without 200 of 1200 pages".
func printDictionaries(out io.Writer, dictionaries *manifest.Dictionaries) {
	if dictionaries == nil {
		return
	}
	shown := 0
	for _, d := range dictionaries.All {
		back := dictionaries.Between(d.To, d.From)
		if back == nil || d.From > d.To {
			continue
		}
		if shown++; shown > dictionariesShown {
			continue
		}
		fmt.Fprintf(out, "dictionaries between %s and %s: %d and %s, from %s with their translations%s\n",
			d.From, d.To, d.Terms, count(back.Terms, "word"), count(d.Pages, "page"), without(d.Omitted))
	}
	if more := shown - dictionariesShown; more > 0 {
		fmt.Fprintf(out, "dictionaries of %d more pairs of languages\n", more)
	}
	if len(dictionaries.Omitted) > 0 {
		fmt.Fprintf(out, "dictionaries were learnt%s\n", without(dictionaries.Omitted))
	}
}

// without returns a clause for the end of a status line. The clause names the parts left out
// because of limits, such as ", without 200 of 1200 pages"; it is "" if nothing was left out.
func without(omitted []string) string {
	if len(omitted) == 0 {
		return ""
	}
	return ", without " + strings.Join(omitted, ", ")
}

// printApart prints the numbers of two sorts of URLs that are not requested: pending URLs that a
// crawl with --only has left out, and URLs that no strategy assigns to a partition. Then it prints
// warnings about faults of published documents, such as strategies.
func printApart(out io.Writer, s system.Status) {
	if s.Only != nil {
		var names []string
		for _, c := range *s.Only {
			names = append(names, strings.Join(append([]string{c.Collection}, c.Seeds...), " "))
		}
		fmt.Fprintf(out, "%14d held back: crawled is only %s, until a crawl without --only\n", s.HeldBack, strings.Join(names, ", "))
	}
	if s.Unplaced > 0 {
		fmt.Fprintf(out, "%s in no partition, and not asked for: see the warnings\n", count(s.Unplaced, "URL"))
	}
	for _, warning := range s.Warnings {
		fmt.Fprintf(out, "warning: %s\n", warning)
	}
}

// silentShown is the greatest number of hosts that printSilent names.
const silentShown = 5

// printSilent prints a line for each of the first silentShown hosts that do not answer, and the
// number of the others.
func printSilent(out io.Writer, hosts []census.Silent) {
	for _, h := range hosts[:min(silentShown, len(hosts))] {
		fmt.Fprintf(out, "%s does not answer, or asks for rest: %s in a row", h.Host, count(h.Failures, "request"))
		if !h.Rest.IsZero() {
			fmt.Fprintf(out, ", no other before %s UTC", h.Rest.UTC().Format(timeForm))
		}
		fmt.Fprintln(out)
	}
	if more := len(hosts) - silentShown; more > 0 {
		fmt.Fprintf(out, "%s more do not answer\n", count(more, "host"))
	}
}

// ofAssets returns a clause that says how many of the stored URLs are assets; "" if n is 0.
func ofAssets(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them assets of pages", n)
}

// printCollection prints a line with the numbers of URLs of a collection.
func printCollection(out io.Writer, c system.CollectionStatus) {
	fmt.Fprintf(out, "collection %s: %d stored%s", c.Name, c.Stored, ofAssets(c.Assets))
	if pages := c.Stored - c.Assets; c.OnTopic != nil && pages > 0 {
		fmt.Fprintf(out, ", %d of the pages on topic (%d %%)", *c.OnTopic, 100**c.OnTopic/pages)
	}
	fmt.Fprintf(out, ", %d pending; to be asked again: %d", c.Pending, c.Due)
	if !c.Next.IsZero() {
		fmt.Fprintf(out, ", the next at %s UTC", c.Next.UTC().Format(timeForm))
	}
	if c.Schedule != "" {
		fmt.Fprintf(out, " (%s)", c.Schedule)
	}
	fmt.Fprintln(out)
}

// printReasons prints how many URLs are in a state, such as failed, and below that a line for each
// reason with the number of URLs that have this reason.
func printReasons(out io.Writer, state string, reasons map[string]int) {
	total := 0
	for _, n := range reasons {
		total += n
	}
	fmt.Fprintf(out, "%10d %s\n", total, state)
	printEach(out, reasons)
}

// printEach prints how many URLs have each reason, the most frequent reason first.
func printEach(out io.Writer, reasons map[string]int) {
	names := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		if reasons[a] != reasons[b] {
			return reasons[b] - reasons[a]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		fmt.Fprintf(out, "%14d %s\n", reasons[name], explained(name))
	}
}
