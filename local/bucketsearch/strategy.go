package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

func strategyCommand(where *location) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "strategy",
		Short: "Show or publish how the work is divided",
		Long: "Strategy shows and publishes the rules that divide the work: those of kind crawl say\n" +
			"which partition asks for a URL, those of kind storage which one keeps its pages. A\n" +
			"version holds for what is found and stored from then on; what is stored stays where\n" +
			"it is, and is found. Everybody follows within a minute, also while a crawl runs.",
		Example: "  bucketsearch strategy split storage 0\n  bucketsearch strategy join storage 1 0\n  bucketsearch strategy show storage > rules.json\n  bucketsearch strategy publish rules.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("strategy cannot %s; want list, show, publish, share, split or join", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(listStrategyCommand(where), showStrategyCommand(where), publishStrategyCommand(where), shareStrategyCommand(where),
		splitStrategyCommand(where), joinStrategyCommand(where))
	return cmd
}

var kinds = []rules.Kind{rules.Crawl, rules.Storage}

// kindOf parses the kind of a strategy, "crawl" or "storage".
func kindOf(text string) (rules.Kind, error) {
	if kind := rules.Kind(text); slices.Contains(kinds, kind) {
		return kind, nil
	}
	return "", fmt.Errorf("there is no %q strategy; want %s or %s", text, rules.Crawl, rules.Storage)
}

func showStrategyCommand(where *location) *cobra.Command {
	return &cobra.Command{
		Use:   "show KIND",
		Short: "Print the version in force as JSON",
		Args:  needs(1, "its kind", string(rules.Storage)),
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			kind, err := kindOf(args[0])
			if err != nil {
				return err
			}
			history, err := rules.LoadInForce(cmd.Context(), a.Bucket, kind, time.Now(), new(rules.Kept))
			if err != nil {
				return err
			}
			for _, warning := range history.Warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", warning)
			}
			return printJSON(cmd.OutOrStdout(), history.InForce)
		}),
	}
}

func publishStrategyCommand(where *location) *cobra.Command {
	return &cobra.Command{
		Use:   "publish FILE",
		Short: "Publish a next version",
		Long: "Publish reads what show prints (- is the standard input) and publishes it as the next\n" +
			"version of its kind. Its version is given by the bucket; without \"from\" it holds from\n" +
			"now on. Rules whose ranges have holes or overlaps are refused.",
		Args: needs(1, "one file of rules", "rules.json"),
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			d, err := readStrategy(cmd.InOrStdin(), args[0])
			if err != nil {
				return fmt.Errorf("cannot read %s: %w", args[0], err)
			}
			return publishStrategy(cmd, a, d)
		}),
	}
}

func shareStrategyCommand(where *location) *cobra.Command {
	return &cobra.Command{
		Use:   "share KIND PARTITIONS",
		Short: "Publish a next version of equal shares",
		Args:  needs(2, "a kind and a number of partitions", string(rules.Storage)+" 4"),
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			kind, err := kindOf(args[0])
			if err != nil {
				return err
			}
			partitions, err := literal.Whole("PARTITIONS", args[1], 1, rules.MaxPartitions)
			if err != nil {
				return err
			}
			return publishStrategy(cmd, a, rules.Even(kind, int(partitions), time.Now()))
		}),
	}
}

func publishStrategy(cmd *cobra.Command, a *system.Attached, d rules.Document) error {
	published, err := rules.PublishNext(cmd.Context(), a.Bucket, d, time.Now())
	if err != nil {
		return err
	}
	return sayStrategy(cmd, published)
}

func sayStrategy(cmd *cobra.Command, published rules.Document) error {
	fmt.Fprintf(cmd.OutOrStdout(), "The %s holds from %s, for %s.\n", &published, published.From.Format(time.RFC3339), count(len(published.Partitions()), "partition"))
	return nil
}

// readStrategy reads a strategy from the named file. If the name is "-", it reads standard input
// instead.
func readStrategy(in io.Reader, name string) (d rules.Document, err error) {
	var content []byte
	if name == "-" {
		content, err = io.ReadAll(io.LimitReader(in, rules.MaxBytes+1))
	} else {
		content, err = os.ReadFile(name)
	}
	if err != nil {
		return d, err
	}
	if len(content) > rules.MaxBytes {
		return d, fmt.Errorf("more than %d bytes", rules.MaxBytes)
	}
	return d, literal.JSON(content, &d)
}
