package segment

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/scratch"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// kind says how the values of a column are encoded.
type kind byte

const (
	rowsKind    kind = 1 // a row of bytes for each document, all rows of the same size
	numbersKind kind = 2 // a number for each document
	stringsKind kind = 3 // a set of strings for each document
	wordsKind   kind = 4 // for each word, the number of documents that contain it: a finite-state transducer of package vellum
	samplesKind kind = 5 // for each word, a sample of the documents that contain it

	suggestionsKind kind = 6 // suggestions of earlier programs (see wholeSuggestions)

	filterKind kind = 7 // which identities the documents may have (see identityFilter)
	orderKind  kind = 8 // numbers of documents in the order of the filter

	wordPageKind kind = 9 // some of the words of wordsKind, and their numbers of documents (see wordPager)

	suggestionKeysKind   kind = 10 // some of the keys of suggestions, and for each the suggestions that have it
	suggestionBlocksKind kind = 11 // the suggestions themselves, in blocks
	suggestionSizesKind  kind = 12 // the sizes of these blocks

	vectorPagesKind kind = 13 // a row of bytes for each document, in pages
)

// maxColumn is the greatest size of a column before compression, in bytes.
const maxColumn = 256 << 20

// appendPacked appends the size of content as a varint, then a byte, then the content. If
// compression makes the content smaller, the byte is 1, and the content is compressed. Otherwise
// the byte is 0, and the content is as it was given.
func appendPacked(b, content []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(content)))
	flag := len(b)
	b = compress(append(b, 1), content)
	if len(b)-flag-1 >= len(content) {
		b = append(append(b[:flag], 0), content...)
	}
	return b
}

// unpack returns the content that appendPacked encoded. The result may share memory with
// packed.
func unpack(packed []byte) ([]byte, error) {
	p := parser{data: packed}
	size := int(p.number(maxColumn))
	compressed := p.number(1)
	content := p.take(p.left())
	if compressed == 1 {
		var err error
		if content, err = decompress(nil, content); err != nil {
			return nil, err
		}
	}
	if p.failed || len(content) != size {
		return nil, damaged("it holds %d bytes, not %d", len(content), size)
	}
	return content, nil
}

// column reads the column with the given name, and returns its decompressed content. It fails if
// the segment has no column with this name and the kind k.
func (s *Segment) column(ctx context.Context, name string, k kind) ([]byte, error) {
	c := s.columnOf(name, k)
	if c == nil {
		return nil, s.wrap(fmt.Errorf("there is no such column of kind %d: %s", k, name))
	}
	contents, err := s.unpacked(ctx, []blob.Range{{Offset: c.offset, Length: c.size}})
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", name, err)
	}
	return contents[0], nil
}

// unpacked reads packed contents (see appendPacked), such as columns, at the given ranges with at most one call of
// Source.Read. It verifies their checksums, and returns the decompressed contents.
func (s *Segment) unpacked(ctx context.Context, ranges []blob.Range) ([][]byte, error) {
	contents, err := s.read(ctx, ranges)
	if err != nil {
		return nil, err
	}
	for i, r := range ranges {
		if contents[i], err = unsealPacked(contents[i]); err != nil {
			return nil, s.wrap(fmt.Errorf("%d bytes at %d: %w", r.Length, r.Offset, err))
		}
	}
	return contents, nil
}

// unsealPacked verifies the checksum of a packed content (see appendPacked), and returns the decompressed content.
func unsealPacked(sealed []byte) ([]byte, error) {
	packed, err := unseal(sealed)
	if err != nil {
		return nil, err
	}
	return unpack(packed)
}

// columnOf returns the extent of the column with the given name and kind; nil if the segment has none.
func (s *Segment) columnOf(name string, k kind) *columnExtent {
	i := slices.IndexFunc(s.tail.columns, func(c columnExtent) bool { return c.name == name && c.kind == k })
	if i < 0 {
		return nil
	}
	return &s.tail.columns[i]
}

