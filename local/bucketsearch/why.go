package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/command/why"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/text/language"
)

func whyCommand(where *location) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why URL",
		Short: "Tell the whole story of one URL",
		Long: "Why tells where a URL was found, which rule admits it, when it was asked for,\n" +
			"where it is packed and indexed, or why not.",
		Example: "  bucketsearch why https://example.org/missing.html\n  bucketsearch why --json example.org | jq .asked",
		Args:    oneAddress,
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			wanted, err := addresses(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			story, url, err := storyOf(cmd.Context(), a, wanted)
			if err != nil {
				return err
			}
			waits, err := waitingReason(cmd, a, story, url)
			if err != nil {
				return err
			}
			story.URL = address.Shown(story.URL)
			if asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					why.Story
					Frontier string `json:"frontier,omitempty"`
				}{story, waits})
			}
			printStory(cmd.OutOrStdout(), story, waits, where)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// storyOf looks for the wanted addresses, one after another, in the records of the bucket. It
// returns the first address that is recorded, and its story: what became of this URL, and why
// (see why.Story). If none is recorded, it returns the first address and an empty story.
func storyOf(ctx context.Context, a *system.Attached, wanted []address.Address) (story why.Story, url address.Address, err error) {
	inForce, err := a.Settings.Get(ctx)
	if err != nil {
		return story, url, err
	}
	for _, url := range wanted {
		told, err := why.Tell(ctx, a.Bucket, inForce, url)
		if err != nil || told.State != "" || !told.Forgotten.IsZero() {
			return told, url, err
		}
		if story.URL == "" {
			story = told
		}
	}
	return story, wanted[0], nil
}

// waitingReason returns a text that says why a pending URL waits. It reads the frontier of the
// running system. It returns "" if no system runs, if the URL is not pending, or if no
// collection admits it.
func waitingReason(cmd *cobra.Command, a *system.Attached, story why.Story, url address.Address) (string, error) {
	if a.Redis == nil || story.Admitted == nil || story.State != account.Pending {
		return "", nil
	}
	front := frontier.New(a.Redis, story.Admitted.Crawl).WithRuns(a.Bucket)
	text, err := front.Describe(cmd.Context(), url)
	if err != nil {
		return "", err
	}
	host, err := a.HostWaits(cmd.Context(), story.Admitted.Crawl, url)
	if host != "" {
		text += "; " + host
	}
	if err != nil || !story.Admitted.Sitemap {
		return text, err
	}
	inForce, err := a.Settings.Get(cmd.Context())
	if err != nil {
		return "", err
	}
	crowded, err := front.Crowded(cmd.Context())
	if err == nil && slices.Contains(crowded, url.Host) {
		text += fmt.Sprintf("; it is a sitemap, and more than %d URLs of its host, or %d in all, wait already: it is read when fewer do",
			inForce.MaxWaiting(), frontier.WaitingFactor*inForce.MaxWaiting())
	}
	return text, err
}

// foundShown is the maximum number of links to a URL that printStory prints.
const foundShown = 5

func printStory(out io.Writer, s why.Story, waits string, where *location) {
	tell := func(topic, format string, args ...any) {
		fmt.Fprintf(out, "%-10s%s\n", topic, printable(fmt.Sprintf(format, args...)))
	}
	fmt.Fprintln(out, s.URL)
	switch {
	case !s.Forgotten.IsZero():
		tell("forgotten", "since %s; nothing else is kept of it", s.Forgotten.Format(timeForm))
		return
	case s.State == "" && len(s.Problems) > 0:
		tell("unknown", "nothing that can be read tells of it, and not all can be read")
	case s.State == "":
		tell("unknown", "no seed and no link that was found leads to it (links with rel=nofollow are not recorded)")
	case s.Reason != "":
		tell("state", "%s: %s", s.State, explained(s.Reason))
	default:
		tell("state", "%s", s.State)
	}
	if !s.Hidden.IsZero() {
		tell("hidden", "since %s by forget; to take that back: %s", s.Hidden.Format(timeForm), where.complete("bucketsearch forget --undo, with the address or the site"))
	}
	for _, name := range s.Seed {
		tell("found", "seed of collection %s", name)
	}
	shown := s.Found[:min(foundShown, len(s.Found))]
	for _, f := range shown {
		if f.Kind == book.Listed && f.On == s.URL { // see package ingest
			tell("found", "in an imported file, at depth %d: %s", f.Depth, f.Decision)
			continue
		}
		text := ""
		if f.Text != "" {
			text = fmt.Sprintf(" %.60q", f.Text)
		}
		tell("found", "%s%s on %s, at depth %d: %s", f.Kind, text, f.On, f.Depth, f.Decision)
	}
	if more := s.Links - len(shown); more > 0 {
		tell("", "and %s, not shown", count(more, "more link"))
	}
	if r := s.Admitted; r != nil {
		tell("admitted", "by seed %s (scope %s%s) of collection %s, version %d; crawl partition %d, storage partition %d",
			r.Seed, r.Scope, within(r.Within), r.Collection, r.Version, r.Crawl, r.Storage)
	}
	printAsked(tell, s.Asked)
	if waits != "" {
		tell("frontier", "%s", waits)
	}
	printStored(tell, s)
	for _, problem := range s.Problems {
		tell("problem", "%s", where.complete(problem))
	}
}

// within returns words that say how many links a crawl follows from a seed, such as " within 2
// links"; "" if the depth is unlimited.
func within(links int) string {
	if links == collection.Unlimited {
		return ""
	}
	return " within " + count(links, "link")
}

func printAsked(tell func(string, string, ...any), asked []why.Asked) {
	for _, a := range asked {
		became := a.State.String()
		if a.State == book.Unchanged && a.Reason != "" {
			became = "not to be had, and kept as it was stored"
			if a.Status/100 == 4 {
				became += " until that comes a second time in a row"
			}
		}
		if a.Reason != "" {
			became += ": " + a.Reason
		}
		if a.Detail != "" {
			became += " (" + a.Detail + ")"
		}
		if a.Status != 0 {
			became += fmt.Sprintf(", status %d", a.Status)
		}
		where := "in the books"
		if !a.Packed {
			where = "waits to be packed"
		}
		tell("asked", "%s, batch %s, attempt %d: %s; %s", a.At.UTC().Format(timeForm), a.Batch, a.Attempt, became, where)
	}
}

func printStored(tell func(string, string, ...any), s why.Story) {
	at := s.Stored
	switch {
	case at == nil:
		return
	case at.MIME == "":
		tell("packed", "%s at byte %d, %d bytes long", at.Package, at.Offset, at.Length)
	default:
		tell("packed", "%s at byte %d: %s of %s, %d bytes compressed", at.Package, at.Offset, at.MIME, bytesText(int64(at.Bytes)), at.Length)
	}
	switch {
	case at.Segment != "":
		tell("indexed", "%s as %q, %s", at.Segment, at.Title, languageOf(at))
	case !at.Indexed:
		tell("indexed", "not yet: its package waits for index")
	default:
		tell("indexed", "no: it holds no text that could be searched")
	}
}

// languageOf returns a text with the language of an indexed page, and how it is known: "in de,
// by its text".
func languageOf(at *why.Stored) string {
	switch {
	case at.Lang == "" && at.Source == "":
		return "in an unknown language"
	case at.Source == string(language.Declared):
		return "in " + at.Lang + ", as it declares"
	case at.Source == string(language.Guessed):
		return "in " + at.Lang + ", by its text"
	case at.Source == string(language.Overruled):
		return "in " + cmp.Or(at.Lang, "an unknown language") + " by its text, not as it declares"
	}
	return "in " + at.Lang
}
