package segment

import (
	"context"
	"errors"

	"github.com/blevesearch/vellum"
)

// oldSuggestions is the name of the column in which earlier versions of the program stored all suggestions.
const oldSuggestions = "suggestions"

// wholeSuggestions are all suggestions of a segment that an earlier version of the program has written.
type wholeSuggestions struct {
	size   int64  // size of the column in bytes
	count  uint32 // number of suggestions
	traits []byte
	docs   []byte // for each suggestion the number of one of its documents, in width bytes
	width  int
	blocks [][]byte    // packed (see appendPacked)
	keys   *vellum.FST // maps a key (see suggestionKeys) to the offset of its list
	lists  []byte
}

// wholeSuggestions reads the column oldSuggestions.
func (s *Segment) wholeSuggestions(ctx context.Context) (*wholeSuggestions, error) {
	content, err := s.column(ctx, oldSuggestions, suggestionsKind)
	if err != nil {
		return nil, err
	}
	whole, err := parseSuggestions(content, s.tail.documents)
	if err != nil {
		return nil, s.wrap(err)
	}
	return whole, nil
}

// parseSuggestions decodes the column oldSuggestions of a segment with so many documents.
func parseSuggestions(content []byte, documents uint32) (*wholeSuggestions, error) {
	p := parser{data: content}
	w := &wholeSuggestions{size: int64(len(content)), count: uint32(p.number(maxSuggestions)), width: docWidth(documents)}
	sizes := make([]int, p.count(1))
	for i := range sizes {
		sizes[i] = p.count(1)
	}
	transducer := p.count(1)
	w.traits = p.take(int(w.count))
	w.docs = p.take(int(w.count) * w.width)
	for _, size := range sizes {
		w.blocks = append(w.blocks, p.take(size))
	}
	words := p.take(transducer)
	w.lists = p.take(p.left())
	if p.failed || len(w.blocks) != (int(w.count)+suggestionBlock-1)/suggestionBlock {
		return nil, damaged("suggestions do not hold what they tell of")
	}
	w.size += int64(24 * len(w.blocks))
	var err error
	if w.keys, err = loadWords(words); err != nil {
		return nil, damaged("suggestions: %w", err)
	}
	return w, nil
}

// eachWith is Suggestions.eachWith.
func (w *wholeSuggestions) eachWith(ctx context.Context, begin string, do func(k keyed, whole bool)) (err error) {
	defer guard(&err)
	walk, err := w.keys.Iterator([]byte(begin), afterPrefix(begin))
	for n := 0; err == nil; err = walk.Next() {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		key, offset := walk.Current()
		p := parser{data: w.lists, at: int(min(offset, uint64(len(w.lists))))}
		number := uint64(0)
		for range p.number(uint64(w.count)) {
			step := p.number(maxSuggestions << 2)
			if number += step >> 2; p.failed || number >= uint64(w.count) || Place(step&3) >= noPlaces {
				return damaged("suggestions: the list of %q", key)
			}
			do(keyed{uint32(number), Place(step & 3), traits(w.traits[number]), w.doc(uint32(number))}, len(key) == len(begin))
		}
		if p.failed {
			return damaged("suggestions: the list of %q", key)
		}
	}
	if !errors.Is(err, vellum.ErrIteratorDone) {
		return damaged("suggestions: %w", err)
	}
	return nil
}

// doc returns the number of a document that has the suggestion with the given number.
func (w *wholeSuggestions) doc(number uint32) uint32 {
	return documentAt(w.docs[int(number)*w.width:][:w.width])
}

// contents returns the decompressed contents of blocks.
func (w *wholeSuggestions) contents(blocks []int) ([][]byte, error) {
	contents := make([][]byte, len(blocks))
	for i, block := range blocks {
		var err error
		if contents[i], err = unpack(w.blocks[block]); err != nil {
			return nil, damaged("suggestions: block %d: %w", block, err)
		}
	}
	return contents, nil
}
