package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/system"
)

func rebuildCommand(where *location) *cobra.Command {
	return &cobra.Command{
		Use:   "rebuild",
		Short: "Restore the frontier from the bucket",
		Long: "Rebuild restores the frontier in Redis from the books in the bucket, to the same\n" +
			"state, in a new epoch. The system does so by itself at every start, and when it\n" +
			"finds Redis empty or behind; this is for who does not trust that. Batches that are\n" +
			"out are asked for again, so a host may be asked by two at once for a while.",
		Example: "  bucketsearch rebuild",
		Args:    nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			if a.Redis == nil {
				return errors.New("no system runs there; it rebuilds its frontier whenever it starts")
			}
			done, err := a.Rebuild(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "epoch %d: %s, %d of them pending, in %v\n",
				done.Epoch, count(done.URLs, "URL"), done.Pending, done.Took.Round(time.Millisecond))
			return nil
		}),
	}
}
