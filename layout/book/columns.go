package book

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// textColumn is the number of the column with the bytes of all strings; every block has
// it.
const textColumn = 0

// columnWriter encodes the rows of one block: each field has its own column of numbers. Strings
// that are often the same in several rows are written as words. The first time, a word is written
// with its bytes, and gets a number, counted from 1 in the block. Later, only this number is
// written. Word 1 is the empty string.
type columnWriter struct {
	columns [][]byte
	words   map[string]uint64
}

func newColumnWriter(columns int) *columnWriter {
	return &columnWriter{columns: make([][]byte, columns), words: map[string]uint64{"": 1}}
}

func (w *columnWriter) reset() {
	for i := range w.columns {
		w.columns[i] = w.columns[i][:0]
	}
	clear(w.words)
	w.words[""] = 1
}

func (w *columnWriter) uint(column int, v uint64) {
	w.columns[column] = binary.AppendUvarint(w.columns[column], v)
}

func (w *columnWriter) int(column int, v int64) {
	w.columns[column] = binary.AppendVarint(w.columns[column], v)
}

// bytes writes the length of a string to a column, and its bytes to textColumn.
func (w *columnWriter) bytes(column int, s string) {
	w.uint(column, uint64(len(s)))
	w.columns[textColumn] = append(w.columns[textColumn], s...)
}

// word writes a string that other rows of the block often repeat. At its first occurrence in the
// block, it writes 0 and the string, and gives the string the next number. Later it writes only this
// number.
func (w *columnWriter) word(column int, s string) {
	if n, known := w.words[s]; known {
		w.uint(column, n)
		return
	}
	w.words[s] = uint64(len(w.words) + 1)
	w.uint(column, 0)
	w.bytes(column, s)
}

// url writes a URL as its difference from previous, the URL of the row before. Only the bytes after
// the prefix that both URLs share are written, to textColumn. The first two parameters are the
// numbers of columns for two sizes: that of the shared prefix, and that of the bytes after it.
func (w *columnWriter) url(shared, rest int, previous, url string) {
	n := 0
	for n < len(previous) && n < len(url) && previous[n] == url[n] {
		n++
	}
	w.uint(shared, uint64(n))
	w.bytes(rest, url[n:])
}

func (w *columnWriter) size() int {
	size := 0
	for _, column := range w.columns {
		size += len(column)
	}
	return size
}

// appendTo appends the block to raw: the lengths of all columns, then the columns.
func (w *columnWriter) appendTo(raw []byte) []byte {
	for _, column := range w.columns {
		raw = binary.AppendUvarint(raw, uint64(len(column)))
	}
	for _, column := range w.columns {
		raw = append(raw, column...)
	}
	return raw
}

const maxColumns = 28

var errShort = errors.New("column ends too early")

// columnReader decodes a block that columnWriter encoded. The fields must be read in
// the order in which they were written. After the first error all values that it reads
// are zero; end returns the error.
type columnReader struct {
	raw     []byte
	columns [maxColumns]span
	words   []word
	current []byte // the URL of the current row
	err     error
}

// span is the range [next, end) of a block's bytes. In columnReader.columns, it has the bytes of a
// column that are not yet read.
type span struct{ next, end int }

// word is a string that a block contains once; later rows of the block refer to it by its number.
// The field span says where its bytes are. The field text is "" until a caller wants the string:
// most words are only skipped.
type word struct {
	span
	text string
}

// reset begins to read a block. The parameter raw holds the decompressed block; columns is the
// number of its columns.
func (r *columnReader) reset(columns int, raw []byte) error {
	*r = columnReader{raw: raw, words: append(r.words[:0], word{}), current: r.current[:0]}
	at := 0
	for i := range columns {
		size, n := binary.Uvarint(raw[at:])
		if n <= 0 {
			return errors.New("cannot read the lengths of its columns")
		}
		r.columns[i].end = int(min(size, math.MaxInt32))
		at += n
	}
	for i := range columns {
		c := &r.columns[i]
		if c.end > len(raw)-at {
			return fmt.Errorf("column %d has %d bytes where %d remain", i, c.end, len(raw)-at)
		}
		c.next, c.end = at, at+c.end
		at = c.end
	}
	if at < len(raw) {
		return fmt.Errorf("%d bytes behind the last column", len(raw)-at)
	}
	return nil
}

