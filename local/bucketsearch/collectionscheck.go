package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/command/check"
	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

func checkCommand(where *location) *cobra.Command {
	var asJSON, allowPrivate bool
	var pages int
	cmd := &cobra.Command{
		Use:   "check FILE|NAME",
		Short: "Try a collection before it is crawled",
		Long: "Check reads a collection file, or takes a collection that is published, and asks for its\n" +
			"seeds, their robots.txt and sitemaps, as a crawl would. It says whether each seed leads to\n" +
			"a page that can be found, which of its links are followed and which are not, by which line\n" +
			"of the collection, and how long the crawl takes at least. Nothing is stored.\n\n" +
			"A name that ends in .toml or has a slash is a file. If a seed leads to no page, check ends\n" +
			"with exit code 1.",
		Example: "  bucketsearch collections check postgres.toml\n  bucketsearch collections check --pages 20 postgres",
		Args:    oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := where.collection(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			options, err := where.options()
			if err != nil {
				return err
			}
			options.AllowPrivate = allowPrivate
			bar := newBar(cmd.ErrOrStderr())
			report, err := system.Check(cmd.Context(), options, c, pages, func(done, total int) {
				bar.show(verify.Progress{Stage: "check", Done: int64(done), Total: int64(total)})
			})
			bar.end()
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), report)
			} else {
				printCheck(cmd.OutOrStdout(), report, c)
				printVerdict(where.sentences(cmd.OutOrStdout(), false), report.Unfound(), args[0])
			}
			if err == nil && len(report.Unfound()) > 0 {
				err = endBy(exitFailed)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	wholeVar(flags, &pages, "pages", "", 0, 0, check.MaxPages, "look at `n` more pages to which the seeds lead")
	flags.BoolVar(&allowPrivate, "allow-private", false, "ask addresses that are not public, too, such as 127.0.0.1")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// isPath reports whether the argument of check is the path of a collection file, and not the name of a
// collection.
func isPath(arg string) bool {
	return strings.HasSuffix(arg, ".toml") || strings.ContainsAny(arg, `/\`)
}

// collection returns the collection that a file describes, or the published one with a name.
func (l *location) collection(ctx context.Context, arg string) (c collection.Collection, err error) {
	if isPath(arg) {
		c, err = collection.ReadFile(arg)
		return c, misuse(err)
	}
	if err := collection.ValidName(arg); err != nil {
		return c, misuse(fmt.Errorf("%w; a file ends in .toml", err))
	}
	bucket := opener{where: l}
	err = bucket.use(ctx, func(b *openBucket) error {
		inForce, err := b.Settings.Get(ctx)
		if err != nil {
			return err
		}
		if c = inForce.Collection(arg); c.Version == 0 {
			return noCollection(arg)
		}
		return nil
	})
	return c, err
}

// printCheck prints the report of a check of the collection c.
func printCheck(out io.Writer, r *check.Report, c collection.Collection) {
	for i := range r.Pages {
		printChecked(out, &r.Pages[i])
	}
	for _, s := range r.Sitemaps {
		fmt.Fprintf(out, "\nsitemap %s\n", s.URL)
		if !s.Found {
			say(out, "answer", "%s", reasoned(s.Reason, s.Detail))
		} else if s.Detail != "" {
			say(out, "answer", "%s", s.Detail)
		}
		printGroups(out, s.Links, "lists")
	}
	fmt.Fprintln(out)
	for _, h := range r.Hosts {
		printHost(out, h, c)
	}
	printTime(out, r, c)
	for _, note := range r.Notes {
		say(out, "note", "%s", note)
	}
}

// printVerdict says whether all seeds lead to pages. The parameter arg is the argument of the
// command.
func printVerdict(out io.Writer, unfound []string, arg string) {
	switch {
	case len(unfound) == 1:
		fmt.Fprintln(out, "1 seed leads to no page that can be found.")
	case len(unfound) > 1:
		fmt.Fprintf(out, "%d seeds lead to no page that can be found.\n", len(unfound))
	case isPath(arg):
		fmt.Fprintf(out, "All seeds lead to pages. To crawl them: bucketsearch crawl --collection %s\n", quoted(arg))
	default:
		fmt.Fprintln(out, "All seeds lead to pages.")
	}
}

// say prints a topic and what is said about it.
func say(out io.Writer, topic, format string, args ...any) {
	fmt.Fprintf(out, "  %-9s %s\n", topic, printable(fmt.Sprintf(format, args...)))
}

// reasoned returns a reason with its explanation, and the detail if there is one.
func reasoned(reason, detail string) string {
	if detail == "" {
		return explained(reason)
	}
	return explained(reason) + "; " + detail
}

func printChecked(out io.Writer, p *check.Page) {
	kind := "page"
	switch {
	case p.Seed:
		kind = "seed"
	case p.From != "":
		kind = "then"
	}
	fmt.Fprintf(out, "%s %s\n", kind, p.URL)
	answer := p.State
	if p.IsStored() {
		answer = "a page"
	}
	if p.Status != 0 {
		answer += fmt.Sprintf(", status %d", p.Status)
	}
	if p.MIME != "" {
		answer += ", " + p.MIME
	}
	if p.Language != "" {
		answer += ", in " + p.Language + " (" + p.LangSource + ")"
	}
	if p.Title != "" {
		answer += fmt.Sprintf(", %q", p.Title)
	}
	say(out, "answer", "%s", answer)
	if p.Reason != "" {
		say(out, "because", "%s", reasoned(p.Reason, p.Detail))
	}
	switch {
	case p.To != "" && p.Refused != "":
		say(out, "leads to", "%s, which the collection refuses: %s", p.To, explained(p.Refused))
	case p.To != "":
		say(out, "leads to", "%s", p.To)
	}
	for _, warning := range []struct {
		holds bool
		text  string
	}{
		{p.NoIndex, "the page asks not to be found (noindex), so no search shows it"},
		{p.NoFollow, "the page asks not to follow its links (nofollow)"},
		{p.WrongLanguage, "no search shows it, because language of the collection is another"},
		{p.IsStored() && len(p.Links) == 0 && !p.NoFollow, "it has no links" + map[bool]string{true: " without scripts"}[p.Reason == book.NeedsScripts]},
	} {
		if warning.holds {
			say(out, "warning", "%s", warning.text)
		}
	}
	printGroups(out, p.Links, "follows")
}

// printGroups prints groups of links. The verb says what happens to admitted links.
func printGroups(out io.Writer, groups []check.Group, verb string) {
	for _, g := range groups {
		what, why := verb, g.Rule
		if g.Reason != "" {
			what, why = "refuses", explained(g.Reason)
			if g.Rule != "" {
				why = g.Reason + " by " + g.Rule
			}
		} else if why != "" {
			why = "by " + why
		}
		say(out, what, "%s: %s", count(g.Count, "link"), cmp.Or(why, "admitted"))
		for _, example := range g.Examples {
			say(out, "", "  %.200s", example)
		}
	}
}

func printHost(out io.Writer, h check.Host, c collection.Collection) {
	answered := "not answered"
	if h.Robots != 0 {
		answered = fmt.Sprintf("status %d", h.Robots)
	}
	text := fmt.Sprintf("robots.txt %s; %s between requests", answered, spanOf(h.Delay))
	if h.Delay > time.Duration(c.Delay).Seconds() {
		text += ", as robots.txt asks"
	}
	if h.Answer > 0 {
		text += fmt.Sprintf("; an answer takes %s", spanOf(h.Answer))
	}
	say(out, "host", "%s: %s", h.Name, text)
}

func printTime(out io.Writer, r *check.Report, c collection.Collection) {
	if r.Listed > 0 {
		say(out, "time", "at least %s for %s that the sitemaps name", spanOf(r.Seconds), count(r.Listed, "page"))
		return
	}
	longest := 0.0
	for _, h := range r.Hosts {
		longest = max(longest, h.Page)
	}
	if longest > 0 {
		say(out, "time", "no sitemap tells how many pages there are; each 1000 pages of a host take at least %s", spanOf(1000*longest/float64(c.HostConnections)))
	}
}

// spanOf returns a time in words, such as "1s" or "2h13m".
func spanOf(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d < time.Minute {
		return literal.Span(d.Round(time.Millisecond))
	}
	return strings.TrimSuffix(literal.Span(d.Round(time.Second)), "0s")
}
