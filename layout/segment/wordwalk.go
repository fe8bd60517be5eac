package segment

import (
	"context"
	"errors"

	"github.com/blevesearch/vellum"
)

// wordWalk walks through all words of a segment.
type wordWalk struct {
	segment  *Segment
	words    *vellum.FST
	iterator *vellum.FSTIterator // nil before the first word
	samples  parser
	docs     []uint32 // sample of the current word
}

func (s *Segment) walkWords(ctx context.Context) (*wordWalk, error) {
	content, err := s.column(ctx, samples, samplesKind)
	if err != nil {
		return nil, err
	}
	fst, err := s.Words(ctx)
	if err != nil {
		return nil, err
	}
	return &wordWalk{segment: s, words: fst, samples: parser{data: content}}, nil
}

func (w *wordWalk) next() (ok bool, err error) {
	ok, err = w.nextWord()
	if err == nil && ok {
		w.docs = w.samples.sample(w.docs, w.segment.tail.documents)
	}
	if err == nil && (w.samples.failed || !ok && w.samples.left() > 0) {
		err = damaged("the samples are not those of the words")
	}
	if err != nil {
		return false, w.segment.wrap(err)
	}
	return ok, nil
}

func (w *wordWalk) nextWord() (ok bool, err error) {
	defer guard(&err)
	if w.iterator == nil {
		w.iterator, err = w.words.Iterator(nil, nil)
	} else {
		err = w.iterator.Next()
	}
	if errors.Is(err, vellum.ErrIteratorDone) {
		return false, nil
	}
	if err != nil {
		return false, damaged("words: %w", err)
	}
	return true, nil
}

func (w *wordWalk) key() []byte {
	text, _ := w.iterator.Current()
	return text
}

func (w *wordWalk) count() uint64 {
	_, n := w.iterator.Current()
	return n
}

func (w *wordWalk) sample(dst []uint32) []uint32 { return append(dst, w.docs...) }
