package segment

import (
	"encoding/binary"
	"fmt"
	"time"
)

// MaxSupplement is the greatest size of a document's supplement, in bytes (see appendSupplement).
const MaxSupplement = 1 << 20

// Section is a part of a page with an address of its own: that of the page and a fragment. It begins
// with a heading, and ends where the next section begins.
type Section struct {
	Heading  int    // the section's heading, as an index in Document.Headings
	Start    int    // offset of the section in Document.Body, in bytes
	Fragment string // what follows the # in the section's address, without percent-encoding; not empty
}

// appendSupplement appends the supplement of a document: values that a segment stores beside the document's record
// and body. They are not in the record because older programs report a record with unknown bytes as damaged. New
// values may only be added at the end of supplements:
//
//	date       days since 1970, plus 1; 0 if the page's own date is not known; varint
//	sections   number of sections; each: heading and start, as differences to those of the section
//	           before (varints), fragment (string)
//	entries    number of entries, entries (see appendEntries)
//	…          a reader ignores what follows
//
// The entries were added later. So older supplements end before them, as do those of documents without entries. The
// supplement of a document without a date, sections and entries is empty.
func appendSupplement(b []byte, d *Document) []byte {
	day := dayOf(d.Date)
	if day == 0 && len(d.Sections) == 0 && len(d.Entries) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, day)
	b = binary.AppendUvarint(b, uint64(len(d.Sections)))
	last := Section{}
	for _, s := range d.Sections {
		b = binary.AppendUvarint(b, uint64(s.Heading-last.Heading))
		b = binary.AppendUvarint(b, uint64(s.Start-last.Start))
		b = appendText(b, s.Fragment)
		last = s
	}
	return appendEntries(b, d)
}

// areSections reports whether the sections of a document can be encoded: they are in the order of its
// headings and of its body, and have fragments.
func areSections(d *Document) bool {
	last := Section{Heading: -1, Start: -1}
	for _, s := range d.Sections {
		if s.Heading <= last.Heading || s.Start <= last.Start || s.Fragment == "" {
			return false
		}
		last = s
	}
	return last.Heading < len(d.Headings) && last.Start <= len(d.Body)
}

// parseSupplement sets the fields Date, Sections and Entries of a document, which appendSupplement encoded.
// The document's headings and body must be set.
func parseSupplement(supplement []byte, d *Document) error {
	if len(supplement) == 0 {
		return nil
	}
	p := parser{data: supplement}
	d.Date = dateOf(p.number(maxDay))
	const least = 4 // size of the smallest section, in bytes
	if n := p.count(least); n > 0 {
		d.Sections = make([]Section, n)
	}
	last := Section{}
	for i := range d.Sections {
		last.Heading += int(p.number(uint64(len(d.Headings))))
		last.Start += int(p.number(uint64(len(d.Body))))
		last.Fragment = p.text()
		d.Sections[i] = last
	}
	if p.left() > 0 {
		d.Entries = p.entries(d.Body)
	}
	if p.failed || !areSections(d) || !areEntries(d) {
		return damaged("supplement does not hold what it tells of")
	}
	return nil
}

// The supplements of a block of stored documents are in a skippable frame before the block's zstd
// frame (RFC 8878, 3.1.2). Programs that do not know supplements skip this frame when they decompress
// the block. The frame's header is the magic number and the size of its content, each u32 in
// little-endian order.
const (
	supplementMagic = 0x184D2A50
	frameHeader     = 8 // size of the header, in bytes
)

// appendFrame appends the skippable frame with the supplements of a block. The parameter packed has,
// for each document, the size of its supplement as a varint, and the supplement.
func appendFrame(b, packed []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, supplementMagic)
	b = compress(binary.LittleEndian.AppendUint32(b, 0), packed)
	binary.LittleEndian.PutUint32(b[start+4:], uint32(len(b)-start-frameHeader))
	return b
}

// cutFrame divides a block of stored documents in two: the content of the skippable frame with its supplements
// (nil if the block has no such frame), and the rest, which is the frame with the records and bodies.
func cutFrame(block []byte) (content, rest []byte, err error) {
	if len(block) < frameHeader || binary.LittleEndian.Uint32(block) != supplementMagic {
		return nil, block, nil
	}
	size := uint64(binary.LittleEndian.Uint32(block[4:]))
	if size > uint64(len(block)-frameHeader) {
		return nil, nil, damaged("its supplements have %d bytes, more than the block", size)
	}
	return block[frameHeader:][:size], block[frameHeader+size:], nil
}

// openFrame returns the supplement of each document of a block. The parameter content is the first result of
// cutFrame. If it is nil, all supplements are empty.
func openFrame(content []byte, documents int) ([][]byte, error) {
	supplements := make([][]byte, documents)
	if content == nil {
		return supplements, nil
	}
	packed, err := decompress(nil, content)
	if err != nil {
		return nil, fmt.Errorf("supplements: %w", err)
	}
	p := parser{data: packed}
	for i := range supplements {
		supplements[i] = p.take(int(p.number(MaxSupplement)))
	}
	if p.failed || p.left() > 0 {
		return nil, damaged("its supplements do not hold what they tell of")
	}
	return supplements, nil
}

// maxDay is the greatest encoding of a date (see dayOf): that of a day in the year 9999.
const maxDay = 2_932_897

// dayOf encodes a date for the column OwnDates and for supplements: the days since 1970, plus 1; 0 for
// the zero time, and for dates before 1970 or after the year 9999.
func dayOf(date time.Time) uint64 {
	if date.IsZero() || date.Unix() < 0 || date.Year() > 9999 {
		return 0
	}
	return uint64(date.Unix()/(24*60*60)) + 1
}

// dateOf returns the date that dayOf encoded: the beginning of the day in UTC, or the zero time for 0.
func dateOf(day uint64) time.Time {
	if day == 0 {
		return time.Time{}
	}
	return time.Unix(int64(day-1)*24*60*60, 0).UTC()
}
