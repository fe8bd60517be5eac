package segment

import (
	"context"
	"errors"
	"math/bits"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/vellum"
)

const (
	suggestions = "suggestions" // name of the column
	// MaxSuggestion is the greatest size of a suggestion in bytes. Longer titles and headings are not suggested.
	MaxSuggestion = 160
	// suggestionBlock is the number of suggestions in a block, which is read as a whole; the last
	// block may have fewer.
	suggestionBlock = 256
	// maxSuggestions is the greatest number of suggestions in a segment.
	maxSuggestions = 1 << 28
)

// Suggestion is the title or a heading of documents, which is offered to people while they type.
type Suggestion struct {
	Text    string // as in the first document that has it
	IsTitle bool   // whether it is the title of its documents (Document.Name); else it is a heading
	// Pages is the number of documents that have it. If the segment comes from a merge that left out
	// dead documents, it may be too high (see the package, Words after deletions).
	Pages uint64
	// Docs are the numbers of documents that have it, ascending: at most eight of them, those whose
	// identities have the lowest hashes.
	Docs []uint32
	URLs []string // the addresses of Docs, if it is a title; nil for a heading
}

// key returns the text by which suggestions are sorted: the folded text and a last byte. Suggestions with the same
// key are one. Of a title and a heading with the same folded text, the title comes first.
func (s *Suggestion) key() string {
	if s.IsTitle {
		return FoldSuggestion(s.Text) + "\x00"
	}
	return FoldSuggestion(s.Text) + "\x01"
}

// traits has in one byte what decides about the rank of a suggestion besides the ranks of its pages:
//
//	bit 7       1 for a title, 0 for a heading
//	bits 4–6    binary logarithm of the number of pages, at most 7
//	bits 0–3    number of characters divided by 8, at most 15
type traits byte

const titleTrait traits = 1 << 7

func traitsOf(s *Suggestion) traits {
	t := traits(min(bits.Len64(s.Pages)-1, 7))<<4 | traits(min(utf8.RuneCountInString(s.Text)/8, 15))
	if s.IsTitle {
		t |= titleTrait
	}
	return t
}

// Suggested is a suggestion that matches a typed text. Its own text is not read yet.
type Suggested struct {
	Number  uint32 // number of the suggestion in its segment
	Doc     uint32 // one of the documents that have it
	IsTitle bool
	Pages   int   // binary logarithm of the number of documents that have it, at most 7
	Length  int   // number of its characters divided by 8, at most 15
	At      Place // the best place of a typed word
	Whole   bool  // whether one of the typed words is a whole word of it
}

// Suggestions are the suggestions of a segment, as it stores them. They are safe for concurrent use.
type Suggestions struct {
	segment   *Segment // to which errors refer
	documents uint32   // number of documents in the segment
	count     uint32   // number of suggestions
	size      int      // size of the column in bytes
	traits    []byte
	docs      []byte // for each suggestion the number of one of its documents, in width bytes
	width     int
	blocks    [][]byte    // packed (see appendPacked)
	keys      *vellum.FST // maps a key (see suggestionKeys) to the offset of its list
	lists     []byte
}

// Suggestions reads the suggestions of a segment with one call of Source.Read. It returns nil if the segment has
// none, or was built by an earlier version of the program, which made none.
func (s *Segment) Suggestions(ctx context.Context) (*Suggestions, error) {
	if !s.hasColumn(suggestions) {
		return nil, nil
	}
	content, err := s.column(ctx, suggestions, suggestionsKind)
	if err != nil {
		return nil, err
	}
	all, err := parseSuggestions(content, s.tail.documents)
	if err != nil {
		return nil, s.wrap(err)
	}
	all.segment = s
	return all, nil
}

// Size returns the size of the suggestions in memory, in bytes.
func (s *Suggestions) Size() int64 { return int64(s.size + 24*len(s.blocks)) }

// parseSuggestions reads a column of suggestions (see suggestionWriter.appendTo).
func parseSuggestions(content []byte, documents uint32) (*Suggestions, error) {
	p := parser{data: content}
	s := &Suggestions{documents: documents, size: len(content), count: uint32(p.number(maxSuggestions)), width: docWidth(documents)}
	sizes := make([]int, p.count(1))
	for i := range sizes {
		sizes[i] = p.count(1)
	}
	transducer := p.count(1)
	s.traits = p.take(int(s.count))
	s.docs = p.take(int(s.count) * s.width)
	for _, size := range sizes {
		s.blocks = append(s.blocks, p.take(size))
	}
	words := p.take(transducer)
	s.lists = p.take(p.left())
	if p.failed || len(s.blocks) != (int(s.count)+suggestionBlock-1)/suggestionBlock {
		return nil, damaged("suggestions do not hold what they tell of")
	}
	var err error
	if s.keys, err = loadWords(words); err != nil {
		return nil, damaged("suggestions: %w", err)
	}
	return s, nil
}

// docWidth returns the number of bytes in which the column stores the number of a document.
func docWidth(documents uint32) int { return max(1, (bits.Len32(documents)+7)/8) }

// maxTyped is the greatest number of keys of a typed text (see typedKeys) that are looked for.
const maxTyped = 16

// hit says how a suggestion matches the keys of a typed text (see typedKeys).
type hit struct {
	words uint8 // number of the keys that match so far: the first ones, since a suggestion that lacks one is given up
	near  uint8 // noPlaces minus the best (lowest) Place of a key, so that 0 stands for no place
	whole bool
}

// finding is memory that Find needs. It is used again by later calls.
type finding struct {
	hits   []hit    // a hit for each suggestion
	having []uint32 // the suggestions that match all keys so far
}

