package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bucketsearch/bucketsearch/functions/shared/inventory"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/text/language"
)

// completionTime is the maximum time that a completion in a shell takes to read values from the bucket.
// When the time is over, only the values that were read by then are offered.
const completionTime = 2 * time.Second

// listOf returns the values that a flag or an argument can have.
type listOf func(ctx context.Context) []string

// completeValues makes a shell complete the values of the flags and arguments of a command and of its
// subcommands. The kind of a value is taken from the help: for a flag it is the word in backquotes in its
// usage, such as `file`; for an argument it is the word in cmd.Use, such as NAME. The function values
// returns the values that are offered for each flag and argument. For all others, file names are offered
// if the kind is a file or a folder, and nothing otherwise.
func (l *location) completeValues(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		l.completeValues(sub)
	}
	known := l.values()
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		kind, _ := pflag.UnquoteUsage(f)
		if f.Value.Type() != "bool" {
			list := known[cmd.Name()+" --"+f.Name]
			if list == nil {
				list = known["--"+f.Name]
			}
			_ = cmd.RegisterFlagCompletionFunc(f.Name, completionOf(kind, list)) // fails for a flag that is not there
		}
	})
	kinds := strings.Fields(strings.TrimSuffix(cmd.Use, "..."))[1:]
	if len(kinds) == 0 || cmd.ValidArgsFunction != nil {
		return
	}
	var lists []listOf
	files := false
	for kind := range strings.SplitSeq(kinds[0], "|") {
		files = files || kind == "FILE"
		for _, name := range []string{cmd.Name() + " " + kind, kind, cmd.Parent().Name() + " " + kind} {
			if of := known[name]; of != nil {
				lists = append(lists, of)
				break
			}
		}
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && !strings.HasSuffix(cmd.Use, "...") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		values, directive := completionOf("", lists...)(cmd, args, begun)
		if files {
			directive = cobra.ShellCompDirectiveDefault
		}
		return values, directive
	}
}

// completionOf returns a function that completes a value: from the given lists, leaving out those that
// are nil. If no list is left, it completes file names for the kind "file" and folders for the kind
// "dir", and nothing for other kinds.
func completionOf(kind string, lists ...listOf) cobra.CompletionFunc {
	lists = slices.DeleteFunc(lists, func(list listOf) bool { return list == nil })
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(lists) == 0 {
			switch kind {
			case "file":
				return nil, cobra.ShellCompDirectiveDefault
			case "dir":
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
		}
		var values []string
		for _, list := range lists {
			for _, value := range list(cmd.Context()) {
				if strings.HasPrefix(value, begun) {
					values = append(values, value)
				}
			}
		}
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}

// values returns the values that are offered for flags and arguments. A key of the map is the name of a
// flag, such as "--lang", or the kind of an argument in the help, such as "SITE". If commands differ in
// their values, the name of the command, or for an argument also of its parent, stands before it, such as
// "export --format" or "keys NAME".
func (l *location) values() map[string]listOf {
	fixed := func(values ...string) listOf { return func(context.Context) []string { return values } }
	languages := func(context.Context) []string { return language.Known() }
	return map[string]listOf{
		"--scope":             fixed("prefix", "host", "site", "any"),
		"add --scope":         fixed(control.Scopes...),
		"--sort":              fixed("date"),
		"--state":             fixed("stored", "skipped", "failed", "pending"),
		"--explain":           fixed("score", "cost"),
		"--facet":             fixed("site", "lang", "collection", "type", "year"),
		"--by":                fixed("language", "source", "collection", "site", "day"),
		"export --format":     fixed("jsonl", "xml", "markdown", "warc", "wacz", "webo", "mirror"),
		"work --functions":    fixed(task.Queues...),
		"page --format":       fixed("html", "text", "markdown", "json"),
		"--lang":              languages,
		"--across":            languages,
		"search --collection": l.collectionNames,
		"list --collection":   l.collectionNames,
		"export --collection": l.collectionNames,
		"status --collection": l.collectionNames,
		"urls --collection":   l.collectionNames,
		"import --collection": l.collectionNames,
		"--site":              l.sites,
		"collections NAME":    l.collectionNames,
		"keys NAME":           l.keyNames,
		"add NAME":            fixed(), // a new one
		"SITE":                l.sites,
		"KIND":                fixed(string(rules.Crawl), string(rules.Storage)),
	}
}

// ofBucket opens the bucket, calls read, and returns its result. The context of read ends after
// completionTime. If the bucket cannot be opened, the result is nil, because a completion cannot show an
// error.
func (l *location) ofBucket(ctx context.Context, read func(context.Context, *system.Attached) []string) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	a, err := l.attach(ctx)
	if err != nil {
		return nil
	}
	defer func() { _ = a.Close() }() // nothing was written
	return read(ctx, a)
}

// collectionNames returns the names of the collections in the bucket.
func (l *location) collectionNames(ctx context.Context) []string {
	return l.ofBucket(ctx, func(ctx context.Context, a *system.Attached) (names []string) {
		inForce, err := a.Settings.Get(ctx)
		if err != nil {
			return nil
		}
		for _, c := range inForce.Collections {
			names = append(names, c.Name)
		}
		return names
	})
}

// keyNames returns the names of the keys of the API.
func (l *location) keyNames(ctx context.Context) []string {
	return l.ofBucket(ctx, func(ctx context.Context, a *system.Attached) (names []string) {
		inForce, err := a.Settings.Get(ctx)
		if err != nil || inForce.Control.Keys == nil {
			return nil
		}
		for _, key := range *inForce.Control.Keys {
			names = append(names, key.Name)
		}
		return names
	})
}

// sites returns the sites of which pages are stored.
func (l *location) sites(ctx context.Context) []string {
	return l.ofBucket(ctx, func(ctx context.Context, a *system.Attached) []string {
		inForce, err := a.Settings.Get(ctx)
		if err != nil {
			return nil
		}
		all, err := inventory.Open(ctx, a.Bucket, inForce, time.Now())
		if err != nil {
			return nil
		}
		found := make(map[string]bool)
		for page, err := range all.Pages(ctx, inventory.Selection{}) {
			if err != nil || ctx.Err() != nil {
				break
			}
			if at, err := address.Parse(page.URL); err == nil {
				found[at.Site] = true
			}
		}
		return slices.Sorted(maps.Keys(found))
	})
}