// pagedColumn returns the offset in the object at which the pages of a column begin (see appendPages). The parameter
// total is the size that its content must have, without the checksums of pages.
func (s *Segment) pagedColumn(name string, k kind, total int64) (begin int64, err error) {
	size := int(sizeInPages(total))
	c := s.columnOf(name, k)
	if c == nil || c.size != packedSize(size) {
		return 0, s.wrap(damaged("column %s is not of %d documents", name, s.tail.documents))
	}
	return c.offset + int64(unpackedStart(size)), nil
}

// hasColumn reports whether the segment has a column with the given name.
func (s *Segment) hasColumn(name string) bool {
	return slices.ContainsFunc(s.tail.columns, func(c columnExtent) bool { return c.name == name })
}

// rows reads a column that has, for each document, a row of width bytes.
func (s *Segment) rows(ctx context.Context, name string, width int) ([]byte, error) {
	content, err := s.column(ctx, name, rowsKind)
	if err == nil && len(content) != width*int(s.tail.documents) {
		err = s.wrap(damaged("column %s: %d bytes for %d documents", name, len(content), s.tail.documents))
	}
	return content, err
}

// The names of the columns that hold numbers, and of those that hold strings, in the order in which
// a segment stores them.
var (
	numberColumns = [...]string{Epochs, Tokens, Dates, TitleLengths, HeadingsLengths, AddressLengths, BodyLengths,
		TitleHashes, TextHashes, Simhashes, Offsets, Lengths, Translations, OwnDates}
	stringColumns = [...]string{Sites, Languages, Types, Collections, Packages, LanguageSources}
)

// The statistics in the segment's tail are computed from some of the columns. These constants are
// the indexes of such columns in numberColumns and stringColumns.
const (
	titleLengths   = 3 // index of TitleLengths in numberColumns; the lengths of the three other fields follow it
	languageColumn = 1 // index of the column Languages in stringColumns
	packageColumn  = 4
)

// columnWriter writes all columns of a segment. A Builder adds the values to it, document by document. For Merge, it
// reads them from the inputs, one column at a time; then the fields from sketches to strings stay empty.
type columnWriter struct {
	documents  uint32
	identities []byte
	sketches   []byte
	vectors    []byte // vectors of the documents; meaningless if vectorless is true
	numbers    [len(numberColumns)][]uint64
	strings    [len(stringColumns)]stringWriter

	collected collectedSuggestions // those of the documents that were added by the method add

	inputs     []*input // of Merge; nil for a Builder
	vectorless bool     // true if an input lacks vectors; then the segment gets none
	values     []uint64 // memory of numbersOf
}

// add adds a document; lengths are the numbers of tokens in its fields.
func (w *columnWriter) add(d *Document, lengths *[postings.Fields]uint32, vector Vector) {
	w.identities = append(w.identities, d.ID[:]...)
	w.collected.add(w.documents, d, w.hash)
	w.documents++
	w.sketches = appendSketch(w.sketches, &d.Sketch)
	w.vectors = appendVector(w.vectors, vector)
	for i, n := range [len(numberColumns)]uint64{d.Version.Epoch, d.Version.Token, uint64(d.Fetched.UnixMilli()),
		uint64(lengths[Title]), uint64(lengths[Headings]), uint64(lengths[Address]), uint64(lengths[Body]),
		d.TitleHash, d.TextHash, d.Simhash, uint64(d.Offset), uint64(d.Length), d.Translation, dayOf(d.Date)} {
		w.numbers[i] = append(w.numbers[i], n)
	}
	for i, s := range [len(stringColumns)]string{d.Site, d.Lang, d.MIME, "", d.Package, d.LangSource} {
		if stringColumns[i] == Collections {
			w.strings[i].add(d.Collections...)
		} else {
			w.strings[i].add(s)
		}
	}
}

