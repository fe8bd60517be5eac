package segment

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/blevesearch/vellum"
)

// The column samples has, for each word, a sample of the documents that contain it. The column words, which segments
// have up to version 3, has a transducer: it maps each word to the number of these documents. Later segments have pages
// of words alone (see wordPager).
const (
	words   = "words"
	samples = "words.samples"
)

// sampleSize is the greatest number of documents in the sample of a word. Of all documents that
// contain the word, the sample has those with the lowest hashes (see hashOf). A merge drops a word
// if all documents of its sample are dead. This is wrong if the word is in more than sampleSize
// documents, and one outside of the sample is alive. The probability of this error is at most
// p^sampleSize, where p is the share of dead documents.
const sampleSize = 8

// wordCursor walks the words of a run (see run) or of a segment in ascending order.
type wordCursor interface {
	cursor
	// count returns the number of documents that contain the current word.
	count() uint64
	// sample appends some of the documents that contain the current word (see sampleSize), in the
	// order of their numbers.
	sample(dst []uint32) []uint32
}

// mergeWords merges the words that the cursors yield. It returns the content of the column samples, and the pages of all
// words. hashes[doc] is the hash of document doc's identity.
func mergeWords(cursors []wordCursor, hashes []uint32) (sampled []byte, pages []wordPage, err error) {
	pager := newWordPager()
	var docs []uint32
	err = eachKey(cursors, func(text []byte, having []wordCursor) error {
		count := uint64(0)
		docs = docs[:0]
		for _, c := range having {
			count += c.count()
			docs = c.sample(docs)
		}
		if len(docs) == 0 {
			return nil
		}
		docs = lowestHashes(docs, hashes)
		sampled = appendSample(sampled, docs)
		pager.add(text, count)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return sampled, pager.finish(), nil
}

// lowestHashes returns the documents with the lowest hashes, at most sampleSize of
// them. The hash of document doc is hashes[doc]. The parameter docs must be sorted by
// document number, and so is the result. The memory of docs is overwritten.
func lowestHashes(docs, hashes []uint32) []uint32 {
	if len(docs) <= sampleSize {
		return docs
	}
	slices.SortFunc(docs, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(hashes[a], hashes[b]), cmp.Compare(a, b))
	})
	docs = docs[:sampleSize]
	slices.Sort(docs)
	return docs
}

// appendSample appends the sample of a word (see sampleSize), a few sorted numbers of documents: how
// many there are, then for each its difference from the number before.
func appendSample(b []byte, docs []uint32) []byte {
	b = append(b, byte(len(docs)))
	last := uint32(0)
	for _, doc := range docs {
		b = binary.AppendUvarint(b, uint64(doc-last))
		last = doc
	}
	return b
}

// sample reads the sample of one word (see sampleSize): the numbers of a few documents that contain
// the word, as appendSample has encoded them. It returns these numbers, in the memory of dst. The
// parameter documents is the number of all documents in the segment; a number not below it is
// damage.
func (p *parser) sample(dst []uint32, documents uint32) []uint32 {
	dst = dst[:0]
	last := uint64(0)
	for range p.number(sampleSize) {
		last += p.number(uint64(documents))
		if last >= uint64(documents) {
			p.fail()
			return dst
		}
		dst = append(dst, uint32(last))
	}
	return dst
}

// transducer reads the column words: a transducer that maps each word, as it is written on pages, to the number of
// documents that contain it.
func (s *Segment) transducer(ctx context.Context) (*vellum.FST, error) {
	content, err := s.column(ctx, words, wordsKind)
	if err != nil {
		return nil, err
	}
	fst, err := loadWords(content)
	if err != nil {
		return nil, s.wrap(err)
	}
	return fst, nil
}

// loadWords opens a transducer of words. The caller must have verified the checksum of
// content, because vellum itself does not check it.
func loadWords(content []byte) (fst *vellum.FST, err error) {
	defer guard(&err)
	if fst, err = vellum.Load(content); err != nil {
		return nil, damaged("words: %w", err)
	}
	return fst, nil
}

// guard turns a panic of package vellum into an error, and stores it in *err. vellum, which reads
// the transducer of words, does not check the bytes, and may panic if they are damaged. guard must
// be deferred in functions that use vellum.
func guard(err *error) {
	if recover() != nil {
		*err = errors.Join(ErrDamaged, errors.New("words cannot be read"))
	}
}

