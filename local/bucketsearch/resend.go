package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/system"
)

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
