package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/curation"
)

func curateCommand(where *location) *cobra.Command {
	var show, remove bool
	cmd := &cobra.Command{
		Use:   "curate FILE",
		Short: "Set synonyms, pinned and banned results",
		Long: "Curate publishes a TOML file that improves the results of searches, in place of the one\n" +
			"before. A running system notices within a minute; searches of past moments use it, too.\n\n" +
			"  [[synonyms]]\n" +
			"  words = [\"postgres\", \"postgresql\", \"pg\"]   # each finds the others\n" +
			"  [[synonyms]]\n" +
			"  words = [\"k8s\"]                            # one way: k8s finds kubernetes, too\n" +
			"  also = [\"kubernetes\", \"container clusters\"]\n" +
			"  [[pins]]\n" +
			"  queries = [\"download\", \"get postgres\"]     # whole queries, in any case\n" +
			"  pages = [\"https://example.org/download\"]   # come first, in this order\n" +
			"  [[bans]]\n" +
			"  queries = [\"install\"]                      # without queries: hidden for all\n" +
			"  pages = [\"https://example.org/old/*\"]      # a * at the end: all that begin so\n\n" +
			"Banned pages are only hidden from results: they stay stored, and are crawled. To erase\n" +
			"a page: bucketsearch forget.",
		Example: "  bucketsearch curate search.toml\n  bucketsearch curate --show > search.toml\n  bucketsearch curate --remove",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case show && remove:
				return errors.New("curate shows or removes; give one of --show and --remove")
			case show || remove:
				return nothing(cmd, args)
			case len(args) != 1:
				return errors.New("curate needs one file, such as: bucketsearch curate search.toml")
			}
			return nil
		},
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			switch {
			case show:
				return showCuration(cmd, a)
			case remove:
				return removeCuration(cmd, a)
			}
			d, err := readCuration(args[0])
			if err != nil {
				return err
			}
			version, err := curation.Publish(cmd.Context(), a.Bucket, d)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Version %d has %s of synonyms, %s and %s.\n", version,
				count(len(d.Synonyms), "set"), count(len(d.Pins), "pin"), count(len(d.Bans), "ban"))
			return warnOfPins(cmd, a, d)
		}),
	}
	cmd.Flags().BoolVar(&show, "show", false, "print what is in force, as such a file")
	cmd.Flags().BoolVar(&remove, "remove", false, "take all synonyms, pins and bans away")
	return cmd
}

// readCuration reads a file of at most curation.MaxBytes.
func readCuration(name string) (curation.Document, error) {
	content, err := readAtMost(name, curation.MaxBytes)
	if err != nil {
		return curation.Document{}, err
	}
	return curation.Parse(name, content)
}

func showCuration(cmd *cobra.Command, a *system.Attached) error {
	d, version, err := curation.Load(cmd.Context(), a.Bucket)
	if err != nil {
		return err
	}
	if d.IsEmpty() {
		fmt.Fprintln(cmd.ErrOrStderr(), "There are no synonyms, pins and bans.")
		return nil
	}
	content, err := d.TOML()
	if err == nil {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "# version %d\n%s", version, content)
	}
	return err
}

func removeCuration(cmd *cobra.Command, a *system.Attached) error {
	if _, err := curation.Publish(cmd.Context(), a.Bucket, curation.Document{}); err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), "There are no synonyms, pins and bans any more.")
	return nil
}

// maxWarned is the greatest number of pinned pages that warnOfPins names.
const maxWarned = 10

// warnOfPins warns of pinned pages that searches cannot show.
func warnOfPins(cmd *cobra.Command, a *system.Attached, d curation.Document) error {
	e, err := openEngine(a)
	if err != nil {
		return err
	}
	absent, err := e.Unindexed(cmd.Context(), d.Pinned())
	if err != nil {
		return fmt.Errorf("it is published, but whether its pinned pages are indexed is not known: %w", err)
	}
	for _, page := range absent[:min(len(absent), maxWarned)] {
		fmt.Fprintf(cmd.ErrOrStderr(), "Warning: %s is pinned, but it is not indexed, so it is left out until it is. To see why: bucketsearch why %s\n", page, quoted(page))
	}
	if more := len(absent) - maxWarned; more > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "Warning: nor are %d other pinned pages, such as %s.\n", more, strings.Join(absent[maxWarned:min(len(absent), maxWarned+3)], ", "))
	}
	return nil
}
