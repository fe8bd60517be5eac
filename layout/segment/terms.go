package segment

import (
	"context"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// Term is a term of a segment, with its list of postings. A Term keeps the whole block
// that contains it in memory, and the block's positions if Terms has read them, too.
type Term struct {
	Text    string
	Summary *postings.Summary
	List    *postings.List

	languages languages // languages of the segment
	counts    []uint32  // number of the term's documents in each language; nil in segments of version 2

	block  int    // number of the block that contains the term
	offset int64  // offset in bytes, within the positions of the block, at which the term's positions begin
	pages  []byte // pages of the block's positions; nil if they were not read with the block
}

// The method Terms reads blocks of terms, and can also read the positions of the terms in a block,
// which follow the block. It does so only if the positions of this block have at most aheadOfTerm
// bytes. In all blocks together it reads at most aheadOfTerms bytes of positions.
const (
	aheadOfTerm  = 128 << 10
	aheadOfTerms = 512 << 10
)

// Terms looks up terms by their texts, all with at most one call of Source.Read. The result has an
// element for each text; it is nil if the segment has no such term. If positions is true, the call
// also reads the positions of the terms' blocks, unless they are too long (see aheadOfTerm).
func (s *Segment) Terms(ctx context.Context, terms []string, positions bool) ([]*Term, error) {
	index := &s.tail.terms
	blocks := make([]int, 0, len(terms)) // sorted, each once
	for _, term := range terms {
		if b := index.find(term); b < len(index.counts) {
			blocks = append(blocks, b)
		}
	}
	slices.Sort(blocks)
	blocks = slices.Compact(blocks)
	ranges := make([]blob.Range, 0, 2*len(blocks))
	ahead := make([]int, len(blocks)) // for each block, its positions as an index in ranges; 0 if they are not read
	for _, b := range blocks {
		block, _ := index.split(b)
		ranges = append(ranges, block)
	}
	for i, left := 0, int64(aheadOfTerms); positions && i < len(blocks); i++ {
		if _, pages := index.split(blocks[i]); 0 < pages.Length && pages.Length <= min(aheadOfTerm, left) {
			ahead[i], left = len(ranges), left-pages.Length
			ranges = append(ranges, pages)
		}
	}
	contents, err := s.read(ctx, ranges)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(terms)) // indexes of terms, by their texts: each block is gone through once
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(terms[a], terms[b]) })
	found := make([]*Term, len(terms))
	var r blockReader
	current := -1 // index in blocks of the block that r reads
	for _, i := range order {
		n, ok := slices.BinarySearch(blocks, index.find(terms[i]))
		if !ok {
			continue
		}
		if n != current {
			if err := r.open(contents[n], index.positions[blocks[n]], s.tail); err != nil {
				return nil, s.wrap(err)
			}
			current = n
		}
		if found[i], err = s.findTerm(blocks[n], &r, terms[i]); err != nil {
			return nil, s.wrap(err)
		}
		if found[i] != nil && ahead[n] > 0 {
			found[i].pages = contents[ahead[n]]
		}
	}
	return found, nil
}

// findTerm finds a term in a block; it returns nil if the block does not contain the term. The
// parameter block is the index of the block that r reads. The terms that were looked for with r before must
// not be greater than this one.
func (s *Segment) findTerm(block int, r *blockReader, term string) (*Term, error) {
	if r.seek(term) {
		return s.openTerm(block, r)
	}
	return nil, r.err()
}

// openTerm returns the term at which the reader r stands. The parameter block is the number of the
// block that r reads.
func (s *Segment) openTerm(block int, r *blockReader) (*Term, error) {
	list, err := s.openList(r)
	if err != nil {
		return nil, err
	}
	t := &Term{Text: string(r.term), Summary: list.Summary(), List: list, block: block, offset: r.offset}
	if r.version > 2 {
		t.languages, t.counts = s.tail.languages, slices.Clone(r.counts)
	}
	return t, nil
}

// openList opens the list of postings of r's current term. It fails if the list contradicts the
// rest of the segment in one of these ways:
//   - The list gives another size of its positions than the block of terms.
//   - The last document of the list has a number that no document of the segment has.
//   - The stored numbers of the term's documents in each language do not add up to the number of
//     documents in the list.
func (s *Segment) openList(r *blockReader) (*postings.List, error) {
	list, err := postings.Open(r.list())
	if err != nil {
		return nil, damaged("term %q: %w", r.term, err)
	}
	sum := list.Summary()
	if int64(sum.Positions) != r.bytes || sum.Last >= s.tail.documents {
		return nil, damaged("term %q: its list does not fit", r.term)
	}
	if r.version > 2 && !complete(r.counts, sum.Documents) {
		return nil, damaged("term %q: its languages do not have its documents", r.term)
	}
	return list, nil
}

// Prefix returns the terms that begin with prefix, in ascending order. The number of terms is
// limited by the parameter most. The result more is true if terms are left out because of this
// limit. Prefix reads all blocks that may contain these terms with at most one call of Source.Read.
func (s *Segment) Prefix(ctx context.Context, prefix string, most int) (terms []*Term, more bool, err error) {
	index := &s.tail.terms
	first := index.find(prefix)
	var blocks []int
	// sure counts the terms of the blocks after the first. All of these have the prefix,
	// except some in the last block if no later block has any. The first block need not
	// contain a term with the prefix.
	for b, sure := first, 0; b < len(index.counts) && sure <= most; b++ {
		if b > first {
			if before := string(index.separator(b - 1)); before >= prefix && !strings.HasPrefix(before, prefix) {
				break
			}
			sure += int(index.counts[b])
		}
		blocks = append(blocks, b)
	}
	ranges := make([]blob.Range, len(blocks))
	for i, b := range blocks {
		ranges[i], _ = index.split(b)
	}
	contents, err := s.read(ctx, ranges)
	if err != nil {
		return nil, false, err
	}
	for i, content := range contents {
		var r blockReader
		if err := r.open(content, index.positions[blocks[i]], s.tail); err != nil {
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
			term, err := s.openTerm(blocks[i], &r)
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
