package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

func keysCommand(where *location) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Give programs keys for the HTTP API",
		Long: "Keys adds, lists and removes keys of the HTTP API. While there are none with the scope\n" +
			"search or page, the API at /v1/, /compat/ and /mcp is open; from the first one on, every\n" +
			"request there needs a key. The search page for people stays open. /metrics needs the\n" +
			"scope metrics, but on the same machine no key. A running system notices within half a\n" +
			"minute.",
		Example: "  bucketsearch keys add phone --rate 60\n  bucketsearch keys add prometheus --scope metrics\n  bucketsearch keys list\n  bucketsearch keys remove phone",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("keys cannot %s; want add, list or remove", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(addKeyCommand(where), listKeysCommand(where), removeKeyCommand(where))
	return cmd
}

func addKeyCommand(where *location) *cobra.Command {
	var scopes []string
	var rate int64
	cmd := &cobra.Command{
		Use:     "add NAME",
		Short:   "Make a key, and print it once",
		Example: "  bucketsearch keys add phone\n  bucketsearch keys add reader --scope search --scope page --rate 60",
		Args:    oneKey,
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			for _, scope := range scopes {
				if !slices.Contains(control.Scopes, scope) {
					return misuse(literal.Wrong("--scope", scope, strings.Join(control.Scopes[:len(control.Scopes)-1], ", ")+" or "+control.Scopes[len(control.Scopes)-1]))
				}
			}
			secret := "bs_" + rand.Text()
			key := control.NewKey(args[0], secret, scopes, int(rate), time.Now())
			var refused error
			document, err := control.Change(cmd.Context(), a.Bucket, func(d *control.Document) bool {
				refused = d.AddKey(key)
				return refused == nil
			})
			if err = errors.Join(refused, err); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n", secret)
			fmt.Fprintf(cmd.ErrOrStderr(), "This key of %s (%s) is shown only now. Send it as: Authorization: Bearer KEY\n", key.Name, strings.Join(scopes, ", "))
			if needed, err := document.NeedsKey(); needed && err == nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "From now on, every request at /v1/, /compat/ and /mcp needs a key.")
			}
			return nil
		}),
	}
	cmd.Flags().StringArrayVar(&scopes, "scope", []string{control.Search, control.Page}, "`what` the key is for: search, page or metrics; may be repeated")
	wholeVar(cmd.Flags(), &rate, "rate", "", 0, 0, 1_000_000, "at most `n` requests a minute to each process that serves; 0: no limit")
	return cmd
}

func listKeysCommand(where *location) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the names of all keys, and what they are for",
		Args:  nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			inForce, err := a.Settings.Get(cmd.Context())
			if err != nil {
				return err
			}
			if _, err := inForce.Control.NeedsKey(); err != nil {
				return fmt.Errorf("%w: the API refuses all requests; add keys again, or do without by: bucketsearch keys remove --all", err)
			}
			keys := inForce.Control.KeyList()
			if asJSON {
				return printJSON(cmd.OutOrStdout(), keys)
			}
			if len(keys) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "There are no keys; the API is open.")
				return nil
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "name\tscopes\ta minute\tcreated")
			for _, k := range keys {
				rate := "no limit"
				if k.PerMinute > 0 {
					rate = fmt.Sprint(k.PerMinute)
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", k.Name, strings.Join(k.Scopes, ","), rate, k.Created.Format(time.DateOnly))
			}
			return table.Flush()
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func removeKeyCommand(where *location) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "remove NAME",
		Short:   "Remove a key, so that it is refused",
		Long:    "Remove removes a key, or all of them. When the last key with the scope search or page is\nremoved, the API is open again.",
		Example: "  bucketsearch keys remove phone\n  bucketsearch keys remove --all",
		Args: func(cmd *cobra.Command, args []string) error {
			if all {
				return nothing(cmd, args)
			}
			return oneKey(cmd, args)
		},
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			found := false
			document, err := control.Change(cmd.Context(), a.Bucket, func(d *control.Document) bool {
				if all {
					found = d.Keys != nil || d.KeysLost
					d.Keys, d.KeysLost = nil, false
				} else {
					found = d.RemoveKey(args[0])
				}
				return found
			})
			switch {
			case err != nil:
				return err
			case !found && !all:
				return fmt.Errorf("there is no key called %s; to see the names: bucketsearch keys list", args[0])
			}
			if needed, err := document.NeedsKey(); !needed && err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), "Removed. The API is open: no request at /v1/, /compat/ or /mcp needs a key.")
			} else {
				fmt.Fprintln(cmd.OutOrStdout(), "Removed.")
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "remove all keys")
	return cmd
}
