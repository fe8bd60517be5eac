package book

import (
	"encoding/binary"
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

// reset begins another block.
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
