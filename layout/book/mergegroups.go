package book

import "iter"

// cursor is a sequence of which the first row is known.
type cursor[T any] struct {
	row  T
	next func() (T, error, bool)
}

// mergeGroups yields the rows of all sequences, which are sorted, in groups of
// equal ones. A group is valid until the next. An error ends it.
func mergeGroups[T any](sequences []iter.Seq2[T, error], compare func(T, T) int) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var cursors []*cursor[T] // sorted by their rows
		settle := func(at int) { // a cursor that may be too far in front
			for ; at+1 < len(cursors) && compare(cursors[at].row, cursors[at+1].row) > 0; at++ {
				cursors[at], cursors[at+1] = cursors[at+1], cursors[at]
			}
		}
		for _, rows := range sequences {
			next, stop := iter.Pull2(rows)
			defer stop()
			row, err, more := next()
			if err != nil {
				yield(nil, err)
				return
			}
			if more {
				cursors = append([]*cursor[T]{{row, next}}, cursors...)
				settle(0)
			}
		}
		var group []T
		for len(cursors) > 0 {
			first := cursors[0]
			if len(group) > 0 && compare(group[0], first.row) != 0 {
				if !yield(group, nil) {
					return
				}
				group = group[:0]
			}
			group = append(group, first.row)
			row, err, more := first.next()
			switch {
			case err != nil:
				yield(nil, err)
				return
			case more:
				first.row = row
				settle(0)
			default:
				cursors = cursors[1:]
			}
		}
		if len(group) > 0 {
			yield(group, nil)
		}
	}
}
