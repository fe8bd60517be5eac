package book

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Encode writes a book. The same outcomes and links in any order give the same
// bytes. It fails on a value over the caps of this package, on an unknown
// state, kind or region, and on a place that is not the URL's. The book that
// is given is left as it is.
func Encode(b Book) ([]byte, error) {
	outcomes, v := slices.Clone(b.Outcomes), version1
	for _, o := range outcomes {
		if err := checkOutcome(o); err != nil {
			return nil, fmt.Errorf("cannot encode book: %w", err)
		}
		if o.Pace != (Pace{}) {
			v = version2
		}
	}
	slices.SortFunc(outcomes, Outcome.Compare)
	urls := make(sourceURLs)
	for _, l := range b.Links {
		urls[l.Source] = ""
	}
	for _, o := range outcomes {
		urls.outcome(o)
	}
	sources := urls.table()
	rows, err := rowsOf(b.Links, sources)
	if err != nil {
		return nil, fmt.Errorf("cannot encode book: %w", err)
	}

	w := newWriter(v)
	for _, o := range outcomes {
		w.outcome(o)
	}
	for _, r := range rows {
		w.link(r)
	}
	return w.finish(sources), nil
}

// sourceURLs are the sources of all links of a book, and their URLs where these
// are outcomes of the same book.
type sourceURLs map[layout.Identity]string

func (urls sourceURLs) outcome(o Outcome) {
	id := o.Identity()
	if _, isSource := urls[id]; isSource {
		urls[id] = o.URL
	}
}

// table lists the sources once, in the order of their URLs: pages of one
// directory share their navigation, so that its sources become neighbours.
func (urls sourceURLs) table() []layout.Identity {
	table := make([]layout.Identity, 0, len(urls))
	for id := range urls {
		table = append(table, id)
	}
	slices.SortFunc(table, func(a, b layout.Identity) int {
		return cmp.Or(cmp.Compare(urls[a], urls[b]), a.Compare(b))
	})
	return table
}

// rowsOf gathers links that differ in nothing but the source.
func rowsOf(links []Link, sources []layout.Identity) ([]row, error) {
	number := make(map[layout.Identity]uint32, len(sources))
	for i, id := range sources {
		number[id] = uint32(i)
	}
	alike := make(map[Link][]uint32)
	for _, l := range links {
		n := number[l.Source]
		l.Source, l.Modified = layout.Identity{}, timeOf(secondsOf(l.Modified))
		alike[l] = append(alike[l], n)
	}
	rows := make([]row, 0, len(alike))
	for l, numbers := range alike {
		if err := checkLink(l); err != nil {
			return nil, err
		}
		slices.Sort(numbers)
		rows = appendRows(rows, l, numbers)
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(compareLinks(a.Link, b.Link), cmp.Compare(a.sources[0], b.sources[0]))
	})
	return rows, nil
}
