package segment

import (
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Positions is a range of a term's positions, as postings.Iterator.PositionBlock returns
// it.
type Positions struct {
	Term           *Term // of the segment
	Offset, Length uint32
}

// ReadPositions returns bytes of positions. Those that were not read with their terms
// take one read.
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

// placeOf returns the range of positions within their block, and the range of the
// object's pages that holds it.
func (s *Segment) placeOf(w Positions) (place, part blob.Range) {
	place = blob.Range{Offset: w.Term.offset + int64(w.Offset), Length: int64(w.Length)}
	return place, pagesOf(place, s.tail.terms.positions[w.Term.block])
}

// The positions of a block's terms are divided into pages, each with a checksum, so that
// any few of them can be read and verified. Offsets of positions do not count the
// checksums.
const (
	pageSize    = 1 << 10
	pageContent = pageSize - sealSize
)

// sizeInPages returns the size in the object of n bytes of positions.
func sizeInPages(n int64) int64 {
	return n + sealSize*((n+pageContent-1)/pageContent)
}

func appendPages(object, positions []byte) []byte {
	for len(positions) > 0 {
		from := len(object)
		n := min(pageContent, len(positions))
		object = seal(append(object, positions[:n]...), from)
		positions = positions[n:]
	}
	return object
}

// pagesOf returns where the checksummed pages that hold r are stored. Neither r nor
// total, the size of all positions, counts the checksums.
func pagesOf(r blob.Range, total int64) blob.Range {
	from := r.Offset / pageContent
	to := (r.Offset + r.Length + pageContent - 1) / pageContent
	end := min(to*pageSize, sizeInPages(total))
	return blob.Range{Offset: from * pageSize, Length: end - from*pageSize}
}

// fromPages returns the range r from the pages that pagesOf returned.
func fromPages(pages []byte, r blob.Range) ([]byte, error) {
	if r.Length == 0 {
		return nil, nil
	}
	skip := int(r.Offset % pageContent)
	if len(pages) <= pageSize {
		// The usual case needs no copy.
		page, err := unseal(pages)
		if err != nil {
			return nil, damaged("positions at %d: %w", r.Offset, err)
		}
		return within(page, skip, r)
	}
	content := make([]byte, 0, len(pages))
	for len(pages) > 0 {
		n := min(pageSize, len(pages))
		page, err := unseal(pages[:n])
		if err != nil {
			return nil, damaged("positions at %d: %w", r.Offset, err)
		}
		content = append(content, page...)
		pages = pages[n:]
	}
	return within(content, skip, r)
}

func within(content []byte, skip int, r blob.Range) ([]byte, error) {
	if len(content) < skip+int(r.Length) {
		return nil, damaged("positions at %d end early", r.Offset)
	}
	return content[skip:][:r.Length], nil
}
