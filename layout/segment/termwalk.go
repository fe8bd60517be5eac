package segment

import (
	"bytes"
	"context"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// cursor walks a sequence of ascending keys, such as the terms of a segment.
type cursor interface {
	next() (bool, error) // moves the cursor to the next key; returns false after the last
	key() []byte         // the current key; valid until the next call of next
}

// eachKey walks several cursors together. For each different key, in ascending order,
// it calls the function visit once, with the cursors that are at this key.
func eachKey[C cursor](cursors []C, visit func(key []byte, having []C) error) error {
	type place struct {
		cursor C
		key    []byte
		moves  bool // whether next must be called
	}
	live := make([]place, len(cursors)) // the cursors that are not after their last key
	for i, c := range cursors {
		live[i] = place{cursor: c, moves: true}
	}
	having := make([]C, 0, len(cursors))
	for {
		kept := live[:0]
		for _, p := range live {
			if p.moves {
				ok, err := p.cursor.next()
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
				p.key = p.cursor.key()
			}
			kept = append(kept, p)
		}
		if live = kept; len(live) == 0 {
			return nil
		}
		lowest := live[0].key
		for _, p := range live[1:] {
			if bytes.Compare(p.key, lowest) < 0 {
				lowest = p.key
			}
		}
		having = having[:0]
		for i := range live {
			p := &live[i]
			if p.moves = bytes.Equal(p.key, lowest); p.moves {
				having = append(having, p.cursor)
			}
		}
		if err := visit(lowest, having); err != nil {
			return err
		}
	}
}

// termWalk walks all terms of a segment, with their postings, in ascending order; it is a
// cursor.
type termWalk struct {
	ctx     context.Context
	segment *Segment
	block   int // number of the next block to be read
	window  windowReader
	reader  blockReader
	content []byte // encoded positions of the terms in the current block, one term after another

	iterator  postings.Iterator
	positions []uint32
}

// walkTerms returns a termWalk. Its position is before the first term of the segment.
func (s *Segment) walkTerms(ctx context.Context) termWalk {
	index := &s.tail.terms
	return termWalk{ctx: ctx, segment: s, window: windowReader{segment: s, from: index.start, to: index.end()}}
}

func (t *termWalk) key() []byte { return t.reader.term }

func (t *termWalk) next() (bool, error) {
	for !t.reader.next() {
		err := t.reader.err()
		if err == nil && t.reader.offset+t.reader.bytes < t.reader.total {
			err = damaged("there are positions of no term")
		}
		if err != nil {
			return false, t.segment.wrap(err)
		}
		if t.block == len(t.segment.tail.terms.counts) {
			return false, nil
		}
		if err := t.open(); err != nil {
			return false, err
		}
	}
	return true, nil
}

// open reads the next block and its positions.
func (t *termWalk) open() error {
	index := &t.segment.tail.terms
	block, pages := index.split(t.block)
	sealed, err := t.window.take(t.ctx, block.Length)
	if err != nil {
		return err
	}
	content, err := t.window.take(t.ctx, pages.Length)
	if err != nil {
		return err
	}
	total := index.positions[t.block]
	if err = t.reader.open(sealed, total, t.segment.tail); err == nil {
		t.content, err = fromPages(content, blob.Range{Length: total})
	}
	if err != nil {
		return t.segment.wrap(err)
	}
	t.block++
	return nil
}

// encoded returns the list of postings and the positions of the current term, as they are
// encoded in the segment. The results are valid until the walk moves to the next term.
func (t *termWalk) encoded() (list, positions []byte) {
	return t.reader.list(), t.content[t.reader.offset:][:t.reader.bytes]
}

// each calls the function visit for each posting of the current term.
func (t *termWalk) each(visit func(p postings.Posting, positions []uint32)) error {
	list, err := t.segment.openList(&t.reader)
	if err != nil {
		return t.segment.wrap(err)
	}
	_, bytes := t.encoded()
	t.iterator.Reset(list)
	for doc := t.iterator.Next(); doc != postings.NoMore; doc = t.iterator.Next() {
		freq, length, hits := t.iterator.Payload()
		offset, size := t.iterator.PositionBlock()
		t.positions, err = t.iterator.Positions(bytes[offset:][:size], t.positions[:0])
		if err != nil {
			break
		}
		visit(postings.Posting{Doc: doc, Freq: *freq, Length: *length, Hits: hits}, t.positions)
	}
	if err == nil {
		err = t.iterator.Err()
	}
	if err != nil {
		return t.segment.wrap(damaged("term %q: %w", t.reader.term, err))
	}
	return nil
}

// mergeInputTerms merges the terms of all inputs into the file, and returns the writer of the merged
// terms. The last two parameters are about the merged segment: the list of its languages, and for
// each of its documents the index of the language in this list.
func mergeInputTerms(ctx context.Context, file *scratch.File, all []*input, table []string, of []uint16) (*termWriter, error) {
	cursors := make([]termCursor, len(all))
	for i, in := range all {
		cursors[i] = &inputTerms{termWalk: in.walkTerms(ctx), in: in, counts: make([]uint32, len(table))}
	}
	return mergeTerms(&termWriter{chunks: chunks{file: file}}, cursors, of, len(table))
}

// inputTerms walks the terms of a segment that is being merged; it is a termCursor.
type inputTerms struct {
	termWalk
	in     *input
	counts []uint32 // number of the current term's documents in each language of the merged segment
}

func (t *inputTerms) addTo(w *termWriter, alone bool) error {
	list, positions := t.encoded()
	copied, err := false, error(nil)
	if alone && t.reader.version > 3 {
		w.list, copied, err = postings.AppendRenumbered(w.list[:0], list, t.in.numbers)
	}
	switch {
	case err != nil:
	case copied:
		if err = t.count(); err == nil {
			w.addCopied(t.key(), positions, t.counts)
		}
	default:
		err = w.encoder.AddList(list, positions, t.in.numbers, t.in.tail.lengths)
	}
	if err != nil {
		return t.segment.wrap(damaged("term %q: %w", t.key(), err))
	}
	return nil
}

// count sets t.counts, which has a number for each language of the merged segment: how many
// documents of this input contain the current term. It reads these numbers from the input, so all documents of the term
// must be alive. It fails if their sum is not the number of all documents in the term's list.
func (t *inputTerms) count() error {
	documents, _, ok := postings.Sizes(t.reader.list())
	if !ok || !complete(t.reader.counts, documents) {
		return damaged("its languages do not have its documents")
	}
	clear(t.counts)
	for l, n := range t.reader.counts {
		if n > 0 {
			t.counts[t.in.languages[l]] += n
		}
	}
	return nil
}
