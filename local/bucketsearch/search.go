package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/local/memory"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// maxResults is the maximum number of results that one search prints.
const maxResults = 1000

func searchCommand(where *location) *cobra.Command {
	var asJSON bool
	var q engine.Query
	var explain, order string
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Search what has been indexed",
		Long: "Search prints the best pages. Words are joined by OR, and pages with all of them\n" +
			"come first; \"quoted words\" must stand together, +word must occur, -word must not;\n" +
			"word* begins so, word~ is written much like it; (this OR that) is one of both, and\n" +
			"intitle:word, inurl:word and inanchor:word must occur there. Filters may also stand\n" +
			"in the query: site:example.org lang:de type:pdf collection:news after:2026-01-31,\n" +
			"and link:https://example.org/page for the pages that link to it.\n" +
			"Without words they list what they hold, the newest first.\n" +
			"type:image finds images, by what pages tell of them. An address as the query\n" +
			"finds its page first, also by the addresses that lead to it. Of a page in many\n" +
			"languages, those of the locale (LANG) come first, except with --json.",
		Example: "  bucketsearch search connection pool\n  bucketsearch search -n 3 '\"foreign key\" -mysql'\n" +
			"  bucketsearch search --json --explain cost vacuum\n  bucketsearch search sunset type:image\n  bucketsearch search --asof 2026-11-21T09:30:00Z vacuum",
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return errors.New("search needs words to look for, such as: bucketsearch search connection pool")
			}
			return nil
		},
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			q.Text, q.Fold, q.Spread = strings.Join(args, " "), true, !asJSON
			if !asJSON {
				q.Reader = localeLanguages(os.Getenv)
			}
			switch explain {
			case "":
			case "score":
				q.Explain = true
			case "cost":
				q.Cost = true
			default:
				return misuse(literal.Wrong("--explain", explain, "score or cost"))
			}
			if q.ByDate = order == "date"; !q.ByDate && order != "" {
				return literal.Wrong("--sort", order, "date")
			}
			e, err := openEngine(a)
			if err != nil {
				return err
			}
			found, err := e.Search(cmd.Context(), q)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return printJSON(out, found.Answer())
			}
			printResult(out, found, styleOf(out), where)
			return printFacets(out, found.Facets)
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	wholeVar(flags, &q.Size, "number", "n", 10, 1, maxResults, "print at most `n` results")
	flags.StringArrayVar(&q.Site, "site", nil, "only pages of this `site`; may be repeated, as the filters below")
	flags.StringArrayVar(&q.Lang, "lang", nil, "only pages in this `language`, such as de")
	flags.StringArrayVar(&q.Collection, "collection", nil, "only pages of this `collection`")
	flags.StringArrayVar(&q.Type, "type", nil, "only pages of this `media type`, such as text/html")
	acrossVar(flags, &q.Across.Into, "also find pages in these `languages`, as de,fr, by translation")
	timeVar(flags, &q.After, "after", "only pages dated this `day` or later, such as 2026-11-21")
	timeVar(flags, &q.Before, "before", "only pages dated before this `day`")
	flags.StringVar(&order, "sort", "", "sort results by `key`: date puts the newest first")
	flags.StringArrayVar(&q.Facets, "facet", nil, "count by `name`: site, lang, collection, type, year")
	asofVar(flags, &q.AsOf, "answer from the state of this `time`, of the last seven days")
	flags.StringVar(&explain, "explain", "", "tell how `what` came about: score or cost")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		told := flagError(cmd, err)
		if _, none := errors.AsType[*pflag.NotExistError](err); none {
			told = fmt.Errorf("%w; a query in which a word begins with - goes in quotes behind --: bucketsearch search -- 'pool -mysql'", told)
		}
		return told
	})
	return cmd
}

// openEngine returns a query engine on the bucket, for use by one command.
func openEngine(a *system.Attached) (*engine.Engine, error) {
	return engine.New(a.Bucket, engine.Options{
		Settings: a.Settings, Age: time.Minute, Now: time.Now,
		Memory: memory.Cache(engine.DefaultMemory),
		Log:    slog.New(slog.DiscardHandler), // the result says what is missing
	})
}

// style holds the escape sequences that colour parts of a result on a terminal; all are
// empty if the output is no terminal.
type style struct{ title, url, match, faint, off string }

func styleOf(out io.Writer) style {
	if terminalOf(out) == nil || os.Getenv("NO_COLOR") != "" {
		return style{}
	}
	return style{title: "\x1b[1;34m", url: "\x1b[32m", match: "\x1b[1;33m", faint: "\x1b[2m", off: "\x1b[0m"}
}

