package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	cost "github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/control"
)

func limitsCommand(where *location) *cobra.Command {
	var storage, webhook, prices string
	var requests int64
	var usd float64
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Show or set what the crawl may cost",
		Long: "Limits shows the caps, or sets those that are given; 0 takes one away. When a cap\n" +
			"is found to be passed, which is looked for every 20 seconds, the crawl pauses and\n" +
			"status says why; it goes on by itself when the cap is raised, and after a daily one\n" +
			"at midnight UTC. Alerts go to the webhook as JSON.",
		Example: "  bucketsearch limits --storage 50GB --usd 2.50\n  bucketsearch limits --requests 0",
		Args:    nothing,
		RunE: where.reading(func(cmd *cobra.Command, _ []string, a *system.Attached) error {
			given := cmd.Flags().Changed
			var kept int64
			if given("storage") {
				var err error
				if kept, err = parseBytes(storage); err != nil {
					return fmt.Errorf("--storage: %w", err)
				}
			}
			if requests < 0 || usd < 0 {
				return errors.New("--requests and --usd: want 0 for no limit, or more")
			}
			var priced cost.Prices
			if prices != "" {
				var err error
				if priced, err = readPrices(prices); err != nil {
					return fmt.Errorf("--prices: %w", err)
				}
			}
			document, err := control.Change(cmd.Context(), a.Bucket, func(d *control.Document) bool {
				before := *d
				if given("storage") {
					d.Limits.StorageBytes = kept
				}
				if given("requests") {
					d.Limits.RequestsPerDay = requests
				}
				if given("usd") {
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
	cmd.Flags().StringVar(&storage, "storage", "", "keep at most `size` in the bucket, such as 50GB")
	cmd.Flags().Int64Var(&requests, "requests", 0, "ask the object store at most `n` times a day")
	cmd.Flags().Float64Var(&usd, "usd", 0, "spend at most `amount` a day on requests")
	cmd.Flags().StringVar(&webhook, "webhook", "", "tell alerts to this `URL`; empty: to nobody")
	cmd.Flags().StringVar(&prices, "prices", "", "reckon with the prices in this `file`; empty: with those of AWS, us-east-1")
	return cmd
}

// readPrices reads a file of JSON such as {"get_per_million": 0.4}; what is not
// in it costs nothing.
func readPrices(file string) (p cost.Prices, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return p, err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
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
	tell("requests a day", strconv.FormatInt(d.Limits.RequestsPerDay, 10), d.Limits.RequestsPerDay > 0)
	tell("USD a day", strconv.FormatFloat(d.Limits.USDPerDay, 'f', -1, 64), d.Limits.USDPerDay > 0)
	if d.Prices != (cost.Prices{}) {
		known, _ := json.Marshal(d.Prices)
		tell("prices", string(known), true)
	}
	if d.Webhook != "" {
		tell("alerts to", d.Webhook, true)
	}
}

var size = regexp.MustCompile(`(?i)^([0-9]+(?:\.[0-9]+)?) *(?:([KMGT])(i?))?B?$`)

// parseBytes reads a size such as 50GB, 1.5TiB or 1000000.
func parseBytes(text string) (int64, error) {
	parts := size.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return 0, fmt.Errorf("size %q: write it like 50GB", text)
	}
	value, err := strconv.ParseFloat(parts[1], 64)
	base := 1000.0
	if parts[3] != "" {
		base = 1024
	}
	if parts[2] != "" {
		value *= math.Pow(base, float64(strings.Index("KMGT", strings.ToUpper(parts[2]))+1))
	}
	if err != nil || value > math.MaxInt64/2 {
		return 0, fmt.Errorf("size %q: that is too much", text)
	}
	return int64(value), nil
}
