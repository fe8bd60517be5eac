package rank

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/rank/linkgraph"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// ranking holds the ranks of all pages while they are committed, one partition after another.
type ranking struct {
	*Function
	graph *linkgraph.Graph
	ranks []segment.Rank // rank of each page, by the page's index in the graph
	// version of the takedowns in force when the run began; the graph leaves out the pages that
	// they cover
	forgotten uint64
	known     map[string]coded
	// number of documents in each language, in all partitions as they were when the run began
	languages map[string]int
}

// coded holds the pages and ranks of the documents of one segment.
type coded struct {
	// pages[d] is the number that the graph of links gives to the page of document d; −1 if the graph
	// does not have this page
	pages  []int32
	ranks  []segment.Rank
	damage error // why the segment cannot be read; nil if it can
}

// atOnce is the greatest number of segments that are read at the same time.
const atOnce = 4

// commit stores the results of a run for one partition: the ranks and anchors (texts of links) of
// all its documents, and the unvisited URLs whose hashes are in the given range. The last parameter
// is the new value of Manifest.Ranked (see Function.name).
//
// A segment that cannot be read is left as it is; the command verify reports it. Another process
// may commit a segment during the run. This segment gets its anchors only from the next run.
func (r *ranking) commit(ctx context.Context, p *partition.Partition, within layout.Range, of string) error {
	listed := p.Manifest().Segments
	if err := r.learn(ctx, listed); err != nil {
		return err
	}
	anchors, free, err := r.gather(ctx, listed)
	defer free()
	if err != nil {
		return err
	}
	links, err := r.unvisited(ctx, within)
	defer links.close()
	if err != nil {
		return err
	}
	return r.commitKnown(ctx, p, anchors, links, of)
}

// commitKnown commits what a run has made for a partition. These are the ranks of all segments; the given anchors
// (texts of links), by the keys of their segments; and the unvisited URLs. It sets Manifest.Ranked to the last
// parameter.
//
// commitKnown fails with partition.ErrStale if a takedown was applied since the run began. The
// anchors could then have words of pages that must be forgotten.
func (r *ranking) commitKnown(ctx context.Context, p *partition.Partition, anchors map[string][]byte, links *unvisited, of string) error {
	return p.Commit(ctx, func(e *partition.Edit) error {
		m := e.Manifest()
		if m.Forgotten > r.forgotten {
			return partition.ErrStale
		}
		if err := r.learn(ctx, m.Segments); err != nil {
			return err
		}
		ranks := make(map[string][]segment.Rank)
		for _, s := range m.Segments {
			if known := r.known[s.Key]; known.damage == nil {
				ranks[s.Key] = known.ranks
			}
		}
		ranked, err := e.SetRanks(ctx, ranks)
		if err != nil {
			return err
		}
		named, err := e.SetAnchors(ctx, anchors)
		if err != nil {
			return err
		}
		linked, err := e.SetUnvisited(ctx, links.content, links.documents, links.cut)
		if err != nil {
			return err
		}
		if !e.SetRanked(of) && !ranked && !named && !linked {
			return partition.ErrUnchanged
		}
		return nil
	})
}

// learn reads the documents of the listed segments. For each segment it stores in r.known the pages
// of the documents and their ranks. If a commit is tried again, learn is called again. So it skips
// segments that are in r.known already.
func (r *ranking) learn(ctx context.Context, listed []manifest.Segment) error {
	results := make([]coded, len(listed))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range listed {
		known, found := r.known[listed[i].Key]
		if found {
			results[i] = known
			continue
		}
		group.Go(func() (err error) {
			results[i].pages, results[i].ranks, err = r.ofSegment(within, &listed[i])
			if partition.IsDamaged(err) {
				r.Log.ErrorContext(ctx, "the documents of a segment that cannot be read are not ranked", "key", listed[i].Key, "error", err)
				results[i].damage, err = err, nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, s := range listed {
		r.known[s.Key] = results[i]
	}
	return nil
}

// ofSegment returns two lists with an element for each document of a listed segment. The first has
// the number of the document's page in the graph of links, or −1 if the graph does not have the page.
// The second has the page's rank. To find the pages, ofSegment reads the segment's column of
// identities (hashes of URLs), and nothing else of the segment.
func (r *ranking) ofSegment(ctx context.Context, listed *manifest.Segment) (pages []int32, ranks []segment.Rank, err error) {
	s, err := partition.OpenSegment(ctx, segment.Ranges{Bucket: r.Bucket}, listed)
	if err != nil {
		return nil, nil, err
	}
	identities, err := s.Identities(ctx)
	if err != nil {
		return nil, nil, err
	}
	pages, ranks = make([]int32, len(identities)), make([]segment.Rank, len(identities))
	for doc, id := range identities {
		page, found := r.graph.Find(id)
		if !found {
			pages[doc] = -1
			continue
		}
		pages[doc], ranks[doc] = int32(page), r.ranks[page]
	}
	return pages, ranks, nil
}
