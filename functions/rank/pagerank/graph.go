package pagerank

import (
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
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

// edges are encoded edges, four bytes each.
type edges []byte

const edgeSize = 4

func (e edges) count() int { return len(e) / edgeSize }

func (e edges) at(i int) edge { return edge(binary.NativeEndian.Uint32(e[edgeSize*i:])) }

// from returns the edges without the first n.
func (e edges) from(n int) edges { return e[edgeSize*n:] }

func (e edges) add(more edge) edges { return binary.NativeEndian.AppendUint32(e, uint32(more)) }

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
	links  int
	out    []float64 // how many links each page has, by page number; links of a template may count less (see count)
}

// chunk has the links to some pages with successive numbers. The field first is the number of the
// first page, and the field ends has an element for each page.
type chunk struct {
	first uint32
	// for the i-th page of the chunk, ends[i] says where the links to this page end in edges: they
	// are those with the indexes from ends[i-1] to ends[i]-1, or from 0 to ends[0]-1 for the first page
	ends  []uint32
	edges edges         // the sources of all links to pages of the chunk, sorted by target, then by source
	file  *scratch.File // has the edges
}

// New returns a graph of links. The parameter sites has the site of every page, by the page's
// number. The pages of one site must have successive numbers.
//
// The links are in several parts, each with the links to one range of pages. The parameter ends has the end of each
// range: the first part has the links to the pages before ends[0], the next part those to the pages from there
// before ends[1], and the last one is len(sites). The function read returns the links of a part, in any order, and
// perhaps repeated. It is called once for each part, by a few goroutines at the same time, and New changes what it
// returns.
//
// The graph has files in the directory dir (see scratch.Create) until Close is called. New fails if there are
// more than MaxPages pages.
func New(sites []uint32, dir string, ends []int, read func(part int) ([]Link, error)) (*Graph, error) {
	if len(sites) > MaxPages {
		return nil, fmt.Errorf("cannot rank %d pages: at most %d", len(sites), MaxPages)
	}
	g := &Graph{pages: len(sites), out: make([]float64, len(sites)), chunks: make([]chunk, len(ends))}
	of := make([]siteRange, 0, 1024)
	for page, site := range sites {
		if page == 0 || sites[page-1] != site {
			of = append(of, siteRange{from: uint32(page)})
		}
		of[len(of)-1].to = uint32(page) + 1
	}
	g.sites = len(of)
	var group errgroup.Group
	group.SetLimit(partsAtOnce)
	for i, to := range ends {
		from := 0
		if i > 0 {
			from = ends[i-1]
		}
		group.Go(func() error {
			links, err := read(i)
			if err != nil {
				return err
			}
			g.chunks[i] = newChunk(from, to, links, of)
			return g.chunks[i].spill(dir)
		})
	}
	if err := group.Wait(); err != nil {
		g.Close()
		return nil, err
	}
	for i := range g.chunks {
		for rest := g.chunks[i].edges; len(rest) > 0; {
			n := ofSite(rest)
			g.count(rest[:n*edgeSize])
			rest = rest.from(n)
		}
	}
	return g, nil
}

// partsAtOnce is the greatest number of parts of links that are in memory at the same time.
const partsAtOnce = 4

// spill moves the edges from memory to a file, from which they are mapped.
func (c *chunk) spill(dir string) (err error) {
	if c.file, err = scratch.Create(dir); err != nil {
		return err
	}
	if _, err := c.file.Write(c.edges); err != nil {
		return err
	}
	c.edges, err = c.file.Map(0)
	return err
}

// Close frees the files of the graph, which must not be ranked afterwards. The number of its links stays known.
func (g *Graph) Close() {
	for i := range g.chunks {
		if file := g.chunks[i].file; file != nil {
			_ = file.Close() // its bytes are not needed any more
		}
	}
	g.chunks, g.out = nil, nil
}

// ofSite returns how many edges at the beginning of the slice come from the same site and lead to
// the same page. The flag firstOfSite must be set in the first edge. The edges up to the next one
// with this flag are counted.
func ofSite(all edges) int {
	n := 1
	for n < all.count() && all.at(n)&firstOfSite == 0 {
		n++
	}
	return n
}

// count adds to g.out the links from the pages of one site to one page (the parameter all). A
// link adds 1 to the number of links of its source. Links that are part of a template, such as
// navigation, add less: if there are k of them, each adds 1/k, so that together they count as one
// link.
func (g *Graph) count(all edges) {
	g.links += all.count()
	repeated := 0
	for i := range all.count() {
		repeated += int(all.at(i) & templateEdge)
	}
	for i := range all.count() {
		e := all.at(i)
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
	c := chunk{first: uint32(from), ends: make([]uint32, to-from), edges: make(edges, 0, edgeSize*len(links))}
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
		c.ends[page] = uint32(c.edges.count())
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
		c.edges = c.edges.add(e)
	}
}

// Links returns the number of links in the graph. Several links from one page to the same other page
// count once.
func (g *Graph) Links() int { return g.links }
