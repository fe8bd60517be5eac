package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	cost "github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

func limitsCommand(where *location) *cobra.Command {
	var webhook, prices string
	var storage, requests int64
	var usd float64
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Show or set what the crawl may cost",
		Long: "Limits shows the caps, or sets those that are given; 0 takes one away. When a cap\n" +
			"is found to be passed, which is looked for every 20 seconds, the crawl pauses and\n" +
			"status says why; it goes on by itself when the cap is raised, and after a daily one\n" +
			"at midnight UTC. Alerts go to the webhook as JSON.",
		Example: "  bucketsearch limits --storage 50GB --usd-a-day 2.50\n  bucketsearch limits --requests-a-day 0",
		Args:    nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			given := cmd.Flags().Changed
			var priced cost.Prices
			if prices != "" {
				var err error
				if priced, err = readPrices(prices); err != nil {
					return misuse(fmt.Errorf("--prices: %w", err))
				}
			}
			document, err := control.Change(cmd.Context(), a.Bucket, func(d *control.Document) bool {
				before := *d
				if given("storage") {
					d.Limits.StorageBytes = storage
				}
				if given("requests-a-day") {
					d.Limits.RequestsPerDay = requests
				}
				if given("usd-a-day") {
					d.Limits.USDPerDay = usd
				}
				if given("webhook") {
					d.Webhook = webhook
				}
				if given("prices") {
					d.Prices = priced
				}
				return *d != before
			})
			if err == nil {
				printLimits(cmd.OutOrStdout(), document)
			}
			return err
		}),
	}
	sizeVar(cmd.Flags(), &storage, "storage", "keep at most `size` in the bucket, such as 50GB")
	wholeVar(cmd.Flags(), &requests, "requests-a-day", "", 0, 0, math.MaxInt64, "ask the object store at most `n` times a day")
	amountVar(cmd.Flags(), &usd, "usd-a-day", "spend at most `amount` a day on requests")
	cmd.Flags().StringVar(&webhook, "webhook", "", "tell alerts to this `URL`; empty: to nobody")
	cmd.Flags().StringVar(&prices, "prices", "", "reckon with the prices in this `file`; empty: with those of AWS")
	return cmd
}

// readPrices reads a JSON file such as {"get_per_million": 0.4}; a missing price is 0.
func readPrices(file string) (p cost.Prices, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return p, err
	}
	if err := literal.JSON(content, &p); err != nil {
		known, _ := json.Marshal(cost.USEast1())
		return p, fmt.Errorf("%s: %w; want JSON like %s", file, err, known)
	}
	return p, nil
}

func printLimits(out io.Writer, d control.Document) {
	tell := func(name, value string, set bool) {
		if !set {
			value = "no limit"
		}
		fmt.Fprintf(out, "%-18s%s\n", name, value)
	}
	tell("storage", bytesText(d.Limits.StorageBytes), d.Limits.StorageBytes > 0)
	tell("requests-a-day", strconv.FormatInt(d.Limits.RequestsPerDay, 10), d.Limits.RequestsPerDay > 0)
	tell("usd-a-day", strconv.FormatFloat(d.Limits.USDPerDay, 'f', -1, 64), d.Limits.USDPerDay > 0)
	if d.Prices != (cost.Prices{}) {
		known, _ := json.Marshal(d.Prices)
		tell("prices", string(known), true)
	}
	if d.Webhook != "" {
		tell("webhook", d.Webhook, true)
	}
}
