package segment

import (
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Positions is a range, in bytes, of a term's encoded positions, as
// postings.Iterator.PositionBlock returns it.
type Positions struct {
	Term           *Term // the term to which the positions belong
	Offset, Length uint32
}

// ReadPositions returns the bytes of each of the wanted ranges of positions. Some ranges may be in
// memory already, because Segment.Terms has read them with their terms. ReadPositions reads all
// others with at most one call of Source.Read.
func (s *Segment) ReadPositions(ctx context.Context, wanted []Positions) ([][]byte, error) {
	found := make([][]byte, len(wanted))
	var unread []int
	var ranges []blob.Range
	for i, w := range wanted {
		if uint64(w.Offset)+uint64(w.Length) > uint64(w.Term.Summary.Positions) {
			return nil, s.wrap(fmt.Errorf("positions of %q at %d, %d bytes: there are %d bytes", w.Term.Text, w.Offset, w.Length, w.Term.Summary.Positions))
		}
		place, part := s.extentOf(w)
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
		place, _ := s.extentOf(wanted[i])
		if found[i], err = fromPages(contents[n], place); err != nil {
			return nil, s.wrap(err)
		}
	}
	return found, nil
}

// extentOf says where encoded positions are stored. They are in pages, each with a checksum (see
// pageSize), and follow their block of terms. The first result is the range of the positions, counted
// without checksums. The second is the range of the pages that must be read to get them, counted
// with checksums. The offsets of both count from the first page of the block.
func (s *Segment) extentOf(w Positions) (place, part blob.Range) {
	place = blob.Range{Offset: w.Term.offset + int64(w.Offset), Length: int64(w.Length)}
	return place, pagesOf(place, s.tail.terms.positions[w.Term.block])
}

// A segment stores the encoded positions of a block of terms in pages of pageSize bytes. A page
// holds pageContent bytes of positions, and then their checksum. So a reader can fetch and verify a
// few pages alone. The last page may be shorter. Offsets of positions do not count the checksums.
const (
	pageSize    = 1 << 10
	pageContent = pageSize - sealSize
)

// sizeInPages returns the size in bytes, with checksums, of the pages that hold n bytes of
// positions.
func sizeInPages(n int64) int64 {
	return n + sealSize*((n+pageContent-1)/pageContent)
}

// appendPages appends positions to a segment, divided into pages, each with its checksum.
func appendPages(object, positions []byte) []byte {
	object = slices.Grow(object, int(sizeInPages(int64(len(positions)))))
	for len(positions) > 0 {
		from := len(object)
		n := min(pageContent, len(positions))
		object = seal(append(object, positions[:n]...), from)
		positions = positions[n:]
	}
	return object
}

// pagesOf says which bytes to read for some positions of a block: the whole pages (see pageSize)
// that contain them. The first parameter is the range of the positions, and the second is the size
// of all positions of the block, in bytes. These are counted without the checksums of pages; the
// result is counted with them.
func pagesOf(r blob.Range, total int64) blob.Range {
	from := r.Offset / pageContent
	to := (r.Offset + r.Length + pageContent - 1) / pageContent
	end := min(to*pageSize, sizeInPages(total))
	return blob.Range{Offset: from * pageSize, Length: end - from*pageSize}
}

// fromPages returns the positions at the range r. pages holds the bytes at the range that
// pagesOf returned for r; fromPages verifies their checksums.
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

// within returns the bytes of some positions from content, the bytes of pages. The second parameter
// says how many bytes of content come before them; r.Length is their number. within fails if content
// is too short. It needs r.Offset only for the text of the error.
func within(content []byte, skip int, r blob.Range) ([]byte, error) {
	if len(content) < skip+int(r.Length) {
		return nil, damaged("positions at %d end early", r.Offset)
	}
	return content[skip:][:r.Length], nil
}