// finds keeps values of the type finding for later calls of Find.
var finds = sync.Pool{New: func() any { return new(finding) }}

// begin returns a slice of n hits, all zero.
func (f *finding) begin(n int) []hit {
	if cap(f.hits) < n {
		f.hits = make([]hit, n)
	}
	f.hits, f.having = f.hits[:n], f.having[:0]
	clear(f.hits)
	return f.hits
}

// Find calls yield for each suggestion that has all words of a typed text, in any order. A typed word may be the
// beginning of a word of the suggestion. Only the first 16 words of the text count. If the text has no words, Find
// yields nothing.
func (s *Suggestions) Find(ctx context.Context, typed string, yield func(Suggested)) error {
	asked := typedKeys(typed)
	asked = asked[:min(len(asked), maxTyped)]
	work := finds.Get().(*finding)
	defer finds.Put(work)
	hits := work.begin(int(s.count))
	for n, key := range asked {
		work.having = work.having[:0]
		err := s.eachWith(ctx, key, func(number uint32, at Place, whole bool) {
			h := &hits[number]
			switch int(h.words) {
			case n:
				h.words++
				work.having = append(work.having, number)
			case n + 1: // it has several keys that begin with the word
			default:
				return
			}
			h.near, h.whole = max(h.near, uint8(noPlaces-at)), h.whole || whole
		})
		if err != nil {
			return s.segment.wrap(err)
		}
	}
	for _, number := range work.having {
		t, h := traits(s.traits[number]), hits[number]
		yield(Suggested{
			Number: number, Doc: s.doc(number), IsTitle: t&titleTrait != 0, Pages: int(t >> 4 & 7), Length: int(t & 15),
			At: noPlaces - Place(h.near), Whole: h.whole,
		})
	}
	return nil
}

// eachWith calls the function do for each suggestion with a key that begins with the text begin. If a suggestion
// has several such keys, it calls do for each of them. The parameter whole of do says whether the key is exactly
// begin.
func (s *Suggestions) eachWith(ctx context.Context, begin string, do func(number uint32, at Place, whole bool)) (err error) {
	defer guard(&err)
	walk, err := s.keys.Iterator([]byte(begin), afterPrefix(begin))
	for n := 0; err == nil; err = walk.Next() {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		key, offset := walk.Current()
		p := parser{data: s.lists, at: int(min(offset, uint64(len(s.lists))))}
		number := uint64(0)
		for range p.number(uint64(s.count)) {
			step := p.number(maxSuggestions << 2)
			if number += step >> 2; p.failed || number >= uint64(s.count) || Place(step&3) >= noPlaces {
				return damaged("suggestions: the list of %q", key)
			}
			do(uint32(number), Place(step&3), len(key) == len(begin))
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

// afterPrefix returns the least string that follows all strings with the prefix in byte order, or nil if
// there is none.
func afterPrefix(prefix string) []byte {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// doc returns the number of a document that has the suggestion with the given number.
func (s *Suggestions) doc(number uint32) (doc uint32) {
	for _, b := range s.docs[int(number)*s.width:][:s.width] {
		doc = doc<<8 | uint32(b)
	}
	return doc
}

// Get returns the suggestions with the given numbers, which must be less than the number of suggestions.
func (s *Suggestions) Get(numbers []uint32) ([]Suggestion, error) {
	all := make([]Suggestion, len(numbers))
	blocks := make(map[int][]Suggestion)
	for i, number := range numbers {
		block := int(number / suggestionBlock)
		of, read := blocks[block]
		if !read {
			var err error
			if of, err = s.block(block); err != nil {
				return nil, s.segment.wrap(err)
			}
			blocks[block] = of
		}
		all[i] = of[number%suggestionBlock]
	}
	return all, nil
}

// block reads a block of suggestions.
func (s *Suggestions) block(block int) ([]Suggestion, error) {
	content, err := unpack(s.blocks[block])
	if err != nil {
		return nil, damaged("suggestions: block %d: %w", block, err)
	}
	first := block * suggestionBlock
	of := make([]Suggestion, min(suggestionBlock, int(s.count)-first))
	p := parser{data: content}
	var text []byte
	for i := range of {
		text = p.front(text)
		of[i] = Suggestion{Text: string(text), IsTitle: traits(s.traits[first+i])&titleTrait != 0, Pages: p.number(MaxDocuments)}
		of[i].Docs = p.sample(nil, s.documents)
		if of[i].IsTitle {
			of[i].URLs = make([]string, len(of[i].Docs))
			for n := range of[i].URLs {
				of[i].URLs[n] = p.text()
			}
		}
	}
	if p.failed || p.left() > 0 {
		return nil, damaged("suggestions: block %d does not hold what it tells of", block)
	}
	return of, nil
}

// check decodes all suggestions, and checks their order and their traits.
func (s *Suggestions) check(ctx context.Context) error {
	last := ""
	for block := range s.blocks {
		of, err := s.block(block)
		if err != nil {
			return s.segment.wrap(err)
		}
		for i := range of {
			number := uint32(block*suggestionBlock + i)
			key := of[i].key()
			if key <= last || len(of[i].Docs) == 0 || of[i].Docs[0] != s.doc(number) || traitsOf(&of[i]) != traits(s.traits[number]) {
				return s.segment.wrap(damaged("suggestion %q is out of order, or is another than its traits tell of", of[i].Text))
			}
			last = key
		}
	}
	return s.eachWith(ctx, "", func(uint32, Place, bool) {})
}
