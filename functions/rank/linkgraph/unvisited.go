package linkgraph

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// Unvisited is a URL that has no stored page, with its anchors: the texts of the links to it. It may be
// that of a mail address (see address.ParseMail).
type Unvisited struct {
	URL   string
	Place layout.Place
	Anchors
	// Around has different words around the links to a mail address, at most maxAround texts. Often the
	// text of the link is the address itself, and only these words tell whose it is. It is nil for any
	// other URL, so that no text of a page is shown under another URL without need.
	Around []string
}

// maxAround is the greatest number of texts around the links to a mail address that are kept.
const maxAround = 8

// partSize is the target size in bytes of one step of the search for unvisited URLs. The search
// divides the hash space into parts, and takes one part in each step. The book with the most links
// has about partSize bytes of links to the URLs in one part. A few parts are searched at the same
// time (see parallel).
const partSize = 1 << 20

// Unvisited returns URLs in a range of the hash space that have no page in the index, but can be
// found by their anchors (texts of links to them). Whether a URL is returned depends on the reason
// why it has no page:
//
//	it was never requested, or has not answered yet                     returned
//	it is that of a mail address                                        returned
//	its content has a type that is not indexed, or is too big           returned
//	the request failed, the page says noindex, or the URL leads to
//	another one                                                         left out
//
// The parameter most is the greatest number of URLs to return. If there are more, Unvisited prefers
// URLs whose most used anchor occurs on many sites. The result cut is the number of URLs that are
// left out because of this limit. The returned URLs are sorted by place, the hash by which URLs are
// divided among partitions.
func (g *Graph) Unvisited(ctx context.Context, within layout.Range, most int) (best []Unvisited, cut int, err error) {
	r := g.read
	var mu sync.Mutex // protects best and cut
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, part := range r.parts(within) {
		group.Go(func() error {
			found, err := r.unvisited(ctx, part)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			best = append(best, found...)
			if over := len(best) - most; over > 0 {
				slices.SortFunc(best, compareNamed)
				best, cut = slices.Delete(best, most, len(best)), cut+over
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, 0, err
	}
	slices.SortFunc(best, func(a, b Unvisited) int { return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.URL, b.URL)) })
	return best, cut, nil
}

// parts divides a range of the hash space into parts for the search (see partSize). Links are stored
// in several books, sorted by the hash of the target. The borders of the parts are taken from the
// largest book: each part covers about partSize bytes of its links.
func (r *reading) parts(within layout.Range) (parts []layout.Range) {
	if len(r.books) == 0 {
		return nil
	}
	size := func(b *book.Reader) int64 { _, links := b.Sizes(); return links }
	largest := slices.MaxFunc(r.books, func(a, b *book.Reader) int { return cmp.Compare(size(a), size(b)) })
	for _, part := range largest.Parts(layout.Range{}, partSize) {
		part.From = max(part.From, within.From)
		if within.To != 0 && (part.To == 0 || part.To > within.To) {
			part.To = within.To
		}
		if part.To == 0 || part.From < part.To {
			parts = append(parts, part.Range)
		}
	}
	return parts
}

// compareNamed compares two URLs for sorting by their first anchors, which are the most used texts
// of links to them. First comes the URL whose anchor occurs on more sites. If the numbers of sites are
// equal, the URL whose anchor has more links comes first. If those are equal too, it is the URL that
// is less as a string.
func compareNamed(a, b Unvisited) int {
	return cmp.Or(cmp.Compare(b.All[0].Sites, a.All[0].Sites), cmp.Compare(b.All[0].Links, a.All[0].Links), cmp.Compare(a.URL, b.URL))
}

// unvisited returns the unvisited URLs, which are known only by links, in a part of the hash space.
func (r *reading) unvisited(ctx context.Context, within layout.Range) ([]Unvisited, error) {
	type target struct {
		url    string
		place  layout.Place
		texts  texts
		around []string
	}
	targets := make(map[layout.Identity]*target)
	for index, b := range r.books {
		sources := r.sources[index]
		var id layout.Identity
		wanted, isMail := false, false
		for row, err := range b.Rows(ctx, within, true) {
			if err != nil {
				return nil, err
			}
			if row.ID != id { // rows of one target follow each other
				id = row.ID
				wanted = r.isUnvisited(&row)
				isMail = address.Shown(row.Target) != row.Target
			}
			if !wanted || !isNaming(&row) {
				continue
			}
			if isMail {
				row.Region = book.Text // no page of the site tells more of it than its navigation
			}
			v := r.voters(&row, sources, unknown, row.Place.Site())
			if v.links == 0 {
				continue
			}
			if targets[id] == nil {
				targets[id] = &target{url: row.Target, place: row.Place, texts: texts{of: make(map[string]*voters)}}
			}
			t := targets[id]
			t.texts.add(row.Anchor, v)
			if isMail && row.Around != "" && len(t.around) < maxAround && !slices.Contains(t.around, row.Around) {
				t.around = append(t.around, row.Around)
			}
		}
	}
	found := make([]Unvisited, 0, len(targets))
	for _, t := range targets {
		found = append(found, Unvisited{t.url, t.place, t.texts.anchors(), t.around})
	}
	return found, nil
}

// isUnvisited reports whether the target of a row of links is a URL that has no page, but may be
// found by the texts of the links.
func (r *reading) isUnvisited(row *book.Row) bool {
	if _, known := r.graph.known[row.ID]; known || r.nameless[row.ID] {
		return false
	}
	return r.forgotten.Empty() || !r.forgotten.ForgetsURL(row.Target)
}

// isNameless reports whether a URL without a page must not be found by the texts of links to it. The
// parameter is the outcome of the last request for the URL. The result is true, for example, if this
// request failed, or if it found a page that says noindex.
func isNameless(o *book.Outcome) bool {
	switch {
	case o.State == book.Stored, o.State == book.Unchanged, o.State == book.Lost, membership.WasUnasked(*o):
		return false
	case o.State == book.Skipped:
		return o.Reason != "type" && o.Reason != "too big"
	}
	return true
}
