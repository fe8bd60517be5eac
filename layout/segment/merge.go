package segment

import (
	"context"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// Input is a segment to be merged, with the documents to leave out; nil for none.
type Input struct {
	Segment *Segment
	Dead    *roaring.Bitmap
}

// Merge returns a segment of the inputs' live documents, one input after another. It
// fails if that would be larger than most bytes.
//
// Stored documents, terms and columns are merged concurrently. Inputs are read through
// windows of 1 MiB, except columns, which are read whole, one at a time. Stored blocks
// whose documents all live are copied, and so are postings of terms of only one input.
// If all documents live, terms, positions, columns and words are byte by byte those
// that a Builder makes of the same documents. The versions of analyzers are the lowest
// of the inputs.
func Merge(ctx context.Context, inputs []Input, most int64) ([]byte, error) {
	content, err := merge(ctx, inputs, most)
	if err != nil {
		return nil, fmt.Errorf("cannot merge %d segments: %w", len(inputs), err)
	}
	return content, nil
}

func merge(ctx context.Context, inputs []Input, most int64) ([]byte, error) {
	all, size, err := numberDocuments(inputs)
	if err != nil {
		return nil, err
	}
	var stored, columns *builder
	var terms *termWriter
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		stored, err = mergeStored(ctx, all, int(min(size, most)))
		return err
	})
	group.Go(func() (err error) {
		terms, err = mergeInputTerms(ctx, all)
		return err
	})
	group.Go(func() (err error) {
		columns, err = mergeColumns(ctx, all)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	content := stored.finish(terms, columns)
	if int64(len(content)) > most {
		return nil, fmt.Errorf("that would be %d bytes, at most %d are allowed", len(content), most)
	}
	return content, nil
}

type input struct {
	*Segment
	dead    *roaring.Bitmap
	live    uint32   // documents
	numbers []uint32 // of the documents in the merged segment; dead ones have NoMore
}

// numberDocuments assigns numbers to the live documents, and returns the size of all
// inputs.
func numberDocuments(inputs []Input) (all []*input, size int64, err error) {
	next := uint32(0)
	for _, i := range inputs {
		in := &input{Segment: i.Segment, dead: i.Dead, numbers: make([]uint32, i.Segment.Documents())}
		first := next
		for doc := range in.numbers {
			if in.dead != nil && in.dead.Contains(uint32(doc)) {
				in.numbers[doc] = postings.NoMore
				continue
			}
			in.numbers[doc] = next
			next++
		}
		in.live = next - first
		if next > MaxDocuments {
			return nil, 0, fmt.Errorf("a segment holds at most %d documents", MaxDocuments)
		}
		all = append(all, in)
		size += i.Segment.ref.Bytes
	}
	return all, size, nil
}

func (in *input) lives(doc uint32) bool { return in.numbers[doc] != postings.NoMore }

// allLive reports whether all of the documents from..to-1 live.
func (in *input) allLive(from, to uint32) bool {
	return !slices.Contains(in.numbers[from:to], postings.NoMore)
}

// lowestAnalysis returns the lowest version of the analyzers of each language.
func lowestAnalysis(all []*input) map[string]uint32 {
	lowest := map[string]uint32{}
	for _, in := range all {
		for name, version := range in.Analysis() {
			if known, found := lowest[name]; !found || version < known {
				lowest[name] = version
			}
		}
	}
	return lowest
}

func mergeColumns(ctx context.Context, all []*input) (*builder, error) {
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
	return columns.object(lowestAnalysis(all), words)
}

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

// mergeStored returns an object with the stored documents and room for the rest.
func mergeStored(ctx context.Context, all []*input, size int) (*builder, error) {
	o := newObject(size)
	w := storedWriter{object: o}
	for _, in := range all {
		if err := in.copyStored(ctx, &w); err != nil {
			return nil, err
		}
	}
	w.close()
	return o, nil
}

func (in *input) copyStored(ctx context.Context, w *storedWriter) error {
	index := &in.tail.stored
	window := windowReader{segment: in.Segment, from: index.start, to: index.end()}
	for block := range index.ends {
		sealed, err := window.take(ctx, index.at(block).Length)
		if err != nil {
			return err
		}
		from, to := index.first[block], index.first[block+1]
		// A small block is joined with the next, or merging would leave ever
		// more of them.
		if index.raw[block] >= storedBlock/2 && in.allLive(from, to) {
			if _, err := unseal(sealed); err != nil {
				return in.wrap(fmt.Errorf("stored block %d: %w", block, err))
			}
			w.copyBlock(sealed, index.raw[block], to-from)
			continue
		}
		r, err := openStored(sealed, index.raw[block], int(to-from))
		if err != nil {
			return in.wrap(fmt.Errorf("stored block %d: %w", block, err))
		}
		for i := range r.records {
			if in.lives(from + uint32(i)) {
				w.copy(r.records[i], r.bodies[i])
			}
		}
	}
	return nil
}
