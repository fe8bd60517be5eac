package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/curation"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

func publishCommand(where *location) *cobra.Command {
	var dry bool
	var partitions int
	cmd := &cobra.Command{
		Use:   "publish FILE...",
		Short: "Publish from files what is crawled, forgotten, and shown first",
		Long: "Publish puts what files say into the bucket, and crawls nothing: the functions that run on\n" +
			"the bucket follow within minutes. It needs no Redis, and makes the bucket if there is\n" +
			"none. It prints what changed; what the bucket has already is not published again, so a\n" +
			"repository of such files can be published at each change. A file is one of\n\n" +
			"  NAME.toml    a collection, as bucketsearch crawl --collection takes it\n" +
			"  NAME.toml    synonyms, pins and bans, as bucketsearch curate takes them\n" +
			"  NAME.toml    forget = [\"https://example.org/private.html\", \"example.com\"]\n" +
			"  NAME.json    a strategy, as bucketsearch strategy show prints it\n\n" +
			"What is forgotten is hidden at once and erased after an hour, as by bucketsearch forget;\n" +
			"to take it back, remove it from the file and call bucketsearch forget --undo. What is in\n" +
			"the bucket and in no file stays as it is.",
		Example: "  bucketsearch publish docs.toml news.toml\n  bucketsearch publish --dry-run search/*.toml\n" +
			"  bucketsearch publish --s3 http://127.0.0.1:9000/my-bucket --partitions 4 docs.toml",
		Args: needs(some, "files", "docs.toml"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			files, err := readPublication(args)
			if err != nil {
				return misuse(err)
			}
			options, err := where.options()
			if err != nil {
				return err
			}
			options.Create = !dry
			a, err := system.Attach(cmd.Context(), options)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, a.Close()) }()
			if dry {
				a.Rehearse()
			}
			return (&publisher{cmd, where, a, dry}).publish(files, partitions)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&dry, "dry-run", false, "publish nothing, and print what would change")
	wholeVar(cmd.Flags(), &partitions, "partitions", "", 1, 1, rules.MaxPartitions, "divide a new bucket into `n` partitions")
	return cmd
}

// publisher publishes the documents of files, and prints a line for each of them.
type publisher struct {
	cmd   *cobra.Command
	where *location
	*system.Attached
	dry bool // whether nothing is stored in truth (see system.Attached.Rehearse)
}

// publish publishes all documents of a publication. Strategies come first, because nothing can be
// crawled without them. What is to be forgotten comes after the collections, because these say under
// which addresses its pages are crawled.
func (p *publisher) publish(files publication, partitions int) error {
	ctx := p.cmd.Context()
	if err := p.strategies(ctx, files.strategies, partitions); err != nil {
		return err
	}
	if !p.dry {
		if err := p.CheckStore(ctx); err != nil {
			return err
		}
	}
	if err := p.collections(ctx, files.collections); err != nil {
		return err
	}
	if err := p.forget(ctx, files.forgotten); err != nil {
		return err
	}
	return p.curate(ctx, files.curation)
}

// tell prints what became of a document: whether it changed, its name and its version.
func (p *publisher) tell(changed bool, name string, version uint64) {
	became := "unchanged"
	switch {
	case changed && p.dry:
		became = "to publish"
	case changed:
		became = "published"
	}
	fmt.Fprintf(p.where.sentences(p.cmd.OutOrStdout(), false), "%-10s  %s, version %d\n", became, name, version)
}

func (p *publisher) strategies(ctx context.Context, given []rules.Document, partitions int) error {
	isNew, err := p.PublishStrategies(ctx, partitions)
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		before, err := rules.Load(ctx, p.Bucket, kind)
		if err != nil {
			return err
		}
		now := before
		if i := slices.IndexFunc(given, func(d rules.Document) bool { return d.Kind == kind }); i >= 0 {
			if now, err = rules.PublishNext(ctx, p.Bucket, given[i], time.Now()); err != nil {
				return err
			}
		}
		p.tell(isNew || now.Version > before.Version, strategyName(kind)+" of "+count(len(now.Partitions()), "partition"), now.Version)
	}
	return nil
}

func (p *publisher) collections(ctx context.Context, given []collection.Collection) error {
	if len(given) == 0 {
		return nil
	}
	before, err := collection.LoadAll(ctx, p.Bucket)
	if err != nil {
		return err
	}
	versions := make(map[string]uint64)
	for _, c := range before {
		versions[c.Name] = c.Version
	}
	published, err := p.PublishCollections(ctx, given, agent)
	if err != nil {
		return err
	}
	for _, c := range published {
		p.tell(c.Version > versions[c.Name], collectionName(c.Name), c.Version)
		delete(versions, c.Name)
	}
	for _, c := range before {
		if _, left := versions[c.Name]; left {
			fmt.Fprintf(p.cmd.ErrOrStderr(), "Collection %s is in none of the files, and stays; to end it: bucketsearch collections remove %[1]s\n", c.Name)
		}
	}
	return nil
}

func (p *publisher) forget(ctx context.Context, given []target) error {
	if len(given) == 0 {
		return nil
	}
	targets, err := withCleaned(ctx, p.Attached, given)
	if err != nil {
		return err
	}
	before, err := takedown.Load(ctx, p.Bucket)
	if err != nil {
		return err
	}
	hidden := before.Hidden()
	added := slices.DeleteFunc(slices.Clone(targets), func(t target) bool {
		return t.site && hidden.ForgetsSite(t.address.Site) || !t.site && hidden.ForgetsID(t.address.ID)
	})
	until := finalAt(time.Now())
	version, err := takedown.Suspend(ctx, p.Bucket, until, entriesOf(targets)...)
	if err != nil {
		return err
	}
	name := "takedowns"
	if len(added) > 0 {
		name += fmt.Sprintf(" (%d new, erased after %s)", len(added), until.Format(timeForm))
	}
	p.tell(len(added) > 0, name, version)
	return nil
}

func (p *publisher) curate(ctx context.Context, given *curation.Document) error {
	if given == nil {
		return nil
	}
	_, before, err := curation.Load(ctx, p.Bucket)
	if err != nil {
		return err
	}
	version, err := curation.Publish(ctx, p.Bucket, *given)
	if err != nil {
		return err
	}
	p.tell(version > before, "curation", version)
	return nil
}
