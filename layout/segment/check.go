package segment

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// Check verifies a whole segment: all checksums must be right, all sections must be decodable, and
// they must agree with each other.
func Check(content []byte) error {
	s, err := OpenBytes(content)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, check := range []func(context.Context) error{s.checkColumns, s.checkLengths, s.checkFilter, s.checkStored, s.checkTerms, s.checkWords, s.checkPages, s.checkSuggestions} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checkColumns decodes the columns of numbers and strings, and those of sketches and vectors (by
// which similar documents are found). It verifies the checksums of the other columns.
func (s *Segment) checkColumns(ctx context.Context) error {
	for _, c := range s.tail.columns {
		var err error
		switch c.kind {
		case numbersKind:
			_, err = s.Numbers(ctx, c.name)
		case stringsKind:
			_, err = s.Strings(ctx, c.name)
		default:
			var contents [][]byte
			if contents, err = s.read(ctx, []blob.Range{{Offset: c.offset, Length: c.size}}); err == nil {
				_, err = unseal(contents[0])
			}
		}
		if err != nil {
			return err
		}
	}
	if s.HasVectors() {
		if _, err := s.AllVectors(ctx); err != nil {
			return err
		}
	}
	_, err := s.Sketches(ctx)
	return err
}

// checkLengths compares the length codes in the tail, which segments have since version 4, with the columns of lengths.
func (s *Segment) checkLengths(ctx context.Context) error {
	for f, name := range numberColumns[titleLengths:][:postings.Fields] {
		lengths, err := s.Numbers(ctx, name)
		if err != nil {
			return err
		}
		for doc, of := range s.tail.lengths {
			if want := postings.LengthCode(uint32(lengths[doc])); of[f] != want {
				return s.wrap(damaged("field %d of document %d has the length code %d, not %d", f, doc, of[f], want))
			}
		}
	}
	return nil
}

// checkFilter makes the filter of the documents' identities, and their order in it, anew. If the segment has
// these columns, they must have the same bytes.
func (s *Segment) checkFilter(ctx context.Context) error {
	if f, err := s.readFilter(ctx); f == nil {
		return err
	}
	ids, err := s.rows(ctx, identities, len(layout.Identity{}))
	if err != nil {
		return err
	}
	filter, order := newFilter(ids)
	for _, c := range []struct {
		name string
		kind kind
		want []byte
	}{{filterColumn, filterKind, filter}, {orderColumn, orderKind, order}} {
		content, err := s.column(ctx, c.name, c.kind)
		if err != nil {
			return err
		}
		if !bytes.Equal(content, c.want) {
			return s.wrap(damaged("column %s is not that of the identities", c.name))
		}
	}
	return nil
}

// checkStored decodes all stored documents, and compares their identities (hashes of their URLs)
// with the column of identities.
func (s *Segment) checkStored(ctx context.Context) error {
	ids, err := s.Identities(ctx)
	if err != nil {
		return err
	}
	index := &s.tail.stored
	window := windowReader{segment: s, from: index.start, to: index.end()}
	for block := range index.ends {
		sealed, err := window.take(ctx, index.at(block).Length)
		if err != nil {
			return err
		}
		if err := s.checkBlock(sealed, block, ids); err != nil {
			return s.wrap(fmt.Errorf("stored block %d: %w", block, err))
		}
	}
	return nil
}

func (s *Segment) checkBlock(sealed []byte, block int, ids []layout.Identity) error {
	index := &s.tail.stored
	r, err := openStored(sealed, index.raw[block], index.count(block))
	if err != nil {
		return err
	}
	for i := range r.records {
		d, err := r.document(i)
		if err != nil {
			return err
		}
		if doc := index.first[block] + uint32(i); d.ID != ids[doc] {
			return damaged("document %d is stored as %s, its identity is %s", doc, d.ID, ids[doc])
		}
	}
	return nil
}

// checkTerms decodes all postings. It checks three things: terms and blocks are sorted by the bytes
// of the terms; the number of documents in each language is right for each term; and the
// occurrences of all terms in a field, without the terms of images, add up to the field's length in
// the segment's statistics.
func (s *Segment) checkTerms(ctx context.Context) error {
	var lengths [postings.Fields]uint64
	var last []byte
	inLanguage, err := s.Strings(ctx, Languages)
	if err != nil {
		return err
	}
	walk := s.walkTerms(ctx)
	counts := make([]uint32, len(s.tail.terms.counts))
	for {
		ok, err := walk.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		block, term := walk.block-1, walk.key()
		counts[block]++
		if bytes.Compare(last, term) >= 0 || string(term) > string(s.tail.terms.separator(block)) ||
			block > 0 && string(term) <= string(s.tail.terms.separator(block-1)) {
			return s.wrap(damaged("term %q is out of order", term))
		}
		last = append(last[:0], term...)
		_, ofImage := CutImageTerm(string(term))
		in := make([]uint32, len(s.tail.languages))
		err = walk.each(func(p postings.Posting, _ []uint32) {
			for f, n := range p.Freq {
				if !ofImage {
					lengths[f] += uint64(n)
				}
			}
			if l := s.tail.languages.find(inLanguage.one(p.Doc)); l >= 0 {
				in[l]++
			}
		})
		if err != nil {
			return err
		}
		if told := walk.reader.counts; s.tail.version > 2 && !slices.Equal(in, told) {
			return s.wrap(damaged("term %q has %d documents by language, not %d", term, in, told))
		}
	}
	for block, count := range counts {
		if count != s.tail.terms.counts[block] {
			return s.wrap(damaged("block %d has %d terms, not %d", block, count, s.tail.terms.counts[block]))
		}
	}
	for f, n := range lengths {
		if want := s.tail.fields[f].Length; n != want {
			return s.wrap(damaged("field %d has %d occurrences, not %d", f, n, want))
		}
	}
	return nil
}

// checkWords decodes all words. Each word has a sample of the documents that contain it; checkWords
// checks that the sample is not empty, and not larger than the number of these documents.
func (s *Segment) checkWords(ctx context.Context) error {
	walk, err := s.walkWords(ctx)
	if err != nil {
		return err
	}
	for {
		ok, err := walk.next()
		if !ok {
			return err
		}
		if n := len(walk.docs); n == 0 || uint64(n) > walk.count() {
			return s.wrap(damaged("word %q is held by %d documents, %d of which are known", walk.key(), walk.count(), n))
		}
	}
}
