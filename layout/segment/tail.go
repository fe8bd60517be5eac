package segment

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

const (
	magic        = "\xFFBSEG\x04\r\n"
	version      = 4                // version of the segments that this program writes; older readers cannot read them
	leastVersion = 2                // lowest version of the segments that this program reads
	footerSize   = 8 + 8 + sealSize // bytes of the two sizes at the end of a segment, with their checksum
)

// tail is the decoded tail of a segment, the directory at its end: statistics, and where everything
// else is.
type tail struct {
	version   byte // version of the segment
	documents uint32
	fields    [postings.Fields]FieldTotals
	languages languages
	parts     []Part
	terms     termIndex
	stored    storedIndex
	columns   []columnExtent // where the columns are, in the order of their offsets
	// those of columns that are pages of words, and those that are pages of words written backward
	forward, backward []columnExtent
	suggestionKeys    []columnExtent   // those of columns that are pages of the keys of suggestions
	lengths           postings.Lengths // length codes of the documents; nil before version 4, where the lists of postings have them
	copy              uint64           // number that makes a copy differ in its bytes; 0 for the original (see Distinct)
}

// language holds statistics of the documents in one language.
type language struct {
	name      string
	documents uint32
	analysis  uint32 // version of the language's analyzer
	fields    [postings.Fields]FieldTotals
}

// languages holds the languages of a segment's documents, sorted by name. Elsewhere in the
// segment, a language is written as its index in this slice.
type languages []language

// find returns the index of the language with the given name; -1 if the segment has no document in it.
func (all languages) find(name string) int {
	n, found := slices.BinarySearchFunc(all, name, func(l language, name string) int { return cmp.Compare(l.name, name) })
	if !found {
		return -1
	}
	return n
}

// columnExtent says where in the segment a column is.
type columnExtent struct {
	name         string
	kind         kind
	offset, size int64 // range of the column in the segment, with the checksum
}

// end returns the offset at which the column ends.
func (c *columnExtent) end() int64 { return c.offset + c.size }

// end returns the offset at which the tail begins, which is where the last column ends.
func (t *tail) end() int64 {
	if n := len(t.columns); n > 0 {
		return t.columns[n-1].end()
	}
	return t.terms.end()
}

// size returns the approximate memory of the tail, in bytes.
func (t *tail) size() int64 {
	n := len(t.terms.separators) + 24*len(t.terms.counts) + 16*len(t.stored.raw)
	for _, l := range t.languages {
		n += 96 + len(l.name)
	}
	for _, p := range t.parts {
		n += 32 + len(p.Package)
	}
	for _, c := range t.columns {
		n += 48 + len(c.name)
	}
	return int64(n+postings.Fields*len(t.lengths)) + 1<<10
}

// appendTo appends the tail and the footer to a segment that is complete except for
// these. The parameter before is the number of bytes of the segment that are not in object, but before it.
func (t *tail) appendTo(object []byte, before int64) []byte {
	from := len(object)
	b := append(object, t.version, t.version)
	b = binary.AppendUvarint(b, uint64(t.documents))
	b = appendFields(b, &t.fields)
	b = binary.AppendUvarint(b, uint64(len(t.languages)))
	for _, l := range t.languages {
		b = appendText(b, l.name)
		b = binary.AppendUvarint(b, uint64(l.documents))
		b = binary.AppendUvarint(b, uint64(l.analysis))
		if t.version > 2 {
			b = appendFields(b, &l.fields)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(t.parts)))
	for _, p := range t.parts {
		b = appendText(b, p.Package)
		b = binary.AppendUvarint(b, uint64(p.Documents))
	}
	b = t.stored.appendTo(b)
	b = t.terms.appendTo(b)
	b = binary.AppendUvarint(b, uint64(len(t.columns)))
	for _, c := range t.columns {
		b = appendText(b, c.name)
		b = append(b, byte(c.kind))
		b = binary.AppendUvarint(b, uint64(c.size))
	}
	if t.version > 3 {
		b = appendLengths(b, t.lengths)
	}
	b = binary.AppendUvarint(b, t.copy)
	b = seal(b, from)
	footer := len(b)
	b = binary.BigEndian.AppendUint64(b, uint64(footer-from+footerSize))
	b = binary.BigEndian.AppendUint64(b, uint64(before)+uint64(footer+footerSize))
	return seal(b, footer)
}

func appendFields(b []byte, fields *[postings.Fields]FieldTotals) []byte {
	for _, f := range fields {
		b = binary.AppendUvarint(b, f.Documents)
		b = binary.AppendUvarint(b, f.Length)
	}
	return b
}

// parseFooter returns the size of a segment's tail. The parameter end holds the last bytes of the
// segment; size is the size of the segment.
func parseFooter(end []byte, size int64) (int64, error) {
	if int64(len(magic)+footerSize+sealSize) > size || len(end) < footerSize {
		return 0, damaged("%d bytes are too few for a segment", size)
	}
	footer, err := unseal(end[len(end)-footerSize:])
	if err != nil {
		return 0, damaged("footer: %w", err)
	}
	tailSize, whole := binary.BigEndian.Uint64(footer), binary.BigEndian.Uint64(footer[8:])
	if whole != uint64(size) {
		return 0, damaged("its footer tells of %d bytes, it has %d", whole, size)
	}
	if tailSize < footerSize+sealSize || tailSize > uint64(size)-uint64(len(magic)) {
		return 0, damaged("its footer tells of a tail of %d bytes in %d", tailSize, size)
	}
	return int64(tailSize), nil
}

