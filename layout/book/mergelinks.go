package book

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// mergeRows yields the links of all books that the filter keeps, as rows in groups with
// the same target. The sources of a row are indexes in table.
func mergeRows(ctx context.Context, books []*Reader, f Filter, table []layout.Identity) iter.Seq2[[]row, error] {
	numbers := make(map[layout.Identity]uint32, len(table))
	for i, id := range table {
		numbers[id] = uint32(i)
	}
	var sequences []iter.Seq2[row, error]
	for _, b := range books {
		sequences = append(sequences, filterRows(ctx, b, f, numbers))
	}
	return mergeGroups(sequences, func(r, s row) int { return compareURL(r.Place, r.Target, s.Place, s.Target) })
}

// filterRows yields the rows of one book that the filter keeps. numbers holds the new
// index of each source, by identity; the sources of the rows are replaced by it.
func filterRows(ctx context.Context, b *Reader, f Filter, numbers map[layout.Identity]uint32) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		table, err := b.Sources(ctx)
		if err != nil {
			yield(row{}, err)
			return
		}
		renumbered := make([]uint32, len(table))
		for i, id := range table {
			renumbered[i] = numbers[id]
		}
		for r, err := range b.rows(ctx, true, layout.Range{}) {
			if err != nil {
				yield(row{}, err)
				return
			}
			kept, err := f.row(r.link, r.sources, table)
			if err != nil {
				yield(row{}, err)
				return
			}
			for _, k := range kept {
				for i, number := range k.sources {
					k.sources[i] = renumbered[number]
				}
				if !yield(k, nil) {
					return
				}
			}
		}
	}
}

// row returns the part of a row that the filter keeps: of link l, from pages whose
// indexes in table are sources. The result is one row; or several, if the filter
// changes the link from some of the pages only.
func (f Filter) row(l Link, sources []uint32, table []layout.Identity) ([]row, error) {
	if f.Link == nil {
		return []row{{l, slices.Clone(sources)}}, nil
	}
	var kept []row
	for _, number := range sources {
		changed := l
		changed.Source = table[number]
		if !f.Link(&changed) {
			continue
		}
		if changed.Target != l.Target {
			return nil, fmt.Errorf("the filter has changed URL %s to %s", l.Target, changed.Target)
		}
		if err := checkLink(changed); err != nil {
			return nil, err
		}
		changed.Source = layout.Identity{}
		if len(kept) == 0 || kept[len(kept)-1].Link != changed {
			kept = append(kept, row{Link: changed})
		}
		last := &kept[len(kept)-1]
		last.sources = append(last.sources, number)
	}
	return kept, nil
}

// unite returns the rows of one target, given in any order, as a book has them: sorted,
// and with one row for links that differ only in their sources.
func unite(rows []row) []row {
	slices.SortFunc(rows, func(r, s row) int { return compareLinks(r.Link, s.Link) })
	var united []row
	for len(rows) > 0 {
		alike := 1
		for alike < len(rows) && rows[alike].Link == rows[0].Link {
			alike++
		}
		var numbers []uint32
		for _, r := range rows[:alike] {
			numbers = append(numbers, r.sources...)
		}
		slices.Sort(numbers)
		united = appendRows(united, rows[0].Link, slices.Compact(numbers))
		rows = rows[alike:]
	}
	return united
}
