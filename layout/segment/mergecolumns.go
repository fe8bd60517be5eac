package segment

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout"
)

// mergeColumns returns an object of the columns and words.
func mergeColumns(ctx context.Context, all []*input) (*object, error) {
	o := new(object)
	columns, words := columnWriter{}, make([]wordCursor, len(all))
	for i, in := range all {
		if err := in.copyColumns(ctx, &columns); err != nil {
			return nil, err
		}
		var err error
		if words[i], err = in.words(ctx); err != nil {
			return nil, err
		}
	}
	columns.writeTo(o, lowestAnalysis(all))
	return o, o.writeWords(words, columns.hashes())
}

// copyColumns appends the columns.
func (in *input) copyColumns(ctx context.Context, w *columnWriter) error {
	w.documents += in.live
	var err error
	if w.identities, err = in.copyRows(ctx, w.identities, identities, len(layout.Identity{})); err != nil {
		return err
	}
	if w.sketches, err = in.copyRows(ctx, w.sketches, sketches, sketchSize); err != nil {
		return err
	}
	for i, name := range numberColumns {
		values, err := in.Numbers(ctx, name)
		if err != nil {
			return err
		}
		for doc, v := range values {
			if in.lives(uint32(doc)) {
				w.numbers[i] = append(w.numbers[i], v)
			}
		}
	}
	for i, name := range stringColumns {
		c, err := in.Strings(ctx, name)
		if err != nil {
			return err
		}
		sets := make([][]string, len(c.Sets))
		for set := range sets {
			sets[set] = c.set(uint32(set))
		}
		for doc, set := range c.Of {
			if in.lives(uint32(doc)) {
				w.strings[i].add(sets[set]...)
			}
		}
	}
	return nil
}

func (in *input) copyRows(ctx context.Context, dst []byte, name string, width int) ([]byte, error) {
	rows, err := in.rows(ctx, name, width)
	if err != nil {
		return nil, err
	}
	for doc := range in.numbers {
		if in.lives(uint32(doc)) {
			dst = append(dst, rows[doc*width:][:width]...)
		}
	}
	return dst, nil
}
