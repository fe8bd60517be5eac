package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

func splitStrategyCommand(where *location) *cobra.Command {
	return &cobra.Command{
		Use:   "split KIND PARTITION",
		Short: "Give half of a partition to a new one",
		Long: "Split publishes a next version in which a new partition has half of the sites of a\n" +
			"partition, by what the books have about them. The crawl goes on meanwhile. Of kind\n" +
			"storage, new pages of these sites are stored in the new partition; those stored before\n" +
			"stay in the old one, and are found there. Of kind crawl, the queues of the two\n" +
			"partitions are built anew, and no others.",
		Example: "  bucketsearch strategy split storage 0",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("strategy split needs a kind and a partition, such as: bucketsearch strategy split %s 0", rules.Storage)
			}
			return nil
		},
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
			"one has them. The crawl goes on meanwhile, as after split.",
		Example: "  bucketsearch strategy join storage 1 0",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 3 {
				return fmt.Errorf("strategy join needs a kind and two partitions, such as: bucketsearch strategy join %s 1 0", rules.Storage)
			}
			return nil
		},
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
