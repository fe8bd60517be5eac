package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/mcp"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

func mcpCommand(where *location) *cobra.Command {
	var allowed []string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let a language model search and read, by the Model Context Protocol",
		Long: "Mcp serves the Model Context Protocol on its standard input and output, for the program\n" +
			"that starts it and has a language model. The model can search, read stored pages as\n" +
			"Markdown, and list the collections. It does not matter whether up or crawl runs. The\n" +
			"server of the search page has the same at /mcp.\n\n" +
			"The model can crawl only where --allow-crawl lets it: it then adds addresses to the\n" +
			"collection " + system.AssistantCollection + ", which up and crawl crawl like any other.",
		Example: "  bucketsearch mcp --data ~/bucketsearch-data\n  bucketsearch mcp --allow-crawl https://example.org/docs/",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			bucket := &opener{where: where}
			defer func() { err = errors.Join(err, bucket.close()) }()
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			tools := mcp.Tools{Ask: func(ctx context.Context, do func(*engine.Engine) error) error {
				return bucket.use(ctx, func(o *openBucket) error { return o.ask(log, do) })
			}}
			if len(allowed) > 0 {
				rules, err := allowedRules(allowed)
				if err != nil {
					return err
				}
				tools.Allowed = allowed
				tools.Crawl = func(ctx context.Context, url string) (told string, err error) {
					err = bucket.use(ctx, func(o *openBucket) error {
						told, err = addSeed(ctx, o.Attached, where, rules, url)
						return err
					})
					return told, err
				}
			}
			return tools.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringArrayVar(&allowed, "allow-crawl", nil, "let the model crawl what lies in the directory of this `address`\nand below; may be repeated")
	return cmd
}

// allowedRules returns rules for the addresses that a language model may add to the crawl. The parameter
// allowed has the values of the flag --allow-crawl. The rules admit every address in the directory of one
// of these values, or below that directory. For https://example.org/docs/start.html they admit what
// begins with https://example.org/docs/.
func allowedRules(allowed []string) (collection.Admission, error) {
	var seeds []collection.Seed
	for _, url := range allowed {
		if _, err := collection.ParseSeed(url); err != nil {
			return collection.Admission{}, misuse(fmt.Errorf("--allow-crawl: %w", err))
		}
		seeds = append(seeds, collection.Seed{URL: url, Scope: collection.Prefix, Depth: collection.Unlimited})
	}
	return collection.Collection{Seeds: seeds}.Rules()
}

// addSeed adds an address to what is crawled, with the pages in its directory and below, if the
// rules admit it. It returns sentences for the language model that say what happens next.
func addSeed(ctx context.Context, a *system.Attached, where *location, rules collection.Admission, url string) (string, error) {
	seed, err := collection.ParseSeed(url)
	if err != nil {
		return "", err
	}
	if reason := rules.Decide(seed, 1, 0); reason != "" {
		return "", fmt.Errorf("%s must not be crawled (%s): it lies outside of what a person allowed by --allow-crawl, or looks like a trap for crawlers", seed.URL, reason)
	}
	if err := a.AddSeed(ctx, collection.Seed{URL: seed.URL, Scope: collection.Prefix, Depth: collection.Unlimited}, agent); err != nil {
		return "", err
	}
	said := []string{fmt.Sprintf("%s and the pages in its directory and below are in the collection %s now.", seed.URL, system.AssistantCollection)}
	inForce, err := a.Settings.Get(ctx)
	if err != nil {
		return "", err
	}
	switch running := a.Redis != nil; {
	case inForce.Control.Pause != nil:
		said = append(said, "The crawl is paused; a person can resume it: bucketsearch resume.")
	case inForce.Only != nil:
		said = append(said, "They wait, because a person has limited the crawl to other seeds; bucketsearch up crawls all.")
	case running:
		said = append(said, "The system that runs crawls them; ask again in a minute or more.")
	case where.s3 != "":
		said = append(said, "They are crawled when a system runs on this bucket.")
	default:
		said = append(said, "No system runs at the moment: a person must start one by bucketsearch up.")
	}
	return where.complete(strings.Join(said, " ")), nil
}
