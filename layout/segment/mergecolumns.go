package segment

import (
	"context"
	"iter"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
)

// mergeColumns returns the columns of the merged segment. They have the values of all living documents: first
// those of the first input, then those of the second, and so on. The words of all inputs become one sorted
// sequence; so do the suggestions.
func mergeColumns(ctx context.Context, file *scratch.File, all []*input) (*objectWriter, error) {
	columns, words := columnWriter{inputs: all}, make([]wordCursor, len(all))
	var suggested []suggestionCursor
	columns.vectorless = slices.ContainsFunc(all, func(in *input) bool { return !in.HasVectors() })
	for i, in := range all {
		columns.documents += in.live
		var err error
		if words[i], err = in.words(ctx); err != nil {
			return nil, err
		}
		of, err := in.suggestions(ctx)
		if err != nil {
			return nil, err
		}
		if of != nil {
			suggested = append(suggested, of)
		}
	}
	return columns.object(ctx, file, lowestAnalysis(all), words, suggested)
}

// stringsOf returns the i-th column of strings.
func (w *columnWriter) stringsOf(ctx context.Context, i int) (*stringWriter, error) {
	merged := &w.strings[i]
	if w.inputs != nil {
		merged = new(stringWriter)
	}
	for _, in := range w.inputs {
		c, err := in.Strings(ctx, stringColumns[i])
		if err != nil {
			return nil, err
		}
		sets := make([][]string, len(c.Sets))
		for set := range sets {
			sets[set] = c.set(uint32(set))
		}
		for doc, set := range c.Of {
			if in.lives(uint32(doc)) {
				merged.add(sets[set]...)
			}
		}
	}
	return merged, nil
}

// numbersOf returns the i-th column of numbers, which is valid until the next call.
func (w *columnWriter) numbersOf(ctx context.Context, i int) ([]uint64, error) {
	if w.inputs == nil {
		return w.numbers[i], nil
	}
	w.values = slices.Grow(w.values[:0], int(w.documents))
	for _, in := range w.inputs {
		values, err := in.Numbers(ctx, numberColumns[i])
		if err != nil {
			return nil, err
		}
		for doc, v := range values {
			if in.lives(uint32(doc)) {
				w.values = append(w.values, v)
			}
		}
	}
	return w.values, nil
}

// rowsOf returns a column whose rows have width bytes. The parameter added has the rows that a Builder has added.
func (w *columnWriter) rowsOf(ctx context.Context, name string, added []byte, width int) ([]byte, error) {
	if w.inputs == nil {
		return added, nil
	}
	merged := make([]byte, 0, width*int(w.documents))
	for _, in := range w.inputs {
		rows, err := in.rows(ctx, name, width)
		if err != nil {
			return nil, err
		}
		merged = in.appendLiving(merged, rows, width)
	}
	return merged, nil
}

// vectorsOf yields the vectors of all documents, one after another.
func (w *columnWriter) vectorsOf(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for vector := range slices.Chunk(w.vectors, VectorSize) {
			if !yield(vector, nil) {
				return
			}
		}
		for _, in := range w.inputs {
			rows, err := in.AllVectors(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			for doc := range in.numbers {
				if in.lives(uint32(doc)) && !yield(rows[doc*VectorSize:][:VectorSize], nil) {
					return
				}
			}
		}
	}
}

// appendLiving appends to dst those of the rows that are of living documents. The rows have width bytes each.
func (in *input) appendLiving(dst, rows []byte, width int) []byte {
	for doc := range len(rows) / width {
		if in.lives(uint32(doc)) {
			dst = append(dst, rows[doc*width:][:width]...)
		}
	}
	return dst
}