func printResult(out io.Writer, r engine.Result, s style, where *location) {
	for i, hit := range r.Hits {
		if hit.Image != nil {
			printImage(out, i+1, hit, r.Copies, s)
			continue
		}
		title := hit.Title
		if title == "" {
			title = hit.URL
		}
		fmt.Fprintf(out, "%2d. %s%s%s\n    %s%s%s", i+1, s.title, printable(title), s.off, s.url, hit.URL, s.off)
		if !hit.Date.IsZero() {
			fmt.Fprintf(out, " %s(%s)%s", s.faint, hit.Date.Format(time.DateOnly), s.off)
		}
		fmt.Fprintln(out)
		if hit.Section != nil {
			printSection(out, *hit.Section, s)
		}
		if len(hit.Snippet) > 0 {
			printSnippet(out, hit.Snippet, s)
		}
		for _, section := range hit.Further {
			printSection(out, section, s)
		}
		if n := len(hit.Alike); n > 0 {
			fmt.Fprintf(out, "    %sand %s alike (dup:all shows them)%s\n", s.faint, count(n, "page"), s.off)
		}
		if hit.Pinned {
			fmt.Fprintf(out, "    %spinned for this query%s\n", s.faint, s.off)
		}
		if hit.Unvisited {
			fmt.Fprintf(out, "    %snot visited: links to it say this%s\n", s.faint, s.off)
		}
		if hit.Across != "" {
			fmt.Fprintf(out, "    %sfound by translation into %s%s\n", s.faint, hit.Across, s.off)
		}
		if hit.MoreOfSite > 0 {
			fmt.Fprintf(out, "    %s%s more from this site further down (site:%s)%s\n", s.faint, count(hit.MoreOfSite, "page"), hit.Site, s.off)
		}
		if hit.Explanation != nil {
			printExplanation(out, *hit.Explanation, "      ")
		}
	}
	switch {
	case r.Lost != nil:
		fmt.Fprintln(out, where.complete(r.Lost.Error()))
	case r.Incomplete:
		fmt.Fprintln(out, where.complete("Some pages are missing: a part of the index is damaged. To mend it: bucketsearch verify --repair"))
	}
	if r.Partial {
		fmt.Fprintln(out, "Time ran out before everything was searched.")
	}
	for _, note := range r.Notes {
		fmt.Fprintln(out, note)
	}
	for _, t := range r.Translations() {
		printTranslation(out, t)
	}
	if m := r.Meant; m != nil {
		fmt.Fprintf(out, "Did you mean %s%s%s (%s)?\n", s.title, m.Text, s.off, amount(m.Total, m.Exact, r.Images))
	}
	fmt.Fprintf(out, "%s%s (%.1f ms)%s\n", s.faint, matches(r.Total, r.Exact, r.Images), float64(r.Took.Microseconds())/1000, s.off)
	if c := r.Cost; c != nil {
		fmt.Fprintf(out, "%s%d requests, %d bytes, %d steps one after another, %d ranges from the cache, $%.7f%s\n",
			s.faint, c.Requests, c.Bytes, c.DependentSteps, c.CacheHits, c.USD, s.off)
	}
}

// printTranslation prints how the query was translated into a language.
func printTranslation(out io.Writer, t engine.Translation) {
	fmt.Fprintf(out, "Translated from %s to %s:", t.From, t.To)
	for i, w := range t.Words {
		if i > 0 {
			fmt.Fprint(out, ";")
		}
		fmt.Fprintf(out, " %s → %s", w.Word, cmp.Or(strings.Join(w.As, ", "), "as it stands"))
	}
	fmt.Fprintln(out, ".")
}

// printImage prints the n-th hit of a search for images: the image, and the page that shows it.
// If the map copies (see engine.Result.Copies) has the address of the image, printImage also
// says that the image is stored.
func printImage(out io.Writer, n int, hit search.Hit, copies map[string]string, s style) {
	fmt.Fprintf(out, "%2d. %s", n, s.title)
	for _, f := range hit.Image.Marked {
		fmt.Fprint(out, printable(f.Text))
	}
	fmt.Fprintf(out, "%s\n    %s%s%s\n", s.off, s.url, hit.Image.URL, s.off)
	if len(hit.Snippet) > 0 {
		printSnippet(out, hit.Snippet, s)
	}
	fmt.Fprintf(out, "    on %s%s%s", s.url, hit.URL, s.off)
	if n := len(hit.Image.Also); n > 0 {
		fmt.Fprintf(out, " and %s", count(n, "more page"))
	}
	if copies[hit.Image.URL] != "" {
		fmt.Fprintf(out, " %s(stored)%s", s.faint, s.off)
	}
	fmt.Fprintln(out)
	if hit.Explanation != nil {
		printExplanation(out, *hit.Explanation, "      ")
	}
}

func printFacets(out io.Writer, facets []search.Facet) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range facets {
		about := ""
		if f.Sampled {
			about = " (estimated from a sample)"
		}
		fmt.Fprintf(w, "%s%s\n", f.Name, about)
		for _, c := range f.Values {
			fmt.Fprintf(w, "  %s\t%d\n", cmp.Or(c.Value, "none"), c.Documents)
		}
	}
	return w.Flush()
}

// printSection prints a section of a hit's page: its heading and its address.
func printSection(out io.Writer, section search.Section, s style) {
	fmt.Fprintf(out, "    › %s %s%s%s\n", printable(section.Heading), s.url, section.URL, s.off)
}

func printSnippet(out io.Writer, snippet []search.Fragment, s style) {
	fmt.Fprint(out, "    ")
	for _, f := range snippet {
		if f.Match {
			fmt.Fprint(out, s.match, printable(f.Text), s.off)
		} else {
			fmt.Fprint(out, printable(f.Text))
		}
	}
	fmt.Fprintln(out)
}

func matches(n int, exact, images bool) string {
	if n == 1 && exact {
		return amount(n, exact, images) + " matches"
	}
	return amount(n, exact, images) + " match"
}

// amount returns a number of results with their unit, such as "at least 1024 pages".
func amount(n int, exact, images bool) string {
	what := "page"
	if images {
		what = "image"
	}
	if !exact {
		return fmt.Sprintf("at least %d %ss", n, what)
	}
	return count(n, what)
}

// printExplanation prints an explained score as a tree: below each sum its parts, indented
// by two spaces more.
func printExplanation(out io.Writer, e search.Explanation, indent string) {
	fmt.Fprintf(out, "%s%.4f %s\n", indent, e.Value, e.What)
	for _, part := range e.Parts {
		printExplanation(out, part, indent+"  ")
	}
}
