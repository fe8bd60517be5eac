package segment

import (
	"cmp"
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

// The method Terms reads blocks of terms, and can also read the positions of the terms in a block, which follow the
// block. aheadOfTerms is the greatest sum of the sizes, in bytes, of the positions that it reads by one call. They arrive
// in 13 ms, at 80 MB per second. Reading them later takes another request, of 60 ms.
const aheadOfTerms = 1 << 20

// Terms looks up terms by their texts, all with at most one call of Source.Read. The result has an
// element for each text; it is nil if the segment has no such term. If positions is true, the call
// also reads the positions of the terms' blocks, the shortest first, as long as their sizes add up to at most
// aheadOfTerms.
func (s *Segment) Terms(ctx context.Context, terms []string, positions bool) ([]*Term, error) {
	return s.TermsBy(ctx, terms, positions, nil)
}

// TermsBy is like Terms, but is faster for blocks in which it has looked for terms before: it keeps guides of
// these blocks (see Guide) in the given cache. The cache may be nil.
func (s *Segment) TermsBy(ctx context.Context, terms []string, positions bool, cache Guides) ([]*Term, error) {
	blocks := s.tail.terms.divide(terms)
	numbers := make([]int, len(blocks))
	ranges := make([]blob.Range, len(blocks), 2*len(blocks))
	ahead := make([]int, len(blocks)) // for each block, its positions as an index in ranges; 0 if they are not read
	for i, b := range blocks {
		numbers[i] = b.number
		ranges[i], _ = s.tail.terms.split(b.number)
	}
	if positions {
		for _, i := range s.tail.terms.ahead(blocks) {
			_, pages := s.tail.terms.split(blocks[i].number)
			ahead[i] = len(ranges)
			ranges = append(ranges, pages)
		}
	}
	contents, err := s.read(ctx, ranges)
	if err != nil {
		return nil, err
	}
	guides := make([]*Guide, len(blocks))
	if cache != nil {
		guides = cache.Guides(s.ref.Key, numbers)
	}
	found := make([]*Term, len(terms))
	for i, b := range blocks {
		var r blockReader
		guide, err := s.openBlock(&r, b.number, contents[i], guides[i], cache)
		if err == nil {
			err = s.findTerms(&r, guide, b, terms, found)
		}
		if err != nil {
			return nil, s.wrap(err)
		}
		for _, at := range b.terms {
			if found[at] != nil && ahead[i] > 0 {
				found[at].pages = contents[ahead[i]]
			}
		}
	}
	return found, nil
}

// wantedBlock is a block in which some terms are looked up.
type wantedBlock struct {
	number int   // number of the block in the segment
	terms  []int // the terms, in ascending order, as indexes in the texts that are looked up
}

// divide returns the blocks that can contain the terms with the given texts, in ascending order, each with these
// terms. A term above the last separator is left out, because no block can contain it.
func (t *termIndex) divide(texts []string) (blocks []wantedBlock) {
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(texts[a], texts[b]) })
	for len(order) > 0 {
		number := t.find(texts[order[0]])
		if number == len(t.counts) {
			break
		}
		end := 1
		for end < len(order) && texts[order[end]] <= string(t.separator(number)) {
			end++
		}
		blocks = append(blocks, wantedBlock{number, order[:end]})
		order = order[end:]
	}
	return blocks
}

// ahead returns the blocks whose positions are read together with their terms, as indexes in the parameter: those with
// the shortest positions, as long as these have at most aheadOfTerms bytes together. Blocks without positions are left out.
func (t *termIndex) ahead(blocks []wantedBlock) (chosen []int) {
	size := func(i int) int64 { return sizeInPages(t.positions[blocks[i].number]) }
	for i := range blocks {
		if size(i) > 0 {
			chosen = append(chosen, i)
		}
	}
	slices.SortStableFunc(chosen, func(i, j int) int { return cmp.Compare(size(i), size(j)) })
	left := int64(aheadOfTerms)
	for n, i := range chosen {
		if left -= size(i); left < 0 {
			return chosen[:n]
		}
	}
	return chosen
}

// openBlock opens a block of terms with the reader r, and returns a guide of the block. If the parameter guide was
// made from the bytes in sealed, it is returned. Otherwise openBlock verifies the bytes, makes a guide, and puts
// it into the cache. Without a cache it returns a guide without marks.
func (s *Segment) openBlock(r *blockReader, number int, sealed []byte, guide *Guide, cache Guides) (*Guide, error) {
	total := s.tail.terms.positions[number]
	if guide.isOf(sealed) {
		r.reopen(sealed[:len(sealed)-sealSize], total, s.tail)
		return guide, nil
	}
	err := r.open(sealed, total, s.tail)
	if err != nil || cache == nil {
		return new(Guide), err
	}
	guide = newGuide(r, sealed)
	if err := r.err(); err != nil {
		return nil, err
	}
	cache.PutGuide(s.ref.Key, number, guide)
	r.reopen(r.p.data, total, s.tail)
	return guide, nil
}

// findTerms looks for the terms of b in their block. It sets found[i] for each term texts[i] that the block
// contains. The reader must stand before the first term of the block. The slices texts and found are those of all
// terms that are looked up, in any block.
func (s *Segment) findTerms(r *blockReader, guide *Guide, b wantedBlock, texts []string, found []*Term) (err error) {
	for _, at := range b.terms {
		text := texts[at]
		if string(r.term) < text {
			guide.lead(r, text)
		}
		for (r.p.at == 0 || string(r.term) < text) && r.next() {
		}
		if err := r.err(); err != nil {
			return err
		}
		if r.p.at > 0 && string(r.term) == text {
			if found[at], err = s.openTerm(b.number, r); err != nil {
				return err
			}
		}
	}
	return nil
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
//   - The list gives another size of its positions than the block of terms, which has it up to version 3.
//   - The last document of the list has a number that no document of the segment has.
//   - The stored numbers of the term's documents in each language do not add up to the number of
//     documents in the list.
func (s *Segment) openList(r *blockReader) (*postings.List, error) {
	list, err := postings.Open(r.list(), s.tail.lengths)
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