// object returns a part of a segment: all columns, and the statistics of the documents for the tail. It collects them
// in the file, or in memory if the file is nil. The parameter analysis has the version of each language's analyzer,
// which is a part of the statistics. The parameters cursors and suggested yield what the columns of words and of
// suggestions will contain.
func (w *columnWriter) object(ctx context.Context, file *scratch.File, analysis map[string]uint32, cursors []wordCursor, suggested []suggestionCursor) (*objectWriter, error) {
	o := &objectWriter{chunks: chunks{file: file}}
	o.version, o.documents = version, w.documents
	o.lengths = make(postings.Lengths, w.documents)
	var of []uint16 // index of each document's language in o.languages
	for i, name := range stringColumns {
		column, err := w.stringsOf(ctx, i)
		if err != nil {
			return nil, err
		}
		o.writeColumn(name, stringsKind, column.appendTo(nil))
		switch i {
		case languageColumn:
			var names []string
			names, of = column.languages()
			for _, name := range names {
				o.languages = append(o.languages, language{name: name, analysis: analysis[name]})
			}
			for _, l := range of {
				o.languages[l].documents++
			}
		case packageColumn:
			o.parts = column.parts()
		}
	}
	var err error
	if w.identities, err = w.rowsOf(ctx, identities, w.identities, len(layout.Identity{})); err != nil {
		return nil, err
	}
	o.writeColumn(identities, rowsKind, w.identities) // Find reads identities, epochs and tokens together
	for i, name := range numberColumns {
		values, err := w.numbersOf(ctx, i)
		if err != nil {
			return nil, err
		}
		o.writeColumn(name, numbersKind, appendNumbers(nil, values))
		if f := i - titleLengths; f >= 0 && f < len(o.fields) {
			o.countLengths(f, values, of)
		}
	}
	rows, err := w.rowsOf(ctx, sketches, w.sketches, sketchSize)
	if err != nil {
		return nil, err
	}
	o.writeColumn(sketches, rowsKind, rows)
	if !w.vectorless {
		if err := o.writePages(vectorPages, vectorPagesKind, VectorSize*int64(w.documents), w.vectorsOf(ctx)); err != nil {
			return nil, err
		}
	}

	sampled, pages, err := mergeWords(cursors, w.hashes())
	if err != nil {
		return nil, err
	}
	o.writeColumn(samples, samplesKind, sampled)
	for _, page := range pages {
		o.writeUnpacked(page.name, wordPageKind, page.content)
	}
	found, err := mergeSuggestions(suggested, w.documents, w.hash)
	if err != nil {
		return nil, err
	}
	found.writeTo(o)
	if w.documents > 0 {
		filter, order := newFilter(w.identities)
		o.writeUnpacked(orderColumn, orderKind, order)
		o.writeUnpacked(filterColumn, filterKind, filter) // the last column: OpenToFind reads it together with the tail
	}
	return o, nil
}

// countLengths adds the lengths of one field in all documents to the statistics of the segment and of its languages, and
// sets the length codes of the field.
// The parameter of has the index of each document's language.
func (o *objectWriter) countLengths(field int, lengths []uint64, of []uint16) {
	all := &o.fields[field]
	for doc, n := range lengths {
		o.lengths[doc][field] = postings.LengthCode(uint32(n))
		if n == 0 {
			continue
		}
		inLanguage := &o.languages[of[doc]].fields[field]
		all.Documents++
		all.Length += n
		inLanguage.Documents++
		inLanguage.Length += n
	}
}

// hashes returns the hash of each document's identity. By these hashes, a few documents are chosen
// as the sample of each word (see sampleSize): those that contain the word and have the lowest
// hashes.
func (w *columnWriter) hashes() []uint32 {
	hashes := make([]uint32, w.documents)
	for i := range hashes {
		hashes[i] = w.hash(uint32(i))
	}
	return hashes
}

// hash returns the hash of a document's identity (see hashes).
func (w *columnWriter) hash(doc uint32) uint32 {
	return hashOf(w.identities[int(doc)*len(layout.Identity{}):])
}

// hashOf returns the hash by which documents are chosen for the sample of a word: the first 32 bits
// of the document's identity.
func hashOf(identity []byte) uint32 { return binary.BigEndian.Uint32(identity) }
