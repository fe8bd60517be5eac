package book

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// textColumn is the column that holds the bytes of words and URLs; it is the first
// of every block.
const textColumn = 0

// columnWriter gathers the rows of one block column by column. A string that
// repeats is a word: its bytes are written once a block, and its number after
// that. Word 1 is the empty string.
type columnWriter struct {
	columns [][]byte
	words   map[string]uint64
}

func newColumnWriter(columns int) *columnWriter {
	return &columnWriter{columns: make([][]byte, columns), words: map[string]uint64{"": 1}}
}

func (w *columnWriter) uint(column int, v uint64) {
	w.columns[column] = binary.AppendUvarint(w.columns[column], v)
}

func (w *columnWriter) int(column int, v int64) {
	w.columns[column] = binary.AppendVarint(w.columns[column], v)
}

func (w *columnWriter) bytes(column int, s string) {
	w.uint(column, uint64(len(s)))
	w.columns[textColumn] = append(w.columns[textColumn], s...)
}

func (w *columnWriter) word(column int, s string) {
	if n, known := w.words[s]; known {
		w.uint(column, n)
		return
	}
	w.words[s] = uint64(len(w.words) + 1)
	w.uint(column, 0)
	w.bytes(column, s)
}

// url writes what url does not share with the URL of the row before.
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

// appendTo appends the lengths of all columns, then the columns.
func (w *columnWriter) appendTo(raw []byte) []byte {
	for _, column := range w.columns {
		raw = binary.AppendUvarint(raw, uint64(len(column)))
	}
	for _, column := range w.columns {
		raw = append(raw, column...)
	}
	return raw
}

var errShort = errors.New("column ends too early")

// columnReader reads what columnWriter wrote, in the same order. Its first
// error stays and makes every later value zero. It keeps nothing of the bytes
// that it reads from.
type columnReader struct {
	columns [][]byte
	words   []string
	err     error
}

func newColumnReader(columns int, raw []byte) (*columnReader, error) {
	r := &columnReader{columns: make([][]byte, columns), words: []string{""}}
	sizes := make([]uint64, columns)
	for i := range sizes {
		size, n := binary.Uvarint(raw)
		if n <= 0 {
			return nil, errors.New("cannot read the lengths of its columns")
		}
		sizes[i], raw = size, raw[n:]
	}
	for i, size := range sizes {
		if size > uint64(len(raw)) {
			return nil, fmt.Errorf("column %d has %d bytes where %d remain", i, size, len(raw))
		}
		r.columns[i], raw = raw[:size], raw[size:]
	}
	if len(raw) > 0 {
		return nil, fmt.Errorf("%d bytes behind the last column", len(raw))
	}
	return r, nil
}

func (r *columnReader) fail(column int, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("column %d: %w", column, err)
		clear(r.columns)
	}
}

func (r *columnReader) uint(column int, limit uint64) uint64 {
	v, n := binary.Uvarint(r.columns[column])
	if n <= 0 {
		r.fail(column, errShort)
		return 0
	}
	if v > limit {
		r.fail(column, fmt.Errorf("value %d, at most %d allowed", v, limit))
		return 0
	}
	r.columns[column] = r.columns[column][n:]
	return v
}

func (r *columnReader) byte(column int) byte { return byte(r.uint(column, math.MaxUint8)) }

func (r *columnReader) uint16(column int) uint16 { return uint16(r.uint(column, math.MaxUint16)) }

func (r *columnReader) int(column int) int64 {
	v, n := binary.Varint(r.columns[column])
	if n <= 0 {
		r.fail(column, errShort)
		return 0
	}
	r.columns[column] = r.columns[column][n:]
	return v
}

func (r *columnReader) bytes(column, limit int) []byte {
	n := r.uint(column, uint64(limit))
	if n > uint64(len(r.columns[textColumn])) {
		r.fail(textColumn, errShort)
		return nil
	}
	b := r.columns[textColumn][:n]
	r.columns[textColumn] = r.columns[textColumn][n:]
	return b
}

func (r *columnReader) word(column, limit int) string {
	number := r.uint(column, uint64(len(r.words)))
	if number == 0 {
		word := string(r.bytes(column, limit))
		r.words = append(r.words, word)
		return word
	}
	word := r.words[number-1]
	if len(word) > limit {
		r.fail(column, fmt.Errorf("word of %d bytes, at most %d allowed", len(word), limit))
	}
	return word
}

func (r *columnReader) url(shared, rest int, previous string) string {
	n := r.uint(shared, uint64(len(previous)))
	url := previous[:n] + string(r.bytes(rest, MaxURL-int(n)))
	if url == "" {
		r.fail(rest, errors.New("empty URL"))
	}
	return url
}

// end returns the first error; bytes that nobody read are one.
func (r *columnReader) end() error {
	for i, column := range r.columns {
		if len(column) > 0 {
			r.fail(i, fmt.Errorf("%d bytes left over", len(column)))
		}
	}
	return r.err
}
