package segment

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/maphash"
)

// checkPages checks the pages of words of a segment, if it has any. In both directions, the words must be the same, in
// ascending order, and divided into pages as a wordPager does. If the segment also has a transducer, they must be its
// words. To sort the backward words would take memory for all of them. Instead, checkPages compares the sums of the
// hashes of all words in both directions.
func (s *Segment) checkPages(ctx context.Context) error {
	if len(s.tail.forward)+len(s.tail.backward) == 0 {
		return nil
	}
	words := wordSum{seed: maphash.MakeSeed()}
	if err := s.checkForward(ctx, &words); err != nil {
		return err
	}
	backward := wordSum{seed: words.seed}
	if err := s.checkBackward(ctx, &backward); err != nil {
		return err
	}
	if words.sum != backward.sum {
		return s.wrap(damaged("the words that are written backward are not those in ascending order"))
	}
	return nil
}

// checkForward checks the pages of words in ascending order, and adds these words to a sum. If the segment has a
// transducer, it compares them with its words.
func (s *Segment) checkForward(ctx context.Context, sum *wordSum) error {
	walk, err := s.walkWords(ctx)
	if err != nil {
		return err
	}
	check := pageCheck{segment: s, columns: s.tail.forward, writer: pageWriter{prefix: forwardPrefix, size: wordPageSize}}
	var backward []byte
	for {
		more, err := walk.next()
		if err != nil {
			return err
		}
		if !more {
			return check.finish(ctx)
		}
		backward = appendReversed(backward[:0], walk.key())
		sum.add(backward, walk.count())
		check.writer.add(walk.key(), walk.count())
		if err := check.compare(ctx); err != nil {
			return err
		}
	}
}

// checkBackward checks the order of the words that are written backward, and their division into pages, and adds them
// to a sum.
func (s *Segment) checkBackward(ctx context.Context, sum *wordSum) error {
	check := pageCheck{segment: s, columns: s.tail.backward, writer: pageWriter{prefix: backwardPrefix, size: wordPageSize}}
	var last []byte
	for _, c := range s.tail.backward {
		content, err := s.column(ctx, c.name, wordPageKind)
		if err != nil {
			return err
		}
		sorted := true
		page := readPage{content: content}
		if _, err := page.each(new(wordRange), func(word []byte, documents uint64) bool {
			sorted = bytes.Compare(last, word) <= 0
			last = append(last[:0], word...)
			sum.add(word, documents)
			check.writer.add(word, documents)
			return sorted
		}); err != nil {
			return s.wrap(err)
		}
		if !sorted {
			return s.wrap(damaged("column %q is not sorted", c.name))
		}
		if err := check.compare(ctx); err != nil {
			return err
		}
	}
	return check.finish(ctx)
}

// wordSum is the sum of the hashes of words, each with its number of documents. It does not depend on their order.
type wordSum struct {
	seed  maphash.Seed
	sum   uint64
	bytes []byte // memory that is used again
}

func (s *wordSum) add(word []byte, documents uint64) {
	s.bytes = binary.AppendUvarint(append(s.bytes[:0], word...), documents)
	s.sum += maphash.Bytes(s.seed, s.bytes)
}

// pageCheck compares the pages that its writer makes with the pages of a segment, one after another.
type pageCheck struct {
	segment *Segment
	columns []columnExtent // pages that are not compared yet
	writer  pageWriter
}

// compare compares the pages that the writer has closed since the last call.
func (c *pageCheck) compare(ctx context.Context) error {
	for _, want := range c.writer.closed {
		if len(c.columns) == 0 {
			return c.segment.wrap(damaged("a page of words is missing"))
		}
		name := c.columns[0].name
		content, err := c.segment.column(ctx, name, wordPageKind)
		if err != nil {
			return err
		}
		if name != want.name || !bytes.Equal(content, want.content) {
			return c.segment.wrap(damaged("column %q is not of the words", name))
		}
		c.columns = c.columns[1:]
	}
	c.writer.closed = nil
	return nil
}

// finish compares the last page. No other page may be left.
func (c *pageCheck) finish(ctx context.Context) error {
	c.writer.finish()
	if err := c.compare(ctx); err != nil {
		return err
	}
	if len(c.columns) > 0 {
		return c.segment.wrap(damaged("column %q is not of the words", c.columns[0].name))
	}
	return nil
}
