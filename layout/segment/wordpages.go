package segment

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// A segment stores its words twice in pages: in ascending order, and in the order that they have when they are
// written backward. So a reader needs only the pages that may have the words it looks for (see Near). Each page is a
// column of its own. The name of the column is one of these prefixes and a separator: a string that is not below
// the last word of the page, but below the first word of the next page. So the directory of columns, which is in
// memory from the opening of the segment, also says which words a page may have.
const (
	forwardPrefix  = "words:"
	backwardPrefix = "words backward:"
	// wordPageSize is the size, in bytes, above which a page of words is closed.
	wordPageSize = 8 << 10
)

// wordPager makes the pages of words. They must be added in ascending order.
type wordPager struct {
	forward pageWriter
	text    []byte         // all words, written backward
	words   []backwardWord // not sorted yet
}

// backwardWord is a word that is written backward, and the number of documents that contain it. It is small, because
// memory holds all words of a segment.
type backwardWord struct {
	begin     uint64 // the first eight bytes of the word, with zeros behind a shorter one: nearly always, they decide the order
	from      int    // offset of the word in wordPager.text
	documents uint32
	size      uint8 // of the word, in bytes
}

// compare orders words of a wordPager as bytes.Compare does.
func (w *wordPager) compare(a, b backwardWord) int {
	if a.begin != b.begin {
		return cmp.Compare(a.begin, b.begin)
	}
	return bytes.Compare(w.word(a), w.word(b))
}

func (w *wordPager) word(b backwardWord) []byte { return w.text[b.from:][:b.size] }

func newWordPager() *wordPager {
	return &wordPager{forward: pageWriter{prefix: forwardPrefix, size: wordPageSize}}
}

// add adds a word, of at most MaxTerm bytes, and the number of documents that contain it.
func (w *wordPager) add(word []byte, documents uint64) {
	w.forward.add(word, documents)
	from := len(w.text)
	w.text = appendReversed(w.text, word)
	var begin [8]byte
	copy(begin[:], w.text[from:])
	w.words = append(w.words, backwardWord{binary.BigEndian.Uint64(begin[:]), from, uint32(documents), uint8(len(w.text) - from)})
}

// finish returns all pages.
func (w *wordPager) finish() []wordPage {
	slices.SortFunc(w.words, w.compare)
	backward := pageWriter{prefix: backwardPrefix, size: wordPageSize}
	for _, b := range w.words {
		backward.add(w.word(b), uint64(b.documents))
	}
	return append(w.forward.finish(), backward.finish()...)
}

// wordPage is a page of words or of keys of suggestions: the name of its column, and its content.
type wordPage struct {
	name    string
	content []byte
}

// pageWriter divides words, and what belongs to each of them, into pages. The words must come in ascending order.
type pageWriter struct {
	prefix string     // of the names of the columns
	size   int        // size in bytes above which a page is closed
	closed []wordPage // pages that are full
	page   []byte     // content of the open page
	last   []byte     // the word that was added last
}

// begin adds a word. Then the caller appends what belongs to the word to w.page.
func (w *pageWriter) begin(word []byte) {
	if len(w.page) > w.size {
		w.close(separatorOf(w.last, word))
	}
	if len(w.page) == 0 {
		w.last = w.last[:0]
	}
	w.page = appendFront(w.page, w.last, word)
	w.last = append(w.last[:0], word...)
}

// add adds a word of a page of words, and the number of documents that contain it.
func (w *pageWriter) add(word []byte, documents uint64) {
	w.begin(word)
	w.page = binary.AppendUvarint(w.page, documents)
}

func (w *pageWriter) close(separator []byte) {
	w.closed = append(w.closed, wordPage{w.prefix + string(separator), w.page})
	w.page = nil
}

// finish closes the last page, and returns all.
func (w *pageWriter) finish() []wordPage {
	if len(w.page) > 0 {
		w.close(w.last)
	}
	return w.closed
}

// pageWalk walks the pages of words in ascending order; it is a wordSource.
type pageWalk struct {
	ctx       context.Context
	segment   *Segment
	window    windowReader
	pages     []columnExtent // pages that are not read yet
	page      parser         // the current page
	word      []byte
	last      []byte // the word before
	documents uint64
}

// walkPages returns a pageWalk. Its position is before the first word.
func (s *Segment) walkPages(ctx context.Context) *pageWalk {
	w := &pageWalk{ctx: ctx, segment: s, pages: s.tail.forward}
	if n := len(w.pages); n > 0 {
		w.window = windowReader{segment: s, from: w.pages[0].offset, to: w.pages[n-1].end()}
	}
	return w
}

func (w *pageWalk) nextWord() (ok bool, err error) {
	w.last = append(w.last[:0], w.word...)
	for w.page.left() == 0 {
		if len(w.pages) == 0 {
			return false, nil
		}
		if err := w.open(); err != nil {
			return false, err
		}
	}
	w.word = w.page.front(w.word)
	w.documents = w.page.number(MaxDocuments)
	if w.page.failed || bytes.Compare(w.word, w.last) <= 0 {
		return false, w.segment.wrap(damaged("pages of words do not hold what they tell of"))
	}
	return true, nil
}

// open reads the next page.
func (w *pageWalk) open() error {
	sealed, err := w.window.take(w.ctx, w.pages[0].size)
	if err != nil {
		return err
	}
	content, err := unsealPacked(sealed)
	if err != nil {
		return w.segment.wrap(fmt.Errorf("column %q: %w", w.pages[0].name, err))
	}
	w.page, w.pages, w.word = parser{data: content}, w.pages[1:], w.word[:0]
	return nil
}

func (w *pageWalk) key() []byte { return w.word }

func (w *pageWalk) count() uint64 { return w.documents }

// pageColumns returns those columns of a segment that are pages of a kind and have names with the prefix. They follow
// each other.
func pageColumns(columns []columnExtent, k kind, prefix string) []columnExtent {
	isPage := func(c columnExtent) bool { return c.kind == k && strings.HasPrefix(c.name, prefix) }
	from := slices.IndexFunc(columns, isPage)
	if from < 0 {
		return nil
	}
	of := columns[from:]
	if n := slices.IndexFunc(of, func(c columnExtent) bool { return !isPage(c) }); n >= 0 {
		of = of[:n]
	}
	return of
}
