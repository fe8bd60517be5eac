package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

func urlsCommand(where *location) *cobra.Command {
	var selected system.URLSelection
	var state string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "urls",
		Short: "List URLs by what became of them",
		Long: "Urls prints a line for each URL that a seed or a link leads to: its state, its address\n" +
			"and the reason of the state, as status counts them. The states are stored, skipped,\n" +
			"failed and pending. A reason is selected by its first words, such as \"http 404\", or\n" +
			"\"http\" for all answers that were errors.",
		Example: "  bucketsearch urls --state failed --reason \"http 404\"\n" +
			"  bucketsearch urls --state stored --reason \"needs scripts\"\n" +
			"  bucketsearch urls --state pending --site example.org --json | jq -r .url",
		Args: nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			states := []account.State{"", account.Stored, account.Skipped, account.Failed, account.Pending}
			if selected.State = account.State(state); !slices.Contains(states, selected.State) {
				return misuse(literal.Wrong("--state", state, "stored, skipped, failed or pending"))
			}
			urls, err := system.ReadURLs(cmd.Context(), a.Bucket, selected)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			for url, err := range urls.All(cmd.Context()) {
				if err == nil {
					err = printURL(out, url, asJSON)
				}
				if err != nil {
					return err
				}
			}
			if err := out.Flush(); err != nil {
				return err
			}
			for _, fault := range urls.Faults() {
				fmt.Fprintf(cmd.ErrOrStderr(), "Not listed is what this tells of: %v\n", fault)
			}
			if len(urls.Faults()) > 0 {
				return endBy(exitDamaged)
			}
			return nil
		}),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&state, "state", "", "only URLs of this `state`: stored, skipped, failed or pending")
	flags.StringVar(&selected.Reason, "reason", "", "only URLs whose reason is or begins with this `text`")
	flags.StringVar(&selected.Collection, "collection", "", "only URLs of the collection of this `name`")
	flags.StringVar(&selected.Site, "site", "", "only URLs of this `site`, a host or a domain with its hosts")
	flags.BoolVar(&asJSON, "json", false, "print JSON, an object a line")
	return cmd
}

// listedURL is a URL in the output of `bucketsearch urls --json`.
type listedURL struct {
	URL        string        `json:"url"`
	State      account.State `json:"state"`
	Reason     string        `json:"reason,omitempty"`
	Detail     string        `json:"detail,omitempty"` // further words on the reason, such as the target of a redirect
	Status     uint16        `json:"status,omitempty"` // HTTP status of the last answer that decided the state
	Asked      time.Time     `json:"asked,omitzero"`   // time of that answer
	Depth      uint16        `json:"depth"`            // number of links from a seed to the URL
	Collection string        `json:"collection,omitempty"`
}

func printURL(out io.Writer, u account.URL, asJSON bool) error {
	reason := system.ReasonOf(u)
	if !asJSON {
		if reason != "" {
			reason = "  " + reason
		}
		_, err := fmt.Fprintf(out, "%-7s  %s%s\n", u.State, address.Shown(u.Address.URL), reason)
		return err
	}
	entry := listedURL{URL: address.Shown(u.Address.URL), State: u.State, Reason: reason, Status: u.Final.Status, Asked: u.Final.Time, Depth: u.Depth, Collection: u.Collection}
	if reason != "" {
		entry.Detail = u.Final.Detail
	}
	line, err := reply.Marshal(entry, false)
	if err == nil {
		_, err = out.Write(line)
	}
	return err
}
