package segment

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxHeadings is the greatest number of headings of a document that become suggestions, from the first.
const MaxHeadings = 64

// suggestionCursor goes through suggestions in the order of their keys (see Suggestion.key).
type suggestionCursor interface {
	cursor
	suggestion() *Suggestion // the current suggestion; valid until the next call of next
}

// collectedSuggestions collects the suggestions of the documents of a Builder. After the last document it serves
// as a suggestionCursor.
type collectedSuggestions struct {
	known map[string]*Suggestion // by key
	keys  []string               // all keys, sorted; set by the first call of next
	at    int                    // number of keys that next has passed
}

// add adds the suggestions of a document, each once: its name, its headings if it has a name, and Document.Suggested.
// hash returns the hash of each document's identity (see hashOf).
func (c *collectedSuggestions) add(doc uint32, d *Document, hash func(doc uint32) uint32) {
	texts := d.Suggested
	if d.Name != "" {
		texts = slices.Concat([]string{d.Name}, d.Headings[:min(len(d.Headings), MaxHeadings)], texts)
	}
	seen := make(map[string]bool)
	for i, text := range texts {
		s := Suggestion{Text: strings.Join(strings.Fields(text), " "), IsTitle: i == 0 && d.Name != "", Pages: 1, Docs: []uint32{doc}}
		key := s.key()
		folded := key[:len(key)-1]
		if seen[folded] || len(s.Text) > MaxSuggestion || !strings.ContainsFunc(s.Text, isWordRune) {
			continue
		}
		seen[folded] = true
		if s.IsTitle {
			s.URLs = []string{d.URL}
		}
		if c.known == nil {
			c.known = make(map[string]*Suggestion)
		}
		if known := c.known[key]; known != nil {
			known.join(&s, hash)
		} else {
			c.known[key] = &s
		}
	}
}

// join adds the documents of another suggestion with the same key to s. Their numbers must be higher than those of
// s. The function hash returns the hash of a document's identity; the documents with the lowest hashes are kept.
func (s *Suggestion) join(other *Suggestion, hash func(doc uint32) uint32) {
	s.Pages += other.Pages
	s.Docs, s.URLs = append(s.Docs, other.Docs...), append(s.URLs, other.URLs...)
	for len(s.Docs) > sampleSize {
		last := 0 // index of the document with the highest hash
		for i, doc := range s.Docs {
			if cmp.Or(cmp.Compare(hash(doc), hash(s.Docs[last])), cmp.Compare(doc, s.Docs[last])) > 0 {
				last = i
			}
		}
		s.Docs = slices.Delete(s.Docs, last, last+1)
		if s.IsTitle {
			s.URLs = slices.Delete(s.URLs, last, last+1)
		}
	}
}

func (c *collectedSuggestions) next() (bool, error) {
	if c.keys == nil {
		c.keys = slices.Sorted(maps.Keys(c.known))
	}
	c.at++
	return c.at <= len(c.keys), nil
}

func (c *collectedSuggestions) key() []byte             { return []byte(c.keys[c.at-1]) }
func (c *collectedSuggestions) suggestion() *Suggestion { return c.known[c.keys[c.at-1]] }

// inputSuggestions is a suggestionCursor of a segment that is being merged. It passes over a suggestion if all
// documents in its Docs are dead. The documents that live get the numbers that they have in the merged segment.
type inputSuggestions struct {
	ctx     context.Context // of the merge
	in      *input
	reader  *suggestionReader
	block   []Suggestion // those of the present block that next has not passed
	current Suggestion
}

// suggestions returns a cursor of the suggestions of a segment that is being merged; nil if it has none.
func (in *input) suggestions(ctx context.Context) (*inputSuggestions, error) {
	reader, err := in.suggestionReader(ctx)
	if reader == nil || err != nil {
		return nil, err
	}
	return &inputSuggestions{ctx: ctx, in: in, reader: reader}, nil
}

func (c *inputSuggestions) next() (bool, error) {
	for {
		if len(c.block) == 0 {
			var err error
			if c.block, err = c.reader.next(c.ctx); err != nil || len(c.block) == 0 {
				return false, err
			}
		}
		c.current, c.block = c.block[0], c.block[1:]
		dead := c.current.keep(c.in)
		if len(c.current.Docs) > 0 {
			c.current.Pages = min(c.current.Pages-min(dead, c.current.Pages-1), uint64(c.in.live))
			return true, nil
		}
	}
}

// keep removes the dead documents from the suggestion of a segment that is being merged, and replaces the numbers
// of the others by those in the merged segment. It returns how many documents it has removed.
func (s *Suggestion) keep(in *input) (dead uint64) {
	known := *s
	s.Docs, s.URLs = nil, nil
	for i, doc := range known.Docs {
		if !in.lives(doc) {
			dead++
			continue
		}
		s.Docs = append(s.Docs, in.numbers[doc])
		if s.IsTitle {
			s.URLs = append(s.URLs, known.URLs[i])
		}
	}
	return dead
}

