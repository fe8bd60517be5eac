package segment

import (
	"context"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// termWalk walks through all terms of a segment, and their postings.
type termWalk struct {
	ctx     context.Context
	segment *Segment
	block   int // the next
	blocks  window
	reader  blockReader
	pages   pageWindow

	iterator  postings.Iterator
	positions []uint32
}

func (s *Segment) walkTerms(ctx context.Context) termWalk {
	index := &s.tail.terms
	return termWalk{
		ctx:     ctx,
		segment: s,
		blocks:  window{segment: s, from: index.start, to: index.end()},
		pages:   s.pageWindow(),
	}
}

func (t *termWalk) key() []byte { return t.reader.term }

func (t *termWalk) next() (bool, error) {
	for !t.reader.next() {
		if err := t.reader.err(); err != nil {
			return false, t.segment.wrap(err)
		}
		index := &t.segment.tail.terms
		if t.block == len(index.counts) {
			return false, nil
		}
		sealed, err := t.blocks.take(t.ctx, index.at(t.block).Length)
		if err != nil {
			return false, err
		}
		if err := t.reader.open(sealed, t.segment.tail.positions); err != nil {
			return false, t.segment.wrap(err)
		}
		t.block++
	}
	return true, nil
}

// encoded returns the list and the positions of the current term, valid until
// the next. It is called once a term.
func (t *termWalk) encoded() (list, positions []byte, err error) {
	positions, err = t.pages.take(t.ctx, t.reader.offset, t.reader.bytes)
	return t.reader.list(), positions, err
}

// each calls visit with all postings of the current term. It is called once a
// term, instead of encoded.
func (t *termWalk) each(visit func(p postings.Posting, positions []uint32)) error {
	list, err := t.segment.openList(&t.reader)
	if err != nil {
		return t.segment.wrap(err)
	}
	_, bytes, err := t.encoded()
	if err != nil {
		return err
	}
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
