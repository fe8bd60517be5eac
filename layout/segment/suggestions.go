package segment

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

const (
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

// Suggestions are some of the suggestions of a segment: those that Segment.Suggestions was asked for, or all of them if
// an earlier version of the program has written the segment. They are safe for concurrent use.
type Suggestions struct {
	segment *Segment
	count   uint32            // number of all suggestions in the segment
	pages   []readPage        // pages of keys
	blocks  []blob.Range      // where in the segment the blocks of suggestions are
	whole   *wholeSuggestions // all suggestions of an older segment, which lacks pages and blocks; else nil
}

// Suggestions reads, with one call of Source.Read, what Find needs for a typed text. From a segment that an earlier
// version of the program has written, it reads all suggestions. It returns nil if the segment has none.
func (s *Segment) Suggestions(ctx context.Context, typed string) (*Suggestions, error) {
	if s.hasColumn(oldSuggestions) {
		whole, err := s.wholeSuggestions(ctx)
		if err != nil {
			return nil, err
		}
		return &Suggestions{segment: s, count: whole.count, whole: whole}, nil
	}
	sizes := s.columnOf(suggestionSizes, suggestionSizesKind)
	if sizes == nil {
		return nil, nil
	}
	var begin []wordRange
	for _, key := range typedKeys(typed) {
		begin = append(begin, beginning(key, false, nil))
	}
	pages, ranges := choosePages(s.tail.suggestionKeys, begin, false)
	contents, err := s.unpacked(ctx, append(ranges, blob.Range{Offset: sizes.offset, Length: sizes.size}))
	if err != nil {
		return nil, err
	}
	for i := range pages {
		pages[i].content = contents[i]
	}
	found := &Suggestions{segment: s, pages: pages}
	found.count, found.blocks, err = s.suggestionBlocks(contents[len(pages)])
	return found, err
}

// All reports whether these are all suggestions of the segment, and not only those that were asked for.
func (s *Suggestions) All() bool { return s.whole != nil }

// Size returns the size of the suggestions in memory, in bytes.
func (s *Suggestions) Size() int64 {
	n := int64(16 * len(s.blocks))
	for _, page := range s.pages {
		n += int64(len(page.content))
	}
	if s.whole != nil {
		n += s.whole.size
	}
	return n
}

// docWidth returns the number of bytes in which a segment stores the number of a document of a suggestion.
func docWidth(documents uint32) int { return max(1, (bits.Len32(documents)+7)/8) }

// keyed is a suggestion that has a key, as the list of the key tells of it.
type keyed struct {
	number uint32 // number of the suggestion
	at     Place  // where the key begins in it
	traits traits
	doc    uint32 // one of its documents
}

// hit says how a suggestion matches the keys of a typed text (see typedKeys).
type hit struct {
	words uint8 // number of the keys that match so far: the first ones, since a suggestion that lacks one is given up
	near  uint8 // noPlaces minus the best (lowest) Place of a key, so that 0 stands for no place
	whole bool
}

// finding is memory that Find needs. It is used again by later calls.
type finding struct {
	hits   []hit   // a hit for each suggestion
	having []keyed // the suggestions that match all keys so far
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

// Find calls yield for each suggestion that has all words of a typed text, in any order. The text must be the one that
// was given to Segment.Suggestions, unless All is true. A typed word may be the beginning of a word of the suggestion.
// Only the first 16 words of the text count. If the text has no words, Find yields nothing.
func (s *Suggestions) Find(ctx context.Context, typed string, yield func(Suggested)) error {
	asked := typedKeys(typed)
	work := finds.Get().(*finding)
	defer finds.Put(work)
	hits := work.begin(int(s.count))
	for n, key := range asked {
		work.having = work.having[:0]
		err := s.eachWith(ctx, key, func(k keyed, whole bool) {
			h := &hits[k.number]
			switch int(h.words) {
			case n:
				h.words++
				work.having = append(work.having, k)
			case n + 1: // it has several keys that begin with the word
			default:
				return
			}
			h.near, h.whole = max(h.near, uint8(noPlaces-k.at)), h.whole || whole
		})
		if err != nil {
			return s.segment.wrap(err)
		}
	}
	for _, k := range work.having {
		h := hits[k.number]
		yield(Suggested{
			Number: k.number, Doc: k.doc, IsTitle: k.traits&titleTrait != 0, Pages: int(k.traits >> 4 & 7), Length: int(k.traits & 15),
			At: noPlaces - Place(h.near), Whole: h.whole,
		})
	}
	return nil
}

// eachWith calls the function do for each suggestion with a key that begins with the text begin. If a suggestion
// has several such keys, it calls do for each of them. The parameter whole of do says whether the key is exactly
// begin.
func (s *Suggestions) eachWith(ctx context.Context, begin string, do func(k keyed, whole bool)) error {
	if s.whole != nil {
		return s.whole.eachWith(ctx, begin, do)
	}
	in := beginning(begin, false, nil)
	for i := range s.pages {
		if !s.pages[i].mayHave(in) {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.pages[i].eachKeyed(&in, s.count, s.segment.tail.documents, do); err != nil {
			return err
		}
	}
	return nil
}

// Get returns the suggestions with the given numbers, which must be less than the number of suggestions. It reads the
// blocks that have them with at most one call of Source.Read.
func (s *Suggestions) Get(ctx context.Context, numbers []uint32) ([]Suggestion, error) {
	var of []int // the blocks that have the suggestions, ascending
	for _, number := range numbers {
		of = append(of, int(number/suggestionBlock))
	}
	slices.Sort(of)
	of = slices.Compact(of)
	contents, err := s.contents(ctx, of)
	if err != nil {
		return nil, err
	}
	blocks := make(map[int][]Suggestion)
	for i, block := range of {
		if blocks[block], err = s.parse(block, contents[i]); err != nil {
			return nil, s.segment.wrap(err)
		}
	}
	all := make([]Suggestion, len(numbers))
	for i, number := range numbers {
		all[i] = blocks[int(number/suggestionBlock)][number%suggestionBlock]
	}
	return all, nil
}

// contents returns the decompressed contents of blocks.
func (s *Suggestions) contents(ctx context.Context, blocks []int) ([][]byte, error) {
	if s.whole != nil {
		contents, err := s.whole.contents(blocks)
		if err != nil {
			return nil, s.segment.wrap(err)
		}
		return contents, nil
	}
	ranges := make([]blob.Range, len(blocks))
	for i, block := range blocks {
		ranges[i] = s.blocks[block]
	}
	return s.segment.unpacked(ctx, ranges)
}

// parse decodes a block of suggestions (see suggestionWriter.add).
func (s *Suggestions) parse(block int, content []byte) ([]Suggestion, error) {
	first := block * suggestionBlock
	of := make([]Suggestion, min(suggestionBlock, int(s.count)-first))
	p := parser{data: content}
	var text []byte
	for i := range of {
		text = p.front(text)
		of[i].Text = string(text)
		if s.whole != nil {
			of[i].IsTitle, of[i].Pages = traits(s.whole.traits[first+i])&titleTrait != 0, p.number(MaxDocuments)
		} else {
			n := p.number(2*MaxDocuments + 1)
			of[i].IsTitle, of[i].Pages = n&1 != 0, n>>1
		}
		of[i].Docs = p.sample(nil, s.segment.tail.documents)
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
