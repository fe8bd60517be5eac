package rank

import (
	"context"
	"log/slog"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/rank/linkgraph"
)

// gathering has the anchors (texts of links) of documents. It divides them into groups of documents that follow each
// other. The texts of each group are in a file of their own, and the anchors of only one group are in memory.
type gathering struct {
	texts   *linkgraph.Texts
	size    int // number of documents of a group
	group   int // the group whose anchors are in memory; −1: none yet
	anchors map[int32]linkgraph.Anchors
	log     *slog.Logger
}

// maxGroups is the greatest number of groups of documents, because each has an open file.
const maxGroups = 64

// newGathering reads the texts of all links to some documents. The parameter pages has, for each document, the number
// of its page in the graph of links; −1 if the graph does not have the page. Each group has Limits.Anchors documents,
// or more if there would be more than maxGroups groups.
func (r *ranking) newGathering(ctx context.Context, pages []int32) (*gathering, error) {
	g := &gathering{size: max(1, r.Limits.Anchors, (len(pages)+maxGroups-1)/maxGroups), group: -1, log: r.Log}
	var err error
	g.texts, err = r.graph.Texts(ctx, r.Dir, (len(pages)+g.size-1)/g.size, g.groupsOf(pages, r.graph.Pages()))
	return g, err
}

// groupsOf returns a function that tells for a page in which groups it has documents. Nearly always this is one group:
// several documents have the same page if earlier versions of it are in other segments. The parameter n is the number
// of all pages.
func (g *gathering) groupsOf(pages []int32, n int) func(page int) []uint16 {
	var all []uint64 // page and group of each document: the page in the upper half
	for doc, page := range pages {
		if page >= 0 {
			all = append(all, uint64(page)<<32|uint64(doc/g.size))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	ends, groups := make([]uint32, n), make([]uint16, len(all)) // the groups of page p are groups[ends[p-1]:ends[p]]
	next := 0
	for page := range ends {
		for ; next < len(all) && all[next]>>32 == uint64(page); next++ {
			groups[next] = uint16(all[next])
		}
		ends[page] = uint32(next)
	}
	return func(page int) []uint16 {
		from := uint32(0)
		if page > 0 {
			from = ends[page-1]
		}
		return groups[from:ends[page]]
	}
}

// of returns the anchors of the documents from the given one on, before the document end. The keys of the map are the
// numbers of pages. It must be called for documents in ascending order, and drops what it has returned before.
func (g *gathering) of(ctx context.Context, doc int) (anchors map[int32]linkgraph.Anchors, end int, err error) {
	if group := doc / g.size; group != g.group {
		g.anchors = nil
		if g.anchors, err = g.texts.Anchors(group); err != nil {
			return nil, 0, err
		}
		g.group = group
		cut := 0
		for _, a := range g.anchors {
			cut += a.Cut
		}
		if cut > 0 {
			g.log.InfoContext(ctx, "anchors beyond the limit of a page are left out", "texts", cut)
		}
	}
	return g.anchors, (g.group + 1) * g.size, nil
}
