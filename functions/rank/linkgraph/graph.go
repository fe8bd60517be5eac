package linkgraph

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/rank/pagerank"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Limits bound the memory of a graph. Read fails if one is exceeded.
type Limits struct {
	Pages int // greatest number of pages, aliases and URLs whose request failed
	Votes int // greatest number of votes
}

// DefaultLimits returns limits that keep a graph below two gigabytes.
func DefaultLimits() Limits { return Limits{Pages: 6_000_000, Votes: 60_000_000} }

// Graph is the pages in some books, and the votes between these pages. It is safe for concurrent
// use.
type Graph struct {
	known map[layout.Identity]number
	sites []uint32 // number of each page's site, by the number of the page
	votes *pagerank.Graph
	read  *reading // the books and the numbers of their pages, which Anchors needs to read the books again
}

// number identifies a page or an alias in the graph. Pages are numbered from 0 on, in the order of
// their places and identities, so that the pages of a site have successive numbers. The number of
// an alias has aliasBit set.
type number uint32

const (
	aliasBit number = 1 << 31
	unknown  number = 1<<32 - 1 // stands for the number of a source whose links do not count
)

func (n number) isPage() bool { return n < aliasBit }

// Pages returns the number of pages.
func (g *Graph) Pages() int { return len(g.sites) }

// Votes returns the number of votes. Several links of one page to another are one vote.
func (g *Graph) Votes() int { return g.votes.Links() }

// Find returns the index that the page with the given identity has in the result of Rank. The
// result found is false if there is no such page.
func (g *Graph) Find(id layout.Identity) (index int, found bool) {
	n, known := g.known[id]
	return int(n), known && n.isPage()
}

// Rank returns the rank of every page, by its index (see Find). The result steps is the number of
// iterations that the computation took.
func (g *Graph) Rank(ctx context.Context, r pagerank.Rules) (ranks []float64, steps int, err error) {
	return g.votes.Rank(ctx, r)
}

// Read reads the graph of all pages in the books, which should be the books of all partitions. It
// leaves out forgotten pages, even if the books still have them.
func Read(ctx context.Context, books []*book.Reader, forgotten takedown.Set, l Limits) (*Graph, error) {
	r := newReading(books, l, pagesOfRange)
	r.forgotten = forgotten
	for _, step := range []func(context.Context) error{r.readPages, r.readSources, r.readVotes} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("cannot read the graph of links: %w", err)
		}
	}
	var err error
	r.graph.votes, err = pagerank.New(r.graph.sites, r.resolved()...)
	r.graph.read = r
	return r.graph, err
}

// pagesOfRange is the least number of pages in one of the ranges into which the hash space is
// divided. The links to one range are read together.
const pagesOfRange = 1 << 16

// reading is the state of Read while it reads the graph from the books.
type reading struct {
	books     []*book.Reader
	limits    Limits
	forgotten takedown.Set
	span      int // least number of pages in one range of the hash space
	graph     *Graph
	in        []uint32                 // index of the book that has each page's links, by the number of the page
	nameless  map[layout.Identity]bool // URLs without a page that Unvisited leaves out because of their outcome
	aliasIn   []uint32                 // index of the book that has each alias's link, by the number of the alias
	last      layout.Place             // place of the page that was numbered last
	places    []layout.Place           // place of the first page of each range of the hash space
	firsts    []uint32                 // number of the first page of each range
	// for each book, the numbers of the pages that have links in it; unknown stands for a page
	// whose last version has its links in another book
	sources [][]number
	ranges  []votes // votes read from the books, by range
	// identity of the address to which each alias leads, by the number of the alias; zero if
	// unknown
	aliases []layout.Identity
}

func newReading(books []*book.Reader, l Limits, span int) *reading {
	return &reading{books: books, limits: l, span: span, graph: &Graph{known: make(map[layout.Identity]number)}, nameless: make(map[layout.Identity]bool)}
}

// readPages finds all pages and aliases in the books, and numbers them. It finds them by the
// outcomes that determine the state of each URL (see book.Standings).
func (r *reading) readPages(ctx context.Context) error {
	g := r.graph
	for s, err := range book.Standings(ctx, r.books) {
		if err != nil {
			return err
		}
		switch {
		case len(s.Books) == 0 || !r.forgotten.Empty() && r.forgotten.ForgetsURL(s.Final.URL):
		case s.Stands() && !s.Page.Asset:
			r.addPage(s.Page.Identity(), s.Page.Place, slices.Min(s.Books))
		case isAlias(s.Final):
			g.known[s.Final.Identity()] = number(len(r.aliasIn)) | aliasBit
			r.aliasIn = append(r.aliasIn, uint32(slices.Min(s.Books)))
		case s.Stands(), isNameless(s.Final): // a stored asset, or no page
			r.nameless[s.Final.Identity()] = true
		}
		if len(g.known)+len(r.nameless) > r.limits.Pages {
			return fmt.Errorf("there are more than %d pages, redirects and failures, which the function rank would not have the memory for", r.limits.Pages)
		}
	}
	r.aliases = make([]layout.Identity, len(r.aliasIn))
	return nil
}

// addPage gives the next number to a page whose place is at, and whose links are in r.books[index].
// If the present range of the hash space has r.span pages already, a new range begins with this
// page. But pages with the same place always stay in one range.
func (r *reading) addPage(id layout.Identity, at layout.Place, index int) {
	g, n := r.graph, len(r.graph.sites)
	g.known[id] = number(n)
	if last := len(r.firsts) - 1; last < 0 || n-int(r.firsts[last]) >= r.span && at != r.last {
		r.places, r.firsts = append(r.places, at), append(r.firsts, uint32(n))
	}
	r.last = at
	g.sites = append(g.sites, at.Site())
	r.in = append(r.in, uint32(index))
}

// isAlias reports whether an outcome says that its URL leads to another one: by a redirect, or by
// the canonical address that its page names.
func isAlias(o *book.Outcome) bool {
	return o.State == book.Skipped && (o.Reason == membership.Redirect || o.Reason == membership.Canonical)
}

// readSources reads for every book which pages have links in it, into r.sources.
func (r *reading) readSources(ctx context.Context) error {
	r.sources = make([][]number, len(r.books))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, b := range r.books {
		group.Go(func() error {
			table, err := b.Sources(within)
			if err != nil {
				return err
			}
			r.sources[i] = make([]number, len(table))
			for k, id := range table {
				r.sources[i][k] = r.source(id, uint32(i))
			}
			return nil
		})
	}
	return group.Wait()
}

// parallel is the greatest number of books or ranges that are read at the same time.
const parallel = 4

// source returns the number of the page or alias with the identity, if the links of its last
// version are in r.books[index]. Otherwise it returns unknown.
func (r *reading) source(id layout.Identity, index uint32) number {
	n, known := r.graph.known[id]
	switch {
	case !known:
	case n.isPage() && r.in[n] == index, !n.isPage() && r.aliasIn[n&^aliasBit] == index:
		return n
	}
	return unknown
}
