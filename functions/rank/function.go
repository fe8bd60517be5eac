// Package rank ranks the pages of all partitions by the links between them. It also gathers
// anchors, which are the texts of the links to a page (Brin and Page, The Anatomy of a Large-Scale
// Hypertextual Web Search Engine, 1998, 2.2). It does so for unvisited URLs, too, which are known
// only by links. And it learns dictionaries from pages that are translations of each other. It
// stores all of this in overlays, which are objects beside the segments of the index. The function
// query searches the anchors, and translates queries by the dictionaries. Scores do not use the
// ranks yet, because on a single site they made answers no better.
//
// It reads the links from the books of all partitions (see linkgraph), and computes ranks (see
// pagerank). For each partition it commits the ranks and anchors of all documents, and the
// unvisited URLs whose hashes are in the partition's share.
//
// It also commits a hash of its input (the books, the indexed packages and the rules) as
// Manifest.Ranked. Each run begins by computing this hash anew. If it is still the same, and all
// segments have ranks and anchors, the run ends after reading the manifests. A segment that is
// committed later has no ranks until the next run.
//
// Dictionaries are learnt from the texts that segments store (see translation). Segments also store
// which pages are translations of each other. One partition lists the dictionaries of all
// partitions, in Manifest.Dictionaries.
//
// A run may be killed at any call, and there may be several runs, one after another or at the same
// time. All of them compute the same ranks, because ranks depend on the books alone. An overlay
// with ranks is stored only if the ranks of its segment have changed.
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
	"github.com/bucketsearch/bucketsearch/layout/segment"
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
	Dir      string // directory for temporary files; "" for the system's directory of temporary files
	Log      *slog.Logger
}

// Limits bound the memory and time of a run, and the size of its results.
type Limits struct {
	Graph linkgraph.Limits
	// number of documents whose anchors (texts of links to them) are in memory at the same time; more if a partition
	// has more than 64 times as many
	Anchors   int
	Unvisited int // greatest number of URLs without a page, known only by links, that a partition lists

	// greatest number of documents in memory during the search for pages that translate each other
	Translated   int
	Dictionaries int                // greatest number of pairs of languages for which dictionaries are learnt
	Pages        int                // greatest number of pages that are read for one pair of languages
	Translation  translation.Limits // limits for one pair of languages
	// Work limits the input for all pairs of languages together, as Translation.Pairs limits it for
	// one pair. Both are numbers of pairs of terms. With n pairs of languages, the limit for each is
	// the lesser of Translation.Pairs and Work/n.
	Work int
}

// DefaultLimits returns limits that keep the memory of a run below two gigabytes, and the time for
// learning dictionaries below some five minutes.
func DefaultLimits() Limits {
	return Limits{
		Graph: linkgraph.DefaultLimits(), Anchors: 1 << 14, Unvisited: 100_000,
		Translated: 4_000_000, Dictionaries: 40, Pages: 1000, Translation: translation.DefaultLimits(), Work: 200_000_000,
	}
}

// Handle calls Run once for each message. The fields of a message do not matter.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.EachTask(ctx, f.Log, event, func(ctx context.Context, _ struct{}) error { return f.Run(ctx) }), nil
}

// Run ranks all documents, unless they are ranked already, and then learns dictionaries, unless they
// are learnt already. It reads the links from books. If generations of a manifest are lost or a book
// is damaged, it changes nothing and fails with a partition.Fault. So the present ranks stay until
// repair has mended the damage.
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

// rank ranks the documents of all partitions, and gathers their anchors and the unvisited URLs,
// unless the present ones are up to date.
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
	graph.FreeVotes()
	if err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "ranked", "pages", graph.Pages(), "votes", graph.Votes(), "steps", steps, "took", f.Now().Sub(began))
	r := ranking{
		Function: f, graph: graph, ranks: encoded(ranks), forgotten: forgotten.Version,
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

// encoded returns the ranks as they are stored: as multiples of the mean rank (see segment.Rank).
func encoded(ranks []float64) []segment.Rank {
	all := make([]segment.Rank, len(ranks))
	for page, rank := range ranks {
		all[page] = segment.RankOf(rank * float64(len(ranks)))
	}
	return all
}

// name returns a hash of everything from which ranks, anchors and unvisited URLs are made: the
// rules, the keys of all books that the partitions list, and the keys of all indexed packages. The
// packages count because unvisited URLs get the language that is most frequent among indexed pages.
//
// The manifest stores the hash of the last run as Manifest.Ranked. If name still returns the same
// hash, nothing has changed.
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

// version is the version of the rules by which ranks are made. It must be raised whenever the rules
// change which links count as votes, how ranks are encoded, or what is indexed of unvisited URLs. Then
// all of this is made again.
const version = 4

// isRanked reports whether the function rank has nothing to do for a partition. Two conditions must
// hold. First, a run would use the same input (books, packages and rules) as the last run: the hash
// of the present input, which is the second parameter (see Function.name), equals Manifest.Ranked,
// the hash of the last run's input. Second, all segments in the manifest have ranks and anchors.
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
	return linkgraph.Read(ctx, readers, forgotten, f.Limits.Graph, f.Dir)
}