// parseTail decodes the tail and the footer of a segment. The parameter size is the size of the
// whole segment in bytes.
func parseTail(data []byte, size int64) (*tail, error) {
	tailSize, err := parseFooter(data, size)
	if err != nil {
		return nil, err
	}
	if tailSize != int64(len(data)) {
		return nil, damaged("its tail is of %d bytes, not %d", tailSize, len(data))
	}
	content, err := unseal(data[:len(data)-footerSize])
	if err != nil {
		return nil, damaged("tail: %w", err)
	}
	if err := checkReader(content); err != nil {
		return nil, err
	}
	p := parser{data: content[2:]}
	t := &tail{version: content[0]}
	t.documents = uint32(p.number(MaxDocuments))
	p.fields(&t.fields, t.documents)
	t.languages = p.languages(t.version)
	t.parts = p.parts(t.documents)
	t.stored = p.storedIndex(int64(len(magic)), size)
	t.terms = p.termIndex(t.stored.end(), size)
	t.columns = p.columns(t.terms.end(), size)
	t.forward, t.backward = pageColumns(t.columns, wordPageKind, forwardPrefix), pageColumns(t.columns, wordPageKind, backwardPrefix)
	t.suggestionKeys = pageColumns(t.columns, suggestionKeysKind, suggestionKeysPrefix)
	if t.version > 3 {
		t.lengths = p.lengths(t.documents)
	}
	t.copy = p.number(1<<64 - 1)
	if p.failed || p.left() > 0 || t.stored.documents() != t.documents || t.end() != size-tailSize {
		return nil, damaged("its tail does not describe it")
	}
	return t, nil
}

// fields reads the statistics of each field (see FieldTotals) into the given array. They are about
// all documents of the segment, or about those in one language. The number of these documents is the
// second parameter. If a field has tokens in more documents than that, the segment is damaged.
func (p *parser) fields(fields *[postings.Fields]FieldTotals, documents uint32) {
	for i := range fields {
		fields[i] = FieldTotals{Documents: p.number(uint64(documents)), Length: p.number(1 << 62)}
	}
}

// languages reads, from the tail of a segment (the directory at its end), the list of the languages
// of the segment's documents. The list has statistics of each language. The parameter version is
// the version of the segment: in version 2, the totals of each field are missing.
func (p *parser) languages(version byte) languages {
	all := make(languages, p.count(3))
	for i := range all {
		l := &all[i]
		l.name, l.documents, l.analysis = p.text(), uint32(p.number(MaxDocuments)), uint32(p.number(1<<32-1))
		if version > 2 {
			p.fields(&l.fields, l.documents)
		}
	}
	if !slices.IsSortedFunc(all, func(a, b language) int { return cmp.Compare(a.name, b.name) }) {
		p.fail()
	}
	return all
}

// parts reads the parts of a segment; each part is the documents that come from one package. The
// parameter documents is the number of documents in the segment. parts fails if those of all parts
// do not add up to this number.
func (p *parser) parts(documents uint32) []Part {
	all := make([]Part, p.count(2))
	rest := uint64(documents)
	for i := range all {
		all[i].Package = p.text()
		n := p.number(rest)
		all[i].Documents = int(n)
		rest -= n
	}
	if rest > 0 {
		p.fail()
	}
	return all
}

// appendLengths appends the size of what follows, and the packed length codes (see appendPacked): for each field, those
// of all documents.
func appendLengths(b []byte, lengths postings.Lengths) []byte {
	codes := make([]byte, 0, postings.Fields*len(lengths))
	for f := range postings.Fields {
		for _, of := range lengths {
			codes = append(codes, of[f])
		}
	}
	packed := appendPacked(nil, codes)
	return append(binary.AppendUvarint(b, uint64(len(packed))), packed...)
}

// lengths reads what appendLengths has written for so many documents.
func (p *parser) lengths(documents uint32) postings.Lengths {
	codes, err := unpack(p.take(p.count(1)))
	if err != nil || len(codes) != postings.Fields*int(documents) {
		p.fail()
		return nil
	}
	lengths := make(postings.Lengths, documents)
	for f := range postings.Fields {
		for doc, code := range codes[f*len(lengths):][:len(lengths)] {
			lengths[doc][f] = code
		}
	}
	return lengths
}

// columns reads the directory of the columns of a segment. The parameter offset is where the first
// column begins; size is the size of the segment in bytes.
func (p *parser) columns(offset, size int64) []columnExtent {
	all := make([]columnExtent, p.count(3))
	for i := range all {
		c := columnExtent{name: p.text(), offset: offset}
		c.kind = kind(p.byte())
		c.size = int64(p.number(uint64(size)))
		offset += c.size
		all[i] = c
	}
	return all
}

const sealSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal appends to content the CRC-32C of content[from:].
func seal(content []byte, from int) []byte {
	return binary.BigEndian.AppendUint32(content, crc32.Checksum(content[from:], castagnoli))
}

// unseal checks the CRC-32C at the end of sealed, and returns the bytes before it.
func unseal(sealed []byte) ([]byte, error) {
	end := len(sealed) - sealSize
	if end < 0 {
		return nil, damaged("%d bytes are too few for a checksum", len(sealed))
	}
	if crc32.Checksum(sealed[:end], castagnoli) != binary.BigEndian.Uint32(sealed[end:]) {
		return nil, damaged("its checksum is wrong")
	}
	return sealed[:end:end], nil
}
