package book

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// mergeRows yields the links of all books as rows, sorted, with numbers of
// their sources in the table.
func mergeRows(ctx context.Context, books []*Reader, f Filter, table []layout.Identity) iter.Seq2[row, error] {
	numbers := make(map[layout.Identity]uint32, len(table))
	for i, id := range table {
		numbers[id] = uint32(i)
	}
	var sequences []iter.Seq2[row, error]
	for _, b := range books {
		sequences = append(sequences, filterRows(ctx, b, f, numbers))
	}
	sameTarget := func(r, s row) int { return compareURL(r.Place, r.Target, s.Place, s.Target) }
	return func(yield func(row, error) bool) {
		for ofTarget, err := range mergeGroups(sequences, sameTarget) {
			if err != nil {
				yield(row{}, err)
				return
			}
			for _, r := range unite(ofTarget) {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// filterRows yields the rows of a book with other numbers for their sources.
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

// row returns what the filter keeps of a row. Words that were changed for some
// sources only make several rows of it.
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

// unite returns the rows of one target, in any order, as they stand in a book.
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

// Compare orders outcomes by place, identity and version, and then by all that
// remains, so that any order of the same outcomes sorts into one.
func (o Outcome) Compare(p Outcome) int {
	if c := compareURL(o.Place, o.URL, p.Place, p.URL); c != 0 {
		return c
	}
	return cmp.Or(
		o.Version.Compare(p.Version),
		cmp.Compare(o.State, p.State),
		cmp.Compare(o.Reason, p.Reason),
		cmp.Compare(o.Detail, p.Detail),
		cmp.Compare(o.Status, p.Status),
		cmp.Compare(o.Depth, p.Depth),
		cmp.Compare(o.Hops, p.Hops),
		cmp.Compare(o.Attempts, p.Attempts),
		cmp.Compare(o.Exponent, p.Exponent),
		cmp.Compare(o.Weight, p.Weight),
		cmp.Compare(o.Time.UnixMilli(), p.Time.UnixMilli()),
		cmp.Compare(o.ETag, p.ETag),
		cmp.Compare(o.Modified, p.Modified),
		cmp.Compare(o.Digest, p.Digest),
		cmp.Compare(o.Body, p.Body),
		slices.Compare(o.Collections, p.Collections),
		cmp.Compare(o.Package, p.Package),
		cmp.Compare(o.Offset, p.Offset),
		cmp.Compare(o.Length, p.Length),
		cmp.Compare(o.Pace.Rest.UnixMilli(), p.Pace.Rest.UnixMilli()),
		cmp.Compare(o.Pace.Delay.Milliseconds(), p.Pace.Delay.Milliseconds()),
		cmp.Compare(o.Pace.Failures, p.Pace.Failures),
	)
}

// Supersedes reports whether what o says of its URL counts rather than what p
// says of the same: its version is higher, or, which no sound batch brings
// about, it is the same and o comes first in the order of Compare.
func (o Outcome) Supersedes(p Outcome) bool {
	if c := o.Version.Compare(p.Version); c != 0 {
		return c > 0
	}
	return o.Compare(p) < 0
}

// compareLinks orders links by the place and identity of the target, and then
// by all that remains but the source.
func compareLinks(l, m Link) int {
	if c := compareURL(l.Place, l.Target, m.Place, m.Target); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(l.Kind, m.Kind),
		cmp.Compare(l.Region, m.Region),
		cmp.Compare(l.Rel, m.Rel),
		cmp.Compare(l.Anchor, m.Anchor),
		cmp.Compare(l.Around, m.Around),
		cmp.Compare(l.Depth, m.Depth),
		cmp.Compare(l.Hops, m.Hops),
		cmp.Compare(l.Weight, m.Weight),
		cmp.Compare(secondsOf(l.Modified), secondsOf(m.Modified)),
		cmp.Compare(l.Collection, m.Collection),
		cmp.Compare(l.Decision, m.Decision),
	)
}

// compareURL orders by place and identity. A place ends with the start of the
// identity, so identities are almost never asked for.
func compareURL(p layout.Place, url string, q layout.Place, other string) int {
	if c := cmp.Compare(p, q); c != 0 {
		return c
	}
	if url == other {
		return 0
	}
	return layout.IdentityOf(url).Compare(layout.IdentityOf(other))
}
