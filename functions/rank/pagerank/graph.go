package pagerank

import (
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
)

// MaxPages is the greatest number of pages of a graph.
const MaxPages = 1 << 30

// leastRepeated is the least number of pages of a site that must link to the same page before these
// links count as a template, such as the navigation of the site. addSite has a further condition.
const leastRepeated = 16

// Link is a link from one page to another. Pages have numbers below MaxPages. As integers, links
// sort by target, then by source.
type Link uint64

// NewLink returns a link between two pages, which are given by their numbers. The parameter template
// is true if the link is part of a template, such as the navigation of a site.
func NewLink(source, target uint32, template bool) Link {
	l := Link(target)<<32 | Link(source)<<1
	if template {
		l |= 1
	}
	return l
}

// Source returns the number of the page that has the link.
func (l Link) Source() uint32 { return uint32(l) >> 1 }

// Target returns the number of the page to which the link leads.
func (l Link) Target() uint32 { return uint32(l >> 32) }

// To returns a link with the source and the template flag of l, but with the given target.
func (l Link) To(target uint32) Link { return l&(1<<32-1) | Link(target)<<32 }

// Template reports whether the link is part of a template.
func (l Link) Template() bool { return l&1 == 1 }

// edge is the number of the page that a link comes from, with two flags about the link.
type edge uint32

const (
	templateEdge edge = 1 << iota // the link is part of a template, such as navigation
	// firstOfSite marks the first of the edges from one site to one target. Edges are sorted by
	// target, then by source, and the pages of a site have successive numbers. So these edges
	// follow each other.
	firstOfSite
	sourceBit = iota
)

func (e edge) source() uint32 { return uint32(e >> sourceBit) }

// Graph is a graph of pages and the links between them.
type Graph struct {
	chunks []chunk
	pages  int
	sites  int
	out    []float64 // how many links each page has, by page number; links of a template may count less (see count)
}

// chunk has the links to some pages with successive numbers. The field first is the number of the
// first page, and the field ends has an element for each page.
type chunk struct {
	first uint32
	// for the i-th page of the chunk, ends[i] says where the links to this page end in edges: they
	// are edges[ends[i-1]:ends[i]], or edges[:ends[0]] for the first page
	ends  []uint32
	edges []edge // the sources of all links to pages of the chunk, sorted by target, then by source
}

// New returns a graph of links. The parameter sites has the site of every page, by the page's
// number. The pages of one site must have successive numbers.
//
// The links are given in several slices (the parameter parts). Each slice has the links to one
// range of pages, and later slices are for higher page numbers. For example, the first has all
// links to the pages 0 to 99, and the second has those to the pages from 100 on. Within a slice,
// links may be in any order, and repeated. New sorts and changes the slices. It fails if there are
// more than MaxPages pages.
func New(sites []uint32, parts ...[]Link) (*Graph, error) {
	if len(sites) > MaxPages {
		return nil, fmt.Errorf("cannot rank %d pages: at most %d", len(sites), MaxPages)
	}
	g := &Graph{pages: len(sites), out: make([]float64, len(sites))}
	of := make([]siteRange, 0, 1024)
	for page, site := range sites {
		if page == 0 || sites[page-1] != site {
			of = append(of, siteRange{from: uint32(page)})
		}
		of[len(of)-1].to = uint32(page) + 1
	}
	g.sites = len(of)
	g.chunks = make([]chunk, len(parts))
	var group errgroup.Group
	group.SetLimit(parallel)
	next := 0 // the first page without a chunk
	for i, links := range parts {
		from, to := next, len(sites)
		if i < len(parts)-1 {
			if to = next; len(links) > 0 {
				to = int(slices.Max(links).Target()) + 1
			}
		}
		next = to
		group.Go(func() error {
			g.chunks[i] = newChunk(from, to, links, of)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i := range g.chunks {
		for edges := g.chunks[i].edges; len(edges) > 0; {
			n := ofSite(edges)
			g.count(edges[:n])
			edges = edges[n:]
		}
	}
	return g, nil
}

// ofSite returns how many edges at the beginning of the slice come from the same site and lead to
// the same page. The flag firstOfSite must be set in the first edge. The edges up to the next one
// with this flag are counted.
func ofSite(edges []edge) int {
	n := 1
	for n < len(edges) && edges[n]&firstOfSite == 0 {
		n++
	}
	return n
}

// count adds to g.out the links from the pages of one site to one page (the parameter edges). A
// link adds 1 to the number of links of its source. Links that are part of a template, such as
// navigation, add less: if there are k of them, each adds 1/k, so that together they count as one
// link.
func (g *Graph) count(edges []edge) {
	repeated := 0
	for _, e := range edges {
		repeated += int(e & templateEdge)
	}
	for _, e := range edges {
		if e&templateEdge == 0 {
			g.out[e.source()]++
		} else {
			g.out[e.source()] += 1 / float64(repeated)
		}
	}
}

// siteRange is the range of the pages of one site. It has the pages with the numbers n for which
// from ≤ n < to.
type siteRange struct{ from, to uint32 }

// newChunk returns the chunk of the links to the pages with the numbers n for which from ≤ n < to.
// It sorts and changes the parameter links. The parameter sites has, for each site, the range of
// its pages, in ascending order.
func newChunk(from, to int, links []Link, sites []siteRange) chunk {
	slices.Sort(links)
	links = slices.CompactFunc(links, func(l, m Link) bool { return l>>1 == m>>1 }) // of two equal links, the one in the text sorts before the one of a template
	c := chunk{first: uint32(from), ends: make([]uint32, to-from), edges: make([]edge, 0, len(links))}
	for page := range c.ends {
		at := 0
		for len(links) > 0 && links[0].Target() == c.first+uint32(page) {
			source := links[0].Source()
			skip, _ := slices.BinarySearchFunc(sites[at:], source, func(s siteRange, page uint32) int {
				return int(int64(s.to) - int64(page) - 1)
			})
			at += skip
			n := 0
			for n < len(links) && links[n].Target() == c.first+uint32(page) && links[n].Source() < sites[at].to {
				n++
			}
			c.addSite(links[:n], sites[at])
			links = links[n:]
		}
		c.ends[page] = uint32(len(c.edges))
	}
	return c
}

// addSite adds to the chunk the links from the pages of one site to one page. If more than half of
// the site's pages have such a link, and at least leastRepeated of them, all these links count as
// part of a template.
func (c *chunk) addSite(links []Link, site siteRange) {
	repeated := len(links) >= leastRepeated && 2*len(links) > int(site.to-site.from)
	for i, l := range links {
		e := edge(l.Source() << sourceBit)
		if repeated || l.Template() {
			e |= templateEdge
		}
		if i == 0 {
			e |= firstOfSite
		}
		c.edges = append(c.edges, e)
	}
}

// Links returns the number of links in the graph. Several links from one page to the same other page
// count once.
func (g *Graph) Links() (n int) {
	for i := range g.chunks {
		n += len(g.chunks[i].edges)
	}
	return n
}
