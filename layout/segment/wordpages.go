package segment

import (
	"bytes"
	"context"
	"encoding/binary"
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

// backwardWord is a word that is written backward, and the number of documents that contain it.
type backwardWord struct {
	from, to  int // range of the word in wordPager.text
	documents uint64
}

func newWordPager() *wordPager {
	return &wordPager{forward: pageWriter{prefix: forwardPrefix, size: wordPageSize}}
}

// add adds a word, and the number of documents that contain it.
func (w *wordPager) add(word []byte, documents uint64) {
	w.forward.begin(word)
	w.forward.page = binary.AppendUvarint(w.forward.page, documents)
	from := len(w.text)
	w.text = appendReversed(w.text, word)
	w.words = append(w.words, backwardWord{from, len(w.text), documents})
}

// finish returns all pages.
func (w *wordPager) finish() []wordPage {
	slices.SortFunc(w.words, func(a, b backwardWord) int { return bytes.Compare(w.text[a.from:a.to], w.text[b.from:b.to]) })
	backward := pageWriter{prefix: backwardPrefix, size: wordPageSize}
	for _, word := range w.words {
		backward.begin(w.text[word.from:word.to])
		backward.page = binary.AppendUvarint(backward.page, word.documents)
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

// checkPages makes the pages of words anew, from the transducer. If the segment has pages, they must be the same.
func (s *Segment) checkPages(ctx context.Context) error {
	if len(s.tail.forward)+len(s.tail.backward) == 0 {
		return nil
	}
	walk, err := s.walkWords(ctx)
	if err != nil {
		return err
	}
	pager := newWordPager()
	for {
		more, err := walk.next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		pager.add(walk.key(), walk.count())
	}
	want := pager.finish()
	columns := slices.Concat(s.tail.forward, s.tail.backward)
	for i, c := range columns {
		content, err := s.column(ctx, c.name, wordPageKind)
		if err != nil {
			return err
		}
		if i >= len(want) || c.name != want[i].name || !bytes.Equal(content, want[i].content) {
			return s.wrap(damaged("column %q is not of the words", c.name))
		}
	}
	if len(columns) < len(want) {
		return s.wrap(damaged("a page of words is missing"))
	}
	return nil
}