// fail records an error of the column with this number, and empties all columns: all
// later reads return zero. If an earlier error is recorded, it does nothing.
func (r *columnReader) fail(column int, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("column %d: %w", column, err)
		r.columns = [maxColumns]span{}
	}
}

// left returns the number of bytes of a column that are not yet read.
func (r *columnReader) left(column int) int { return r.columns[column].end - r.columns[column].next }

// skip skips the rest of a column.
func (r *columnReader) skip(column int) { r.columns[column].next = r.columns[column].end }

// uint reads a number from a column. A number over the limit is an error.
func (r *columnReader) uint(column int, limit uint64) uint64 {
	if c := &r.columns[column]; c.next < c.end {
		if v := uint64(r.raw[c.next]); v < 0x80 && v <= limit { // a number of one byte, as nearly all are
			c.next++
			return v
		}
	}
	return r.longUint(column, limit)
}

// longUint reads a number of any size from a column. The method uint decodes numbers of one byte
// itself, and calls longUint for all others. A number over the limit is an error.
func (r *columnReader) longUint(column int, limit uint64) uint64 {
	c := &r.columns[column]
	v, n := binary.Uvarint(r.raw[c.next:c.end])
	if n <= 0 {
		r.fail(column, errShort)
		return 0
	}
	if v > limit {
		r.fail(column, fmt.Errorf("value %d, at most %d allowed", v, limit))
		return 0
	}
	c.next += n
	return v
}

func (r *columnReader) byte(column int) byte { return byte(r.uint(column, math.MaxUint8)) }

func (r *columnReader) uint16(column int) uint16 { return uint16(r.uint(column, math.MaxUint16)) }

func (r *columnReader) int(column int) int64 {
	v := r.uint(column, math.MaxUint64)
	return int64(v>>1) ^ -int64(v&1)
}

// text reads a string: its length from the given column, and its bytes from textColumn. It returns
// the range of these bytes. A length over the limit is an error.
func (r *columnReader) text(column, limit int) span {
	n := int(r.uint(column, uint64(limit)))
	if n > r.left(textColumn) {
		r.fail(textColumn, errShort)
		return span{}
	}
	c := &r.columns[textColumn]
	c.next += n
	return span{c.next - n, c.next}
}

// word reads a string of at most limit bytes that columnWriter.word has written.
func (r *columnReader) word(column, limit int) string {
	w := &r.words[r.skipWord(column, limit)]
	if w.text == "" && w.next < w.end {
		w.text = string(r.raw[w.next:w.end])
	}
	return w.text
}

// skipWord reads a word as the method word does, but makes no string of it. It returns
// the index of the word in r.words. A word that occurs for the first time is added there.
func (r *columnReader) skipWord(column, limit int) int {
	number := int(r.uint(column, uint64(len(r.words))))
	if number == 0 {
		r.words = append(r.words, word{span: r.text(column, limit)})
		return len(r.words) - 1
	}
	if size := r.words[number-1].end - r.words[number-1].next; size > limit {
		r.fail(column, fmt.Errorf("word of %d bytes, at most %d allowed", size, limit))
	}
	return number - 1
}

// url reads the URL of the next row. The parameters are the numbers of two columns: the first
// column says how many bytes the URL shares with the URL of the row before, the second has the
// other bytes of the URL. The result is valid until the next call of url.
func (r *columnReader) url(shared, rest int) []byte {
	n := int(r.uint(shared, uint64(len(r.current))))
	t := r.text(rest, MaxURL-n)
	r.current = append(r.current[:n], r.raw[t.next:t.end]...)
	if len(r.current) == 0 {
		r.fail(rest, errors.New("empty URL"))
	}
	return r.current
}

// end returns the first error of the reading; or an error if bytes of any column were
// not read. It must be called after the last row.
func (r *columnReader) end() error {
	for i, c := range r.columns {
		if c.next < c.end {
			r.fail(i, fmt.Errorf("%d bytes left over", c.end-c.next))
		}
	}
	return r.err
}
