package segment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// Input is one of the segments that Merge merges. Dead holds its dead documents, which Merge
// leaves out; nil if there are none.
type Input struct {
	Segment *Segment
	Dead    *roaring.Bitmap
}

// Merge returns a segment of the inputs' living documents, one input after another. It fails with
// ErrTooLarge if this segment would be larger than the parameter most, in bytes, or than a limit of the format.
//
// The segment is in a file without a name in the directory dir (see scratch.Create), which takes up to twice the
// size of the segment. Its content is mapped from there until the caller calls the function free.
//
// Stored documents, terms and columns are merged concurrently. Inputs are read through windows (see
// mergeWindows), except columns, which are merged one at a time, as a whole. So Merge takes some 100 bytes
// of memory for each document, plus 64 MiB, and the memory of the words and suggestions. It copies some
// parts without decoding them: large stored blocks without dead documents, and most postings of terms that
// are in one input only, of the version that is written, and in no dead document. If no document is dead,
// terms, positions, columns and words have the same bytes as if a Builder had indexed all documents.
// The version of a language's analyzer is the lowest one in the inputs.
func Merge(ctx context.Context, inputs []Input, most int64, dir string) (content []byte, free func(), err error) {
	content, free, err = merge(ctx, inputs, min(most, MaxBytes), dir)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot merge %d segments: %w", len(inputs), err)
	}
	return content, free, nil
}

func merge(ctx context.Context, inputs []Input, most int64, dir string) (content []byte, free func(), err error) {
	all, err := numberDocuments(inputs)
	if err != nil {
		return nil, nil, err
	}
	table, of, err := numberLanguages(ctx, all)
	if err != nil {
		return nil, nil, err
	}
	var files [3]*scratch.File // of stored documents, terms and columns
	for i := range files {
		if files[i], err = scratch.Create(dir); err != nil {
			return nil, nil, err
		}
		defer func() {
			if i > 0 || err != nil {
				_ = files[i].Close() // its bytes are not needed any more
			}
		}()
	}
	var stored, columns *objectWriter
	var terms *termWriter
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		stored, err = mergeStored(ctx, files[0], all)
		return err
	})
	group.Go(func() (err error) {
		terms, err = mergeInputTerms(ctx, files[1], all, table, of)
		return err
	})
	group.Go(func() (err error) {
		columns, err = mergeColumns(ctx, files[2], all)
		return err
	})
	if err = group.Wait(); err != nil {
		return nil, nil, err
	}
	stored.finish(terms, columns)
	if size := stored.length(); size > most {
		return nil, nil, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrTooLarge, size, most)
	}
	content, err = stored.joined()
	return content, func() { _ = files[0].Close() }, err // its bytes are not needed any more
}

// input is an Input, with the number that each of its documents has in the merged segment.
type input struct {
	*Segment
	dead    *roaring.Bitmap
	live    uint32   // number of living documents
	numbers []uint32 // for each document, its number in the merged segment; postings.NoMore if the document is dead

	languages []uint16 // for each language of the input, its index among the languages of the merged segment
}

// mergeWindows is the size in bytes of all windows, one for each input, through which the same part of the
// inputs is read. At most four parts are read at the same time. A window has at least windowSize bytes.
const mergeWindows = 8 << 20

// numberDocuments gives each living document of the inputs its number in the merged segment. It
// returns the inputs with these numbers.
func numberDocuments(inputs []Input) (all []*input, err error) {
	next := uint32(0)
	for _, i := range inputs {
		own := *i.Segment
		own.window = mergeWindows / int64(len(inputs))
		in := &input{Segment: &own, dead: i.Dead, numbers: make([]uint32, i.Segment.Documents())}
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
			return nil, fmt.Errorf("%w: more than %d documents", ErrTooLarge, MaxDocuments)
		}
		all = append(all, in)
	}
	return all, nil
}

// numberLanguages returns the sorted names of all languages of living documents, and for each
// document of the merged segment the index of its language among these names. It also sets the field
// languages of each input.
func numberLanguages(ctx context.Context, all []*input) (names []string, of []uint16, err error) {
	columns, live := make([]*StringColumn, len(all)), map[string]bool{}
	for i, in := range all {
		if columns[i], err = in.Strings(ctx, Languages); err != nil {
			return nil, nil, err
		}
		for doc := range in.numbers {
			if in.lives(uint32(doc)) {
				live[columns[i].one(uint32(doc))] = true
			}
		}
	}
	names = slices.Sorted(maps.Keys(live))
	number := func(name string) uint16 {
		n, _ := slices.BinarySearch(names, name)
		return uint16(n)
	}
	for i, in := range all {
		for _, l := range in.tail.languages {
			in.languages = append(in.languages, number(l.name))
		}
		numbers := make(map[uint32]uint16) // by number of the column's set
		for doc, set := range columns[i].Of {
			if !in.lives(uint32(doc)) {
				continue
			}
			n, known := numbers[set]
			if !known {
				n = number(columns[i].one(uint32(doc)))
				numbers[set] = n
			}
			of = append(of, n)
		}
	}
	return names, of, nil
}

func (in *input) lives(doc uint32) bool { return in.numbers[doc] != postings.NoMore }

// allLive reports whether all documents of the input in a range of numbers are alive. The
// parameters are the number of the first document, and that of the document after the last.
func (in *input) allLive(from, to uint32) bool {
	return !slices.Contains(in.numbers[from:to], postings.NoMore)
}

// lowestAnalysis returns, for each language, the lowest version of its analyzer in the
// inputs.
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

// mergeStored writes the beginning of the merged segment to the file: the stored documents of all inputs,
// without the dead ones.
func mergeStored(ctx context.Context, file *scratch.File, all []*input) (*objectWriter, error) {
	o := newObjectWriter(file)
	w := storedWriter{object: o}
	for _, in := range all {
		if err := in.copyStored(ctx, &w); err != nil {
			return nil, err
		}
	}
	w.flush()
	return o, o.err
}

// copyStored copies the stored living documents of the input to w.
func (in *input) copyStored(ctx context.Context, w *storedWriter) error {
	index := &in.tail.stored
	window := windowReader{segment: in.Segment, from: index.start, to: index.end()}
	for block := range index.ends {
		w.object.spill()
		if w.object.err != nil {
			return w.object.err
		}
		sealed, err := window.take(ctx, index.at(block).Length)
		if err != nil {
			return err
		}
		from, to := index.first[block], index.first[block+1]
		// A small block is not copied, but joined with the next: otherwise every
		// merge would leave more small blocks.
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
				w.copy(r.records[i], r.bodies[i], r.supplements[i])
			}
		}
	}
	return nil
}
