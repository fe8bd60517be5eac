package segment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// Term is what is known of a term. It keeps the block of bytes in which its
// list lies.
type Term struct {
	Text      string
	Summary   *postings.Summary
	List      *postings.List
	Positions blob.Range // for ReadPositions; see there
}

// Terms returns the terms, nil where one is absent. It is one read.
func (s *Segment) Terms(ctx context.Context, terms []string) ([]*Term, error) {
	blocks := make([]int, 0, len(terms)) // sorted, each once
	for _, term := range terms {
		if b := s.tail.terms.find(term); b < len(s.tail.terms.counts) {
			blocks = append(blocks, b)
		}
	}
	slices.Sort(blocks)
	blocks = slices.Compact(blocks)
	contents, err := s.read(ctx, s.tail.terms.ranges(blocks))
	if err != nil {
		return nil, err
	}
	found := make([]*Term, len(terms))
	for i, term := range terms {
		n, ok := slices.BinarySearch(blocks, s.tail.terms.find(term))
		if !ok {
			continue
		}
		if found[i], err = s.findTerm(contents[n], term); err != nil {
			return nil, s.wrap(err)
		}
	}
	return found, nil
}

func (s *Segment) findTerm(block []byte, term string) (*Term, error) {
	var r blockReader
	if err := r.open(block, s.tail.positions); err != nil {
		return nil, err
	}
	for r.next() {
		if string(r.term) >= term {
			if string(r.term) > term {
				return nil, nil
			}
			return s.openTerm(&r)
		}
	}
	return nil, r.err()
}

// openTerm returns the reader's current term.
func (s *Segment) openTerm(r *blockReader) (*Term, error) {
	list, err := s.openList(r)
	if err != nil {
		return nil, err
	}
	return &Term{
		Text:      string(r.term),
		Summary:   list.Summary(),
		List:      list,
		Positions: blob.Range{Offset: r.offset, Length: r.bytes},
	}, nil
}

func (s *Segment) openList(r *blockReader) (*postings.List, error) {
	list, err := postings.Open(r.list())
	if err != nil {
		return nil, damaged("term %q: %w", r.term, err)
	}
	sum := list.Summary()
	if int64(sum.Positions) != r.bytes || r.offset+r.bytes > s.tail.positions || sum.Last >= s.tail.documents {
		return nil, damaged("term %q: its list does not fit", r.term)
	}
	return list, nil
}

// Prefix returns the first terms that begin with the prefix, at most most, and
// whether there are more. It is one read of neighbouring bytes.
func (s *Segment) Prefix(ctx context.Context, prefix string, most int) (terms []*Term, more bool, err error) {
	index := &s.tail.terms
	first := index.find(prefix)
	var blocks []int
	// The first block may hold none; of those between, all terms are found.
	for b, sure := first, 0; b < len(index.counts) && sure <= most; b++ {
		if b > first {
			if before := string(index.separator(b - 1)); before >= prefix && !strings.HasPrefix(before, prefix) {
				break
			}
			sure += int(index.counts[b])
		}
		blocks = append(blocks, b)
	}
	contents, err := s.read(ctx, index.ranges(blocks))
	if err != nil {
		return nil, false, err
	}
	for _, content := range contents {
		var r blockReader
		if err := r.open(content, s.tail.positions); err != nil {
			return nil, false, s.wrap(err)
		}
		for r.next() {
			if string(r.term) < prefix {
				continue
			}
			if !strings.HasPrefix(string(r.term), prefix) {
				return terms, false, nil
			}
			if len(terms) == most {
				return terms, true, nil
			}
			term, err := s.openTerm(&r)
			if err != nil {
				return nil, false, s.wrap(err)
			}
			terms = append(terms, term)
		}
		if err := r.err(); err != nil {
			return nil, false, s.wrap(err)
		}
	}
	return terms, false, nil
}

// ReadPositions returns bytes of positions: a range begins at the offset of
// Term.Positions plus that of postings.Iterator.PositionBlock, and is as long
// as the latter says. It is one read.
func (s *Segment) ReadPositions(ctx context.Context, ranges []blob.Range) ([][]byte, error) {
	start, total := s.tail.pagesFrom(), s.tail.positions
	wanted := make([]blob.Range, 0, len(ranges))
	for _, r := range ranges {
		if r.Offset < 0 || r.Length < 0 || r.Offset > total || r.Length > total-r.Offset {
			return nil, s.wrap(fmt.Errorf("positions at %d, %d bytes: there are %d bytes", r.Offset, r.Length, total))
		}
		if r.Length > 0 {
			pages := pagesOf(r, total)
			wanted = append(wanted, blob.Range{Offset: start + pages.Offset, Length: pages.Length})
		}
	}
	contents, err := s.read(ctx, wanted)
	if err != nil {
		return nil, err
	}
	found := make([][]byte, len(ranges))
	for i, r := range ranges {
		if r.Length == 0 {
			continue
		}
		if found[i], err = fromPages(contents[0], r); err != nil {
			return nil, s.wrap(err)
		}
		contents = contents[1:]
	}
	return found, nil
}
