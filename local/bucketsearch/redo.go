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

func resendCommand(where *location) *cobra.Command {
	return &cobra.Command{
		Use:   "resend [KEY...]",
		Short: "Send messages again that failed for good",
		Long: "Resend has the running system, or the next start, try the messages again that\n" +
			"failed in all their tries: those whose keys status shows, or all.",
		Example: "  bucketsearch resend",
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			n, err := a.Resend(cmd.Context(), args)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s will be sent again.\n", count(n, "message"))
			}
			return err
		}),
	}
}
