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
	Pages int // greatest number of pages, aliases and failed URLs together
	Votes int // greatest number of votes (links that count for ranks)
}

// DefaultLimits returns limits that keep a graph below two gigabytes.
func DefaultLimits() Limits { return Limits{Pages: 6_000_000, Votes: 60_000_000} }

// Graph has the pages that some books (records of the crawl) name, and the votes between these
// pages, which are the links that count for ranks. It is safe for concurrent use.
type Graph struct {
	known map[layout.Identity]number
	sites []uint32 // number of each page's site, by the number of the page
	votes *pagerank.Graph
	read  *reading // the books and the numbers of their pages, which Anchors needs to read the books again
}

// number identifies a page or an alias in the graph. Pages are numbered from 0 on, site by site:
// they are sorted by place, a hash whose upper half is that of the site, and then by identity, the
// hash of the URL. Aliases are numbered separately, also from 0 on; the number of an alias has
// aliasBit set in addition.
type number uint32

const (
	aliasBit number = 1 << 31
	// unknown stands for a URL without a number. For the source of a link in a book, it can also mean
	// that the newest version of the page is in another book, so that the link does not count.
	unknown number = 1<<32 - 1
)

func (n number) isPage() bool { return n < aliasBit }

// Pages returns the number of pages.
func (g *Graph) Pages() int { return len(g.sites) }

// Votes returns the number of votes, which are the links that count for ranks. Several links of
// one page to another are one vote.
func (g *Graph) Votes() int { return g.votes.Links() }

// Find returns the index that the page with the given identity (hash of its URL) has in the result
// of Rank. The result found is false if there is no such page.
func (g *Graph) Find(id layout.Identity) (index int, found bool) {
	n, known := g.known[id]
	return int(n), known && n.isPage()
}

// Rank returns the rank of every page, by its index (see Find). The result steps is the number of
// iterations that the computation took. Rank must not be called after FreeVotes.
func (g *Graph) Rank(ctx context.Context, r pagerank.Rules) (ranks []float64, steps int, err error) {
	return g.votes.Rank(ctx, r)
}

// FreeVotes frees the votes, which only Rank needs. It must be called in the end.
func (g *Graph) FreeVotes() { g.votes.Close() }

// Read reads the graph of all pages in the books, which should be the books of all partitions. It
// leaves out pages that a takedown covers, even if the books still have them. The graph has files in the directory dir
// (see scratch.Create), until FreeVotes is called.
func Read(ctx context.Context, books []*book.Reader, forgotten takedown.Set, l Limits, dir string) (*Graph, error) {
	return read(ctx, books, forgotten, l, pagesOfRange, dir)
}

// read does the work of Read. The parameter span is the least number of pages in one range of the hash space.
func read(ctx context.Context, books []*book.Reader, forgotten takedown.Set, l Limits, span int, dir string) (*Graph, error) {
	r := newReading(books, l, span, dir)
	r.forgotten = forgotten
	defer r.closeVotes()
	for _, step := range []func(context.Context) error{r.readPages, r.readSources, r.readVotes, r.resolve, r.makeGraph} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("cannot read the graph of links: %w", err)
		}
	}
	r.graph.read = r
	return r.graph, nil
}

// pagesOfRange is the least number of pages in one of the ranges into which the hash space is
// divided. The links to the pages of a range are read together.
const pagesOfRange = 1 << 16

// reading is the state of Read while it reads the graph from the books.
type reading struct {
	books     []*book.Reader
	limits    Limits
	forgotten takedown.Set
	span      int    // least number of pages in one range of the hash space
	dir       string // directory for files
	graph     *Graph
	// in[n] is the index, in the field books, of the book that has the links of page number n
	in       []uint32
	nameless map[layout.Identity]bool // URLs that searches must not find by texts of links to them, such as stored assets
	// aliasIn[n] is the index, in the field books, of the book that has the link of alias number n
	aliasIn []uint32
	last    layout.Place   // place (hash of the site and the URL) of the last page that has got a number
	places  []layout.Place // place (hash) of the first page of each range of the hash space
	firsts  []uint32       // number of the first page of each range of the hash space
	// sources[k] belongs to books[k], which has a table of the URLs with links in this book. The
	// number of the i-th URL of the table is sources[k][i]. It is the constant unknown if the URL
	// is not in the graph, or if its newest links are in another book.
	sources [][]number
	// votes[i] has the votes (links that count for ranks) for the pages in the i-th range of the hash space, and
	// aliasVotes those for all aliases (see resolve)
	votes      []*spill
	aliasVotes *spill
	// identity (hash of the URL) of the address to which each alias leads, by the number of the
	// alias; zero if unknown
	aliases []layout.Identity
}

func newReading(books []*book.Reader, l Limits, span int, dir string) *reading {
	return &reading{books: books, limits: l, span: span, dir: dir, graph: &Graph{known: make(map[layout.Identity]number)}, nameless: make(map[layout.Identity]bool)}
}

// readPages finds all pages and aliases in the books, and numbers them. The books record the
// outcomes of all requests for a URL. book.Standings yields, for each URL, the few outcomes that
// determine its present state. They tell whether the URL has a page now, or leads to another URL.
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

// addPage gives the next number to a page, whose links are in r.books[index]. The parameter at is the
// page's place, a hash of its URL. Pages must be added in the order of their places.
//
// addPage also divides the hash space into ranges. If the present range has at least r.span pages, it
// begins a new range with this page. But pages with the same place always stay in one range.
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

// isAlias reports whether the outcome of a request says that its URL leads to another one: by a
// redirect, or by the canonical address that its page names.
func isAlias(o *book.Outcome) bool {
	return o.State == book.Skipped && (o.Reason == membership.Redirect || o.Reason == membership.Canonical)
}

// readSources fills r.sources. Each book has a table of the URLs whose pages have the links in this
// book. readSources reads the table of every book, and looks up the number of each of its URLs in the
// graph (see source).
func (r *reading) readSources(ctx context.Context) error {
	r.sources = make([][]number, len(r.books))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, b := range r.books {
		group.Go(func() error {
			return b.EachSource(within, func(id layout.Identity) {
				r.sources[i] = append(r.sources[i], r.source(id, uint32(i)))
			})
		})
	}
	return group.Wait()
}

// parallel is the greatest number of books or ranges that are read at the same time.
const parallel = 4

// source returns the number of the page or alias with the given identity (hash of its URL) as a source
// of links in the book r.books[index]. The links in this book count only if they are those of the
// newest version of the page. Otherwise, or if the page is not in the graph, source returns the
// constant unknown.
func (r *reading) source(id layout.Identity, index uint32) number {
	n, known := r.graph.known[id]
	switch {
	case !known:
	case n.isPage() && r.in[n] == index, !n.isPage() && r.aliasIn[n&^aliasBit] == index:
		return n
	}
	return unknown
}
