package segment

import (
	"context"
	"slices"

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

// checkSuggestions decodes all suggestions and the lists of all keys. Suggestions must be in order, and what a list says
// of a suggestion must be true. It does not make the keys anew: other versions of the program may make other ones.
func (s *Segment) checkSuggestions(ctx context.Context) error {
	r, err := s.suggestionReader(ctx)
	if err != nil {
		return err
	}
	if r == nil {
		if slices.ContainsFunc(s.tail.columns, func(c columnExtent) bool { return c.isOfSuggestions() }) {
			return s.wrap(damaged("column %s is missing", suggestionSizes))
		}
		return nil
	}
	var all []keyed // by number; without places
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
			if key <= last || len(of[i].Docs) == 0 || of[i].Pages == 0 {
				return s.wrap(damaged("suggestion %q is out of order, or of no document", of[i].Text))
			}
			all = append(all, keyed{number: uint32(len(all)), traits: traitsOf(&of[i]), doc: of[i].Docs[0]})
			last = key
		}
	}
	return r.all.checkLists(ctx, all)
}

// checkLists decodes the lists of all keys, and compares what they say of suggestions with these. The parameter is what
// they must say of each suggestion, without places.
func (s *Suggestions) checkLists(ctx context.Context, all []keyed) error {
	var wrong error // about the first suggestion of which a list says what is not true
	compare := func(k keyed, _ bool) {
		if k.at = 0; k != all[k.number] && wrong == nil {
			wrong = damaged("suggestions: a list is wrong about suggestion %d", k.number)
		}
	}
	if s.whole != nil {
		if err := s.eachWith(ctx, "", compare); err != nil {
			return s.segment.wrap(err)
		}
	}
	in := beginning("", false, nil)
	pages, ranges := choosePages(s.segment.tail.suggestionKeys, []wordRange{in}, false)
	for i := range pages {
		contents, err := s.segment.unpacked(ctx, ranges[i:i+1])
		if err != nil {
			return err
		}
		pages[i].content = contents[0]
		err = pages[i].checkKeys()
		if err == nil {
			err = pages[i].eachKeyed(&in, s.count, s.segment.tail.documents, compare)
		}
		if err != nil {
			return s.segment.wrap(err)
		}
	}
	if wrong != nil {
		return s.segment.wrap(wrong)
	}
	return nil
}

// checkKeys checks the order of the keys of a page, and that they belong there.
func (r *readPage) checkKeys() error {
	p := parser{data: r.content}
	before := r.after
	var key []byte
	for p.left() > 0 {
		key = p.front(key)
		p.take(p.count(1)) // its list
		if p.failed || string(key) <= before || string(key) > r.last {
			return damaged("page of suggestions up to %q: key %q is out of order", r.last, key)
		}
		before = string(key)
	}
	return nil
}
