package mcp

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

var collectionsTool = &sdk.Tool{
	Name: "list_collections", Title: "List collections",
	Description: "Says what is stored: the collections, with their first addresses, number of pages, languages, and the day on which the last page was fetched. " +
		"Call it to see whether something is there at all, and for the names by which search filters.",
	Annotations: reads,
}

type collectionsInput struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"the cursor of the answer before, for further collections"`
}

// Greatest numbers of seeds and languages that are shown of a collection.
const (
	maxSeeds     = 3
	maxLanguages = 8
)

func (t Tools) listCollections(ctx context.Context, e *engine.Engine, in collectionsInput) (string, error) {
	all, notes, err := e.Collections(ctx)
	if err != nil {
		return "", err
	}
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
	}
	of, from := digestOf(strings.Join(names, "\n")), 0
	if in.Cursor != "" {
		c, err := parseCursor(in.Cursor)
		if err != nil {
			return "", err
		}
		if c.of != of || c.from >= uint64(len(all)) || c.to != 0 {
			return "", request.Wrong("The cursor does not belong to the collections as they are now; leave it out to begin.")
		}
		from = int(c.from)
	}
	var b strings.Builder
	if len(all) == 0 {
		b.WriteString("There are no collections: nothing was crawled yet.\n")
	}
	b.WriteString(listed(notes))
	left := MaxAnswer - headSize
	for i := from; i < len(all); i++ {
		text := collected(&all[i])
		if left -= jsonSize(text); left < 0 && i > from {
			fmt.Fprintf(&b, "For the %d further collections, call list_collections with the cursor %s.\n", len(all)-i, cursor{of: of, from: uint64(i)})
			break
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// collected describes a collection:
//
//	python: 520 pages (en 510, de 10), the last fetched 2026-11-21; from https://docs.python.org/3/
func collected(c *engine.Collected) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d pages", c.Name, c.Pages)
	if c.Pages > 0 {
		var languages []string
		for i, l := range c.Languages {
			if i == maxLanguages {
				languages = append(languages, fmt.Sprintf("%d other languages", len(c.Languages)-i))
				break
			}
			code := l.Code
			if code == "" {
				code = "unknown"
			}
			languages = append(languages, fmt.Sprintf("%s %d", code, l.Pages))
		}
		fmt.Fprintf(&b, " (%s), the last fetched %s", strings.Join(languages, ", "), day(c.Newest))
	}
	var seeds []string
	for _, s := range c.Seeds {
		seeds = append(seeds, s.URL)
	}
	seeds = append(seeds, c.Sitemaps...)
	switch n := len(seeds); {
	case n == 0:
		b.WriteString("; it is not crawled any more")
	case n > maxSeeds:
		fmt.Fprintf(&b, "; from %s and %d more addresses", cutText(strings.Join(seeds[:maxSeeds], ", "), noteSize), n-maxSeeds)
	default:
		b.WriteString("; from " + cutText(strings.Join(seeds, ", "), noteSize))
	}
	return b.String() + "\n"
}
