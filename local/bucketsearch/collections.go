package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

func collectionsCommand(where *location) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "collections",
		Short: "List, show, check or remove what is crawled",
		Long: "Collections lists, shows, checks and removes what is crawled. Seeds of the command line are\n" +
			"the collection " + system.DefaultCollection + ".",
		Example: "  bucketsearch collections list\n  bucketsearch collections show default\n  bucketsearch collections check postgres.toml\n  bucketsearch collections remove postgres",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("collections cannot %s; want list, show, check or remove", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(listCommand(where), showCommand(where), checkCommand(where), removeCommand(where))
	return cmd
}

// listed is a row of `bucketsearch collections list`.
type listed struct {
	system.CollectionStatus
	Version uint64 `json:"version"`
	Seeds   int    `json:"seeds"`
	First   string `json:"first"` // URL of the first seed; without seeds, of the first sitemap
}

func listCommand(where *location) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all collections, and how far each is",
		Args:  nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			inForce, err := a.Settings.Get(cmd.Context())
			if err != nil {
				return err
			}
			status, err := system.ReadStatus(cmd.Context(), a.Bucket, countblob.Counts{}, "")
			if err != nil {
				return err
			}
			tellFaults(cmd, status.Faults)
			tellUncounted(cmd.ErrOrStderr(), status)
			all := []listed{}
			for _, s := range status.Collections {
				c := inForce.Collection(s.Name)
				l := listed{CollectionStatus: s, Version: c.Version, Seeds: len(c.Seeds)}
				if len(c.Seeds) > 0 {
					l.First = c.Seeds[0].URL
				} else if len(c.Sitemaps) > 0 {
					l.First = c.Sitemaps[0]
				}
				all = append(all, l)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), all)
			}
			return printCollections(cmd.OutOrStdout(), all)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printCollections(out io.Writer, all []listed) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVERSION\tSTORED\tPENDING\tDUE\tSEEDS\tFIRST")
	for _, l := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\n", l.Name, l.Version, l.Stored, l.Pending, l.Due, l.Seeds, l.First)
	}
	return w.Flush()
}

func showCommand(where *location) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show what a collection wants",
		Args:  oneName,
		RunE: where.reading(func(cmd *cobra.Command, args []string, a *system.Attached) error {
			inForce, err := a.Settings.Get(cmd.Context())
			if err != nil {
				return err
			}
			c := inForce.Collection(args[0])
			if c.Version == 0 {
				return noCollection(args[0])
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), c)
			}
			return printWanted(cmd.OutOrStdout(), c)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func noCollection(name string) error {
	return fmt.Errorf("there is no collection %q; see: bucketsearch collections list", name)
}

// printWanted prints the settings of a collection, except those that have no value.
func printWanted(out io.Writer, c collection.Collection) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(key, format string, args ...any) { fmt.Fprintf(w, "%s\t%s\n", key, fmt.Sprintf(format, args...)) }
	line("name", "%s, version %d", c.Name, c.Version)
	for _, seed := range c.Seeds {
		line("seed", "%s (scope %s%s)", seed.URL, seed.Scope, within(seed.Depth))
	}
	for _, list := range []struct {
		key   string
		texts []string
	}{{"sitemaps", c.Sitemaps}, {"include", c.Include}, {"exclude", c.Exclude}, {"drop_parameters", c.DropParameters}, {"allow", c.Allow}} {
		for _, text := range list.texts {
			line(list.key, "%s", text)
		}
	}
	line("delay", "%s", c.Delay)
	line("host_connections", "%d", c.HostConnections)
	for _, n := range []struct {
		key   string
		value int64
	}{{"connections", int64(c.Connections)}, {"pages", c.Pages}, {"host_pages", c.HostPages}, {"pattern_pages", c.PatternPages}} {
		if n.value != 0 {
			line(n.key, "%d", n.value)
		}
	}
	for _, text := range []struct{ key, value string }{{"schedule", string(c.Schedule)}, {"language", c.Language}, {"agent", c.Agent}} {
		if text.value != "" {
			line(text.key, "%s", text.value)
		}
	}
	if c.Topic != nil {
		line("topic", "%s; threshold %g, %s", strings.Join(c.Topic.Words, ", "), c.Topic.Threshold, count(len(c.Topic.Texts), "sample"))
	}
	return w.Flush()
}
