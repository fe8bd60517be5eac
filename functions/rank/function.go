// Package rank ranks the pages of all partitions by the links between them, and gathers the texts
// by which links name them, and by which they name URLs that were never visited (Brin and Page,
// The Anatomy of a Large-Scale Hypertextual Web Search Engine, 1998, 2.2). It also learns
// dictionaries from pages that are translations of each other. It stores all in overlays beside the
// segments. The function query searches the texts, and translates queries by the dictionaries; scores
// do not use the ranks yet, because on a single site they made answers no better.
//
// It reads the books of all partitions (see linkgraph), computes ranks (see pagerank), and commits
// for each partition the ranks and anchors of the documents of all its segments, the partition's
// share of the unvisited URLs, and Manifest.Ranked, which names the books, indexed packages and
// rules of which they were made. If that is the same as before and no segment lacks ranks, there is
// nothing to do: then a run reads the manifests only. A segment that is committed later is without
// ranks until the next run.
//
// Dictionaries are learnt from the texts that segments store (see translation). Which pages translate
// each other stands in a column of segments. The dictionaries of all partitions are listed by one of
// them, in Manifest.Dictionaries.
//
// It may be killed at any call, and run twice or several times in parallel: ranks depend on the
// books alone, and an overlay with the ranks that a segment has already is not stored again.
package rank

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/rank/linkgraph"
	"github.com/bucketsearch/bucketsearch/functions/rank/pagerank"
	"github.com/bucketsearch/bucketsearch/functions/rank/translation"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Settings returns the settings in force. settings.Cache implements it.
type Settings interface {
	Get(ctx context.Context) (*settings.Settings, error)
}

// Function is the rank function: its fields are the clients, limits and rules that it works with.
type Function struct {
	Bucket   blob.Bucket
	Settings Settings
	Now      func() time.Time
	Limits   Limits
	Rules    pagerank.Rules
	Log      *slog.Logger
}

// Limits bound the memory and time of a run, and the size of its results.
type Limits struct {
	Graph linkgraph.Limits
	// greatest number of documents whose anchors are in memory at the same time (one segment may
	// have more); for more documents, the books are read several times
	Anchors   int
	Unvisited int // greatest number of unvisited URLs of a partition

	// greatest number of documents in memory while pages that translate each other are looked for
	Translated   int
	Dictionaries int                // greatest number of pairs of languages for which dictionaries are learnt
	Pages        int                // greatest number of pages that are read for one pair of languages
	Translation  translation.Limits // limits for one pair of languages
	Work         int                // greatest sum of Translation.Pairs over all pairs of languages
}

// DefaultLimits returns limits that keep a run below two gigabytes, and the learning of dictionaries
// below some five minutes.
func DefaultLimits() Limits {
	return Limits{
		Graph: linkgraph.DefaultLimits(), Anchors: 200_000, Unvisited: 100_000,
		Translated: 4_000_000, Dictionaries: 40, Pages: 1000, Translation: translation.DefaultLimits(), Work: 200_000_000,
	}
}

// Handle calls Run once for each message. The fields of a message do not matter.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.EachTask(ctx, f.Log, event, func(ctx context.Context, _ struct{}) error { return f.Run(ctx) }), nil
}

// Run ranks all documents, unless they are ranked already, and then learns dictionaries, unless they
// are learnt already. It fails with a partition.Fault, and changes nothing, if generations are lost,
// or if a book is damaged: the present ranks stay until repair has mended the damage.
func (f *Function) Run(ctx context.Context) error {
	inForce, err := f.Settings.Get(ctx)
	if err != nil {
		return err
	}
	var all []*partition.Partition
	for _, id := range inForce.Partitions() {
		p, err := partition.Open(ctx, f.Bucket, id, f.Now)
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	if err := f.rank(ctx, all, inForce.Takedowns); err != nil {
		return err
	}
	return f.learnDictionaries(ctx, all, inForce.Takedowns)
}

// rank ranks the documents of all partitions, unless they are ranked already.
func (f *Function) rank(ctx context.Context, all []*partition.Partition, forgotten takedown.Set) error {
	began := f.Now()
	of := f.name(all)
	due := slices.DeleteFunc(slices.Clone(all), func(p *partition.Partition) bool { return isRanked(p.Manifest(), of) })
	if len(due) == 0 {
		return nil
	}
	graph, err := f.read(ctx, all, forgotten)
	if err != nil {
		return err
	}
	ranks, steps, err := graph.Rank(ctx, f.Rules)
	if err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "ranked", "pages", graph.Pages(), "votes", graph.Votes(), "steps", steps, "took", f.Now().Sub(began))
	r := ranking{
		Function: f, graph: graph, ranks: ranks, forgotten: forgotten.Version, most: f.Limits.Anchors,
		known: make(map[string]coded), languages: make(map[string]int),
	}
	if err := r.countLanguages(ctx, all); err != nil {
		return err
	}
	for i, p := range all {
		if !slices.Contains(due, p) {
			continue
		}
		if err := r.commit(ctx, p, share(i, len(all)), of); err != nil {
			return fmt.Errorf("cannot rank the documents of partition %s: %w", p.ID(), err)
		}
	}
	return nil
}

// name returns the value that Manifest.Ranked gets if ranks are made now: a hash of the rules, of
// the keys of all books that the partitions list, and of the keys of all indexed packages. The
// packages count because the languages of unvisited URLs depend on the languages of the indexed
// pages.
func (f *Function) name(all []*partition.Partition) string {
	var keys []string
	for _, p := range all {
		for _, b := range p.Manifest().Books {
			keys = append(keys, b.Key)
		}
	}
	keys = append(keys, indexed(all)...)
	slices.Sort(keys)
	return layout.ContentHash(fmt.Appendf(nil, "%d %v %d %d %s", version, f.Rules, f.Limits.Unvisited, len(all), strings.Join(keys, " ")))
}

// indexed returns the keys of the partitions' packages that are indexed.
func indexed(all []*partition.Partition) (keys []string) {
	for _, p := range all {
		for _, pkg := range p.Manifest().Packages {
			if pkg.Indexed {
				keys = append(keys, pkg.Key)
			}
		}
	}
	return keys
}

// version is the version of the rules by which ranks are made. It must be raised with every change
// of which links count as votes, or of how a rank is coded, so that all ranks are made again.
const version = 3

// isRanked reports whether all segments of a generation have ranks and anchors that are up to date.
// The parameter of is the present result of Function.name: they are up to date if Manifest.Ranked
// equals it.
func isRanked(m *manifest.Manifest, of string) bool {
	lacking := slices.ContainsFunc(m.Segments, func(s manifest.Segment) bool { return s.Ranks == nil || s.Anchors == nil })
	return m.Ranked == of && !lacking
}

// read reads the graph of links from the books of all partitions.
func (f *Function) read(ctx context.Context, all []*partition.Partition, forgotten takedown.Set) (*linkgraph.Graph, error) {
	var listed []manifest.Book
	for _, p := range all {
		listed = append(listed, p.Manifest().Books...)
	}
	books, err := partition.OpenBooks(ctx, f.Bucket, listed)
	if err != nil {
		return nil, err
	}
	readers, err := books.Readers()
	if err != nil {
		return nil, err
	}
	return linkgraph.Read(ctx, readers, forgotten, f.Limits.Graph)
}
