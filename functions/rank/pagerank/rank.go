package pagerank

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"
)

// Rules are the parameters of the computation of ranks (see the package comment).
type Rules struct {
	Damping float64 // probability that the reader follows a link
	// greatest rank that all pages of one site together give one page, as a multiple of the mean
	// rank; 0: no cap
	Cap     float64
	Epsilon float64 // the computation ends when a step changes the ranks by at most Epsilon, in the L1 norm
}

// DefaultRules returns the damping of Brin and Page, a Cap of 2, and an Epsilon so small that every
// rank is within 1e-9 of the exact one.
//
// A Cap of 2 means that links from three sites can outweigh any number of links from one site. For
// example, let each linking page have the mean rank and only this link. Then one site gives the
// target at most twice the mean rank, whether two or a thousand of its pages have the link. Three
// sites with one such page each give it three times the mean rank.
func DefaultRules() Rules {
	return Rules{Damping: 0.85, Cap: 2, Epsilon: 1e-10}
}

// steps returns a number of steps after which the ranks are exact enough: the last step changes
// them by at most Epsilon. The first step changes them by at most 2 (L1 norm), and each further one
// by at most Damping times the change of the step before.
func (r Rules) steps() int {
	return 2 + int(math.Ceil(math.Log(r.Epsilon/2)/math.Log(r.Damping)))
}

// Rank returns the rank of every page, by the page's number. The ranks sum to 1. The result steps
// is the number of iterations that the computation took. Rank fails when ctx ends, or if the rules
// make no sense.
func (g *Graph) Rank(ctx context.Context, r Rules) (ranks []float64, steps int, err error) {
	if r.Damping < 0 || r.Damping >= 1 || r.Epsilon <= 0 {
		return nil, 0, fmt.Errorf("cannot rank with damping %g until %g: want a damping of 0 to 1, and a positive end", r.Damping, r.Epsilon)
	}
	if g.pages == 0 {
		return nil, 0, nil
	}
	w := g.begin(r)
	for change := math.Inf(1); change > r.Epsilon && steps < r.steps(); steps++ {
		if change, err = w.step(ctx); err != nil {
			return nil, steps, err
		}
	}
	return w.ranks, steps, nil
}

// walk is the state of the computation of ranks.
type walk struct {
	*Graph
	Rules
	// limit of the rank that all pages of one site together give to one page; if a single one of them
	// gives more, that is the limit
	most  float64
	ranks []float64 // present rank of each page, by the number of the page
	gives []float64 // rank that each page gives to the target of each of its links
	takes []float64 // rank that each page gets from all links to it
}

// begin returns the state before the first step, in which all pages have the same rank.
func (g *Graph) begin(r Rules) *walk {
	w := &walk{Graph: g, Rules: r, most: math.Inf(1)}
	if r.Cap > 0 && g.sites > 1 {
		w.most = r.Cap / float64(g.pages)
	}
	w.ranks, w.gives, w.takes = make([]float64, g.pages), make([]float64, g.pages), make([]float64, g.pages)
	for page := range w.ranks {
		w.ranks[page] = 1 / float64(g.pages)
	}
	return w
}

// step computes the ranks once more from the present ones. It returns by how much the ranks
// changed, in the L1 norm.
func (w *walk) step(ctx context.Context) (change float64, err error) {
	kept, err := w.each(ctx, w.give)
	if err != nil {
		return 0, err
	}
	taken, err := w.each(ctx, w.take)
	if err != nil {
		return 0, err
	}
	lost := max(0, kept+taken)
	base := (1 - w.Damping + w.Damping*lost) / float64(w.pages)
	return w.each(ctx, func(c *chunk) (change float64) {
		for page := c.first; page < c.end(); page++ {
			now := base + w.Damping*w.takes[page]
			change += math.Abs(now - w.ranks[page])
			w.ranks[page] = now
		}
		return change
	})
}

// each calls the given function once for every chunk of the graph, and returns the sum of the
// results. Several calls run at the same time. each fails when ctx ends.
func (w *walk) each(ctx context.Context, do func(c *chunk) float64) (sum float64, err error) {
	results := make([]float64, len(w.chunks))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range w.chunks {
		group.Go(func() error {
			results[i] = do(&w.chunks[i])
			return within.Err()
		})
	}
	err = group.Wait()
	for _, r := range results { // in their order, so that rounding does not depend on processors
		sum += r
	}
	return sum, err
}

// parallel is the greatest number of chunks that are worked on at the same time.
const parallel = 8

func (c *chunk) end() uint32 { return c.first + uint32(len(c.ends)) }

// give sets w.gives for the pages of a chunk. This is the rank that a page gives by each of its
// links: its own rank divided by the number of its links (w.out).
//
// A link of a template counts as a fraction of a link. So all links of a page together may count as
// less than one link. If they count as 0.4 links, they give 0.4 of the page's rank together, and the
// rest of the rank is lost. give returns the sum of what all pages of the chunk lose.
func (w *walk) give(c *chunk) (lost float64) {
	for page := c.first; page < c.end(); page++ {
		links := w.out[page]
		w.gives[page] = w.ranks[page] / max(1, links)
		if links < 1 {
			lost += w.ranks[page] * (1 - links)
		}
	}
	return lost
}

// take sets w.takes for the pages of a chunk: the rank that a page gets by the links to it. The
// result lost is the rank that these pages do not get because of the cap, which limits what one
// site can give a page.
func (w *walk) take(c *chunk) (lost float64) {
	from := uint32(0)
	for i, to := range c.ends {
		total := 0.0
		for rest := c.edges.from(int(from))[:edgeSize*int(to-from)]; len(rest) > 0; {
			n := ofSite(rest)
			if n == 1 {
				total += w.gives[rest.at(0).source()]
			} else {
				given, allowed := w.site(rest[:edgeSize*n])
				total += allowed
				lost += given - allowed
			}
			rest = rest.from(n)
		}
		w.takes[c.first+uint32(i)] = total
		from = to
	}
	return lost
}

// site computes the rank that the pages of one site give to one page. The parameter all has the
// links from this site to this page. The result given is the rank without the cap, which limits
// what one site can give a page. The result allowed is the rank that remains with the cap.
func (w *walk) site(all edges) (given, allowed float64) {
	template, repeated, strongest := 0.0, 0, 0.0
	for i := range all.count() {
		e := all.at(i)
		gift := w.gives[e.source()]
		if e&templateEdge != 0 {
			template += gift
			repeated++
			continue
		}
		given += gift
		strongest = max(strongest, gift)
	}
	if repeated > 0 {
		template /= float64(repeated)
		given += template
		strongest = max(strongest, template)
	}
	return given, min(given, max(strongest, w.most))
}