// wordWalk walks all words of a segment in ascending order; it is a wordCursor.
type wordWalk struct {
	wordSource
	segment *Segment
	samples parser
	docs    []uint32 // sample of the current word
}

// wordSource yields all words of a segment in ascending order, without their samples.
type wordSource interface {
	nextWord() (ok bool, err error) // moves the source to the next word; ok is false after the last
	key() []byte                    // the current word; valid until the next call of nextWord
	count() uint64                  // number of documents that contain the current word
}

// walkWords reads the columns of words, and returns a wordWalk. Its position is
// before the first word.
func (s *Segment) walkWords(ctx context.Context) (*wordWalk, error) {
	content, err := s.column(ctx, samples, samplesKind)
	if err != nil {
		return nil, err
	}
	walk := &wordWalk{segment: s, samples: parser{data: content}}
	if !s.hasColumn(words) {
		walk.wordSource = s.walkPages(ctx)
		return walk, nil
	}
	fst, err := s.transducer(ctx)
	if err != nil {
		return nil, err
	}
	walk.wordSource = &transducerWalk{segment: s, words: fst}
	return walk, nil
}

func (w *wordWalk) next() (ok bool, err error) {
	if ok, err = w.nextWord(); err != nil {
		return false, err
	}
	if ok {
		w.docs = w.samples.sample(w.docs, w.segment.tail.documents)
	}
	if w.samples.failed || !ok && w.samples.left() > 0 {
		return false, w.segment.wrap(damaged("the samples are not those of the words"))
	}
	return ok, nil
}

func (w *wordWalk) sample(dst []uint32) []uint32 { return append(dst, w.docs...) }

// transducerWalk walks the words of a transducer; it is a wordSource.
type transducerWalk struct {
	segment  *Segment
	words    *vellum.FST
	iterator *vellum.FSTIterator // nil before the first word
}

func (w *transducerWalk) nextWord() (ok bool, err error) {
	if err = w.move(); errors.Is(err, vellum.ErrIteratorDone) {
		return false, nil
	}
	if err != nil {
		return false, w.segment.wrap(damaged("words: %w", err))
	}
	return true, nil
}

// move moves the iterator to the next word.
func (w *transducerWalk) move() (err error) {
	defer guard(&err)
	if w.iterator == nil {
		w.iterator, err = w.words.Iterator(nil, nil)
		return err
	}
	return w.iterator.Next()
}

func (w *transducerWalk) key() []byte {
	text, _ := w.iterator.Current()
	return text
}

func (w *transducerWalk) count() uint64 {
	_, n := w.iterator.Current()
	return n
}

// inputWords is a wordCursor of a segment that is being merged. It skips a word if all documents in
// the word's sample are dead. The samples that it returns have only living documents, by their
// numbers in the merged segment.
type inputWords struct {
	*wordWalk
	in      *input
	holding uint64 // number of documents that contain the current word (see count)
}

// words returns a cursor of the words of a segment that is being merged.
func (in *input) words(ctx context.Context) (*inputWords, error) {
	walk, err := in.walkWords(ctx)
	if err != nil {
		return nil, err
	}
	return &inputWords{wordWalk: walk, in: in}, nil
}

func (w *inputWords) next() (bool, error) {
	for {
		ok, err := w.wordWalk.next()
		if !ok {
			return false, err
		}
		known, live := uint64(len(w.docs)), w.docs[:0]
		for _, doc := range w.docs {
			if w.in.lives(doc) {
				live = append(live, w.in.numbers[doc])
			}
		}
		w.docs = live
		if len(live) > 0 {
			dead := min(known-uint64(len(live)), w.wordWalk.count()-1)
			w.holding = min(w.wordWalk.count()-dead, uint64(w.in.live))
			return true, nil
		}
	}
}

// count returns about how many living documents contain the current word: the stored number of
// documents, less the dead documents in the word's sample. Other dead documents may contain the
// word, too, but which is not known. So the number may be too high if more than sampleSize documents
// of the input contain the word.
func (w *inputWords) count() uint64 { return w.holding }
