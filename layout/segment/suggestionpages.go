package segment

import (
	"bytes"
	"context"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// The columns of suggestions. A page of keys is a column of its own, whose name is the prefix and a separator, as that
// of a page of words (see forwardPrefix).
const (
	suggestionSizes      = "suggestion sizes"
	suggestionKeysPrefix = "suggestion keys:"
	suggestionBlocks     = "suggestion blocks"
	// suggestionPageSize is the size, in bytes, above which a page of keys is closed. It is larger than that of a page
	// of words, because a key has a list of suggestions.
	suggestionPageSize = 32 << 10
)

// isOfSuggestions reports whether a column is about suggestions.
func (c *columnExtent) isOfSuggestions() bool {
	switch c.kind {
	case suggestionsKind, suggestionKeysKind, suggestionBlocksKind, suggestionSizesKind:
		return true
	}
	return false
}

// suggestionBlocks decodes the column suggestionSizes: it returns the number of suggestions, and where in the segment
// their blocks are.
func (s *Segment) suggestionBlocks(sizes []byte) (count uint32, blocks []blob.Range, err error) {
	c := s.columnOf(suggestionBlocks, suggestionBlocksKind)
	p := parser{data: sizes}
	count = uint32(p.number(maxSuggestions))
	blocks = make([]blob.Range, p.count(1))
	total := int64(0)
	for i := range blocks {
		blocks[i] = blob.Range{Offset: total, Length: int64(p.number(maxColumn))}
		total += blocks[i].Length
	}
	if c == nil || p.failed || p.left() > 0 || len(blocks) != (int(count)+suggestionBlock-1)/suggestionBlock || total > maxColumn || packedSize(int(total)) != c.size {
		return 0, nil, s.wrap(damaged("column %s does not describe the suggestions", suggestionSizes))
	}
	for i := range blocks {
		blocks[i].Offset += c.offset + int64(unpackedStart(int(total)))
	}
	return count, blocks, nil
}

// eachKeyed calls the function do for each suggestion of a page of keys that has a key in a range. The parameters
// suggestions and documents are the numbers of all of them in the segment. The parameter whole of do says whether the
// key is the beginning of the range.
func (r *readPage) eachKeyed(in *wordRange, suggestions, documents uint32, do func(k keyed, whole bool)) error {
	p := parser{data: r.content}
	width := docWidth(documents)
	var key []byte
	for p.left() > 0 {
		key = p.front(key)
		list := parser{data: p.take(p.count(1))}
		if p.failed {
			return damaged("page of suggestions up to %q does not hold what it tells of", r.last)
		}
		if in.to != "" && string(key) >= in.to {
			return nil
		}
		if string(key) < in.from {
			continue
		}
		whole := len(key) == len(in.from)
		number := uint64(0)
		for list.left() > 0 {
			step := list.number(maxSuggestions << 2)
			of := list.take(1 + width)
			if number += step >> 2; list.failed || number >= uint64(suggestions) || Place(step&3) >= noPlaces {
				return damaged("suggestions: the list of %q", key)
			}
			do(keyed{uint32(number), Place(step & 3), traits(of[0]), documentAt(of[1:])}, whole)
		}
	}
	return nil
}

// documentAt decodes the number of a document (see appendDocument).
func documentAt(b []byte) (doc uint32) {
	for _, of := range b {
		doc = doc<<8 | uint32(of)
	}
	return doc
}

// appendDocument appends the number of a document in as many bytes as docWidth returns.
func appendDocument(b []byte, doc uint32, width int) []byte {
	for i := width - 1; i >= 0; i-- {
		b = append(b, byte(doc>>(8*i)))
	}
	return b
}

// suggestionReader reads all suggestions of a segment in their order, block by block.
type suggestionReader struct {
	all    *Suggestions
	window windowReader // of the blocks, unless all.whole has them
	block  int          // number of blocks that next has returned
}

// suggestionReader returns a reader of the suggestions of a segment; nil if it has none.
func (s *Segment) suggestionReader(ctx context.Context) (*suggestionReader, error) {
	all, err := s.Suggestions(ctx, "")
	if err != nil || all == nil {
		return nil, err
	}
	r := &suggestionReader{all: all}
	if n := len(all.blocks); n > 0 {
		last := all.blocks[n-1]
		r.window = windowReader{segment: s, from: all.blocks[0].Offset, to: last.Offset + last.Length}
	}
	return r, nil
}

// next returns the suggestions of the next block; none after the last block.
func (r *suggestionReader) next(ctx context.Context) (of []Suggestion, err error) {
	if uint64(r.block)*suggestionBlock >= uint64(r.all.count) {
		return nil, nil
	}
	var packed []byte
	if r.all.whole != nil {
		packed = r.all.whole.blocks[r.block]
	} else if packed, err = r.window.take(ctx, r.all.blocks[r.block].Length); err != nil {
		return nil, err
	} else if packed, err = unseal(packed); err != nil {
		return nil, r.all.segment.wrap(err)
	}
	content, err := unpack(packed)
	if err == nil {
		of, err = r.all.parse(r.block, content)
	}
	if err != nil {
		return nil, r.all.segment.wrap(err)
	}
	r.block++
	return of, nil
}

// checkSuggestions decodes all suggestions, checks their order, and makes the pages of keys anew, which must be the
// same as those of the segment.
func (s *Segment) checkSuggestions(ctx context.Context) error {
	r, err := s.suggestionReader(ctx)
	if err != nil || r == nil {
		return err
	}
	w := newSuggestionWriter(s.tail.documents)
	last := ""
	for {
		of, err := r.next(ctx)
		if err != nil {
			return err
		}
		if of == nil {
			break
		}
		for i := range of {
			key := of[i].key()
			if key <= last || len(of[i].Docs) == 0 || of[i].Pages == 0 || r.all.whole != nil && !r.all.whole.describes(w.count, &of[i]) {
				return s.wrap(damaged("suggestion %q is out of order, or is another than is told of it", of[i].Text))
			}
			w.add(&of[i])
			last = key
		}
	}
	if r.all.whole != nil {
		return r.all.eachWith(ctx, "", func(keyed, bool) {})
	}
	want := w.keyPages()
	for i, c := range s.tail.suggestionKeys {
		content, err := s.column(ctx, c.name, suggestionKeysKind)
		if err != nil {
			return err
		}
		if i >= len(want) || c.name != want[i].name || !bytes.Equal(content, want[i].content) {
			return s.wrap(damaged("column %q is not of the suggestions", c.name))
		}
	}
	if len(s.tail.suggestionKeys) < len(want) {
		return s.wrap(damaged("a page of keys of suggestions is missing"))
	}
	return nil
}
