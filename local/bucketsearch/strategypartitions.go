package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

func listStrategyCommand(where *location) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List what the storage partitions have",
		Long: "List prints a line for each storage partition that any version of the strategy names:\n" +
			"the part of all sites whose new pages it gets by ranges, and what it has stored.",
		Args: nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			inForce, err := settings.Read(cmd.Context(), a.Bucket, time.Now())
			if err != nil {
				return err
			}
			all := inForce.Partitions()
			lines := make([]string, len(all)) // no manifest is kept: those of all partitions may be large together
			group, ctx := errgroup.WithContext(cmd.Context())
			group.SetLimit(readAtOnce)
			for i, p := range all {
				group.Go(func() error {
					m, err := partition.Read(ctx, a.Bucket, p)
					lines[i] = lineOf(&m, inForce.Storage.Ranges(int(p)))
					return err
				})
			}
			if err := group.Wait(); err != nil {
				return err
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "partition\tof all sites\tstored pages\tsearchable\tpackages\tsegments\tsize")
			for i, p := range all {
				fmt.Fprintf(table, "%d\t%s\n", p, lines[i])
			}
			return table.Flush()
		}),
	}
}

// lineOf returns the columns of a partition that follow its number. It gets new pages of the given ranges.
func lineOf(m *manifest.Manifest, ranges []layout.Range) string {
	share, pages, searchable := 0.0, 0, 0
	for _, r := range ranges {
		share += r.Width()
	}
	for _, p := range m.Packages {
		pages += p.Pages
	}
	for _, s := range m.Segments {
		searchable += s.Live()
	}
	return fmt.Sprintf("%.1f %%\t%d\t%d\t%d\t%d\t%s", 100*share/layout.Range{}.Width(), pages, searchable, len(m.Packages), len(m.Segments), bytesText(m.Bytes()))
}

// readAtOnce is the greatest number of manifests that are read at the same time.
const readAtOnce = 16

func splitStrategyCommand(where *location) *cobra.Command {
	return &cobra.Command{
		Use:   "split KIND PARTITION",
		Short: "Give half of a partition to a new one",
		Long: "Split publishes a next version in which a new partition has half of the sites of a\n" +
			"partition, by what the books have about them. Of kind storage, new pages of these sites\n" +
			"are stored in the new partition; those stored before stay in the old one, and are found\n" +
			"there. The crawl goes on meanwhile. Of kind crawl, the queues of the two partitions are\n" +
			"built anew, and no others. Until they are, nothing further is requested.",
		Example: "  bucketsearch strategy split storage 0",
		Args:    needs(2, "a kind and a partition", string(rules.Storage)+" 0"),
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			kind, partitions, err := parsePartitions(args)
			if err != nil {
				return err
			}
			now := time.Now()
			inForce, err := settings.Read(cmd.Context(), a.Bucket, now)
			if err != nil {
				return err
			}
			books, err := account.Survey(cmd.Context(), a.Bucket, inForce)
			if err != nil {
				return err
			}
			child := 0
			published, err := rules.Change(cmd.Context(), a.Bucket, kind, now, func(newest rules.Document, unused int) ([]rules.Rule, error) {
				at, found := books.Middle(newest.Ranges(partitions[0]))
				if !found {
					return nil, fmt.Errorf("the %s gives partition %d no range of two sites or more, so that it cannot be split", &newest, partitions[0])
				}
				child = unused
				return newest.Split(partitions[0], unused, at)
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Partition %d gives sites to the new partition %d. ", partitions[0], child)
			return sayStrategy(cmd, published)
		}),
	}
}

func joinStrategyCommand(where *location) *cobra.Command {
	return &cobra.Command{
		Use:   "join KIND PARTITION INTO",
		Short: "Give all of a partition to another one",
		Long: "Join publishes a next version in which a partition has no sites any more, and another\n" +
			"one has them. What follows is the same as after split.",
		Example: "  bucketsearch strategy join storage 1 0",
		Args:    needs(3, "a kind and two partitions", string(rules.Storage)+" 1 0"),
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			kind, partitions, err := parsePartitions(args)
			if err != nil {
				return err
			}
			published, err := rules.Change(cmd.Context(), a.Bucket, kind, time.Now(), func(newest rules.Document, _ int) ([]rules.Rule, error) {
				return newest.Join(partitions[0], partitions[1])
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Partition %d gives its sites to partition %d. ", partitions[0], partitions[1])
			return sayStrategy(cmd, published)
		}),
	}
}

// parsePartitions parses arguments such as "storage 1 0": a kind of strategies, and numbers of partitions.
func parsePartitions(args []string) (kind rules.Kind, partitions []int, err error) {
	if kind, err = kindOf(args[0]); err != nil {
		return kind, nil, err
	}
	for _, arg := range args[1:] {
		p, err := literal.Whole("PARTITION", arg, 0, rules.MaxPartitions-1)
		if err != nil {
			return kind, nil, err
		}
		partitions = append(partitions, int(p))
	}
	return kind, partitions, nil
}
