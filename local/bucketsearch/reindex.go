package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/system"
)

func reindexCommand(where *location) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "reindex",
		Short: "Index packages anew, after the program has changed",
		Long: "Reindex has the packages indexed anew whose segments were made by other versions\n" +
			"of the analyzers of their languages, or all of them. The old segments serve until\n" +
			"each is replaced. The work is done by what runs there, or by the next start.",
		Example: "  bucketsearch reindex\n  bucketsearch reindex --all",
		Args:    nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			packages, err := a.Reindex(cmd.Context(), all)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s to be indexed anew\n", count(packages, "package"))
			return nil
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "all packages")
	return cmd
}
