package segment

import (
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Positions are bytes of a term's positions, as postings.Iterator.PositionBlock
// names them.
type Positions struct {
	Term           *Term // of the segment
	Offset, Length uint32
}

// ReadPositions returns bytes of positions. It is one read of those that were
// not read with their terms, none if all were.
func (s *Segment) ReadPositions(ctx context.Context, wanted []Positions) ([][]byte, error) {
	found := make([][]byte, len(wanted))
	var unread []int
	var ranges []blob.Range
	for i, w := range wanted {
		if uint64(w.Offset)+uint64(w.Length) > uint64(w.Term.Summary.Positions) {
			return nil, s.wrap(fmt.Errorf("positions of %q at %d, %d bytes: there are %d bytes", w.Term.Text, w.Offset, w.Length, w.Term.Summary.Positions))
		}
		place, part := s.placeOf(w)
		switch {
		case w.Length == 0:
		case w.Term.pages == nil:
			_, pages := s.tail.terms.split(w.Term.block)
			unread = append(unread, i)
			ranges = append(ranges, blob.Range{Offset: pages.Offset + part.Offset, Length: part.Length})
		default:
			var err error
			if found[i], err = fromPages(w.Term.pages[part.Offset:][:part.Length], place); err != nil {
				return nil, s.wrap(err)
			}
		}
	}
	contents, err := s.read(ctx, ranges)
	if err != nil {
		return nil, err
	}
	for n, i := range unread {
		place, _ := s.placeOf(wanted[i])
		if found[i], err = fromPages(contents[n], place); err != nil {
			return nil, s.wrap(err)
		}
	}
	return found, nil
}

// placeOf returns where positions are among those of their block, and which
// part of the block's pages holds them.
func (s *Segment) placeOf(w Positions) (place, part blob.Range) {
	place = blob.Range{Offset: w.Term.offset + int64(w.Offset), Length: int64(w.Length)}
	return place, pagesOf(place, s.tail.terms.positions[w.Term.block])
}