func (c *inputSuggestions) key() []byte             { return []byte(c.current.key()) }
func (c *inputSuggestions) suggestion() *Suggestion { return &c.current }

// suggestionWriter encodes suggestions, which must be added in the order of their keys.
type suggestionWriter struct {
	count  uint32
	width  int         // number of bytes of a document's number
	sizes  []int       // of the blocks
	blocks []byte      // closed blocks, each packed and with its checksum
	block  []byte      // content of the block that is not full yet
	last   string      // text of the suggestion before
	keys   []placedKey // keys of the current suggestion
	lists  map[string]*suggestionList
}

// placedKey is a key of a suggestion, and the place in the suggestion where the key begins.
type placedKey struct {
	text string
	at   Place
}

// suggestionList is the list of the suggestions with one key.
type suggestionList struct {
	last    uint32 // number of the last one
	encoded []byte
}

func newSuggestionWriter(documents uint32) *suggestionWriter {
	return &suggestionWriter{width: docWidth(documents), lists: make(map[string]*suggestionList)}
}

// mergeSuggestions returns a writer with the suggestions that the cursors yield. The parameter documents is the number
// of documents of the new segment.
func mergeSuggestions(cursors []suggestionCursor, documents uint32, hash func(doc uint32) uint32) (*suggestionWriter, error) {
	w := newSuggestionWriter(documents)
	err := eachKey(cursors, func(_ []byte, having []suggestionCursor) error {
		all := *having[0].suggestion()
		for _, c := range having[1:] {
			all.join(c.suggestion(), hash)
		}
		if w.count == maxSuggestions {
			return fmt.Errorf("%w: more than %d suggestions", ErrTooLarge, maxSuggestions)
		}
		w.add(&all)
		return nil
	})
	return w, err
}

func (w *suggestionWriter) add(s *Suggestion) {
	if w.count%suggestionBlock == 0 {
		w.closeBlock()
	}
	w.block = appendFront(w.block, w.last, s.Text)
	w.last = s.Text
	isTitle := uint64(0)
	if s.IsTitle {
		isTitle = 1
	}
	w.block = binary.AppendUvarint(w.block, s.Pages<<1|isTitle)
	w.block = appendSample(w.block, s.Docs)
	for _, u := range s.URLs {
		w.block = appendText(w.block, u)
	}
	w.keys = w.keys[:0]
	suggestionKeys(s.Text, w.addKey)
	for _, k := range w.keys {
		list := w.lists[k.text]
		if list == nil {
			list = new(suggestionList)
			w.lists[k.text] = list
		}
		list.encoded = binary.AppendUvarint(list.encoded, uint64(w.count-list.last)<<2|uint64(k.at))
		list.encoded = appendDocument(append(list.encoded, byte(traitsOf(s))), s.Docs[0], w.width)
		list.last = w.count
	}
	w.count++
}

// addKey adds a key of the current suggestion to w.keys. A key that it has several times gets the best place. A key of
// more than MaxTerm bytes is cut.
func (w *suggestionWriter) addKey(text string, at Place) {
	text = text[:min(len(text), MaxTerm)]
	n := slices.IndexFunc(w.keys, func(k placedKey) bool { return k.text == text })
	if n < 0 {
		w.keys = append(w.keys, placedKey{text, at})
	} else {
		w.keys[n].at = min(w.keys[n].at, at)
	}
}

// closeBlock packs the suggestions that were added since the last block, and adds their checksum.
func (w *suggestionWriter) closeBlock() {
	if len(w.block) == 0 {
		return
	}
	before := len(w.blocks)
	w.blocks = seal(appendPacked(w.blocks, w.block), before)
	w.sizes = append(w.sizes, len(w.blocks)-before)
	w.block, w.last = w.block[:0], ""
}

// keyPages returns the pages of all keys. It takes the lists from w.lists, so that both need not fit into memory.
func (w *suggestionWriter) keyPages() []wordPage {
	pages := pageWriter{prefix: suggestionKeysPrefix, size: suggestionPageSize}
	for _, key := range slices.Sorted(maps.Keys(w.lists)) {
		pages.begin([]byte(key))
		list := w.lists[key].encoded
		delete(w.lists, key)
		pages.page = append(binary.AppendUvarint(pages.page, uint64(len(list))), list...)
	}
	return pages.finish()
}

// writeTo appends the columns of suggestions to a segment, if there are suggestions.
func (w *suggestionWriter) writeTo(o *objectWriter) {
	if w.count == 0 {
		return
	}
	w.closeBlock()
	sizes := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(w.count)), uint64(len(w.sizes)))
	for _, size := range w.sizes {
		sizes = binary.AppendUvarint(sizes, uint64(size))
	}
	o.writeUnpacked(suggestionSizes, suggestionSizesKind, sizes)
	for _, page := range w.keyPages() {
		o.writeUnpacked(page.name, suggestionKeysKind, page.content)
	}
	o.writeUnpacked(suggestionBlocks, suggestionBlocksKind, w.blocks)
}
