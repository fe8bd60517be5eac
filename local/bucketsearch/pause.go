package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

func pauseCommand(where *location) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Stop asking web sites until resume",
		Long: "Pause stops the crawl: what is under way is finished, packed and indexed, and\n" +
			"nothing more is asked for until resume, not even after a restart. Searching\n" +
			"goes on. A running system notices within half a minute.",
		Example: "  bucketsearch pause --reason 'the site is being moved'",
		Args:    nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			if reason == "" {
				return misuse(errors.New("--reason: want a sentence"))
			}
			pause := control.Pause{Since: time.Now().UTC().Truncate(time.Second), By: control.Operator, Reason: reason}
			_, err := control.Change(cmd.Context(), a.Bucket, func(d *control.Document) bool {
				d.Pause = &pause
				return true
			})
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), where.complete("Paused. To go on: bucketsearch resume"))
			}
			return err
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "an operator has paused it", "`sentence` that status shows")
	return cmd
}

func resumeCommand(where *location) *cobra.Command {
	return &cobra.Command{
		Use:     "resume",
		Short:   "Go on after a pause",
		Long:    "Resume ends a pause, whoever began it. Where a limit is still passed, the crawl\npauses again; to see the limits: bucketsearch limits.",
		Example: "  bucketsearch resume",
		Args:    nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			paused := false
			_, err := control.Change(cmd.Context(), a.Bucket, func(d *control.Document) bool {
				paused = d.Pause != nil
				d.Pause = nil
				return paused
			})
			switch {
			case err != nil:
				return err
			case paused:
				fmt.Fprintln(cmd.OutOrStdout(), "Resumed.")
			default:
				fmt.Fprintln(cmd.OutOrStdout(), "It was not paused.")
			}
			return nil
		}),
	}
}
