package book

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// version is the version of the format of a book. It is a part of the first eight bytes of a
// book, and of the last eight (see magic).
type version byte

const (
	version1 version = 1
	version2 version = 2 // version that adds Outcome.Pace
	version3 version = 3 // version that adds Outcome.Asset
	version4 version = 4 // version that adds Link.Former
)

const magicSize = len("\xffBOOK\x01\r\n")

// magic returns the bytes with which a book of this version begins and ends.
func (v version) magic() string { return "\xffBOOK" + string([]byte{byte(v)}) + "\r\n" }

// versionOf returns the version that has the given magic bytes; an error if there is none.
func versionOf(magic string) (version, error) {
	for _, v := range []version{version1, version2, version3, version4} {
		if magic == v.magic() {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%q, want %q with a version of 1 to %d", magic, version1.magic(), version4)
}

const (
	footerSize    = 8 + magicSize
	headSize      = 4 * 4 // size in bytes of the four numbers at the start of the directory
	copySize      = 4     // size in bytes of the number of the copy (see Distinct), at the end of the directory
	entrySize     = 8 + 8 + 4 + 4 + 4
	identitySize  = len(layout.Identity{})
	maxDirectory  = 64 << 20         // greatest size of a directory, in bytes
	maxBlock      = 256 << 10        // greatest size of a block before compression, in bytes
	maxCompressed = maxBlock + 1<<10 // greatest size of a block after compression, in bytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// block is one entry of the directory; it describes a compressed block of rows.
type block struct {
	first, last layout.Place // lowest and highest place (hash of a URL) of the rows
	count       uint32       // number of outcomes or links in the block
	size        uint32       // size of the compressed rows in bytes
	crc         uint32       // CRC-32C of the compressed bytes
	offset      int64        // offset of the block in the book; not stored: the sizes of earlier blocks give it
}

// directory says where the blocks of a book are, and where its table of sources is. The sources are
// the pages whose links are in the book.
type directory struct {
	version         version
	outcomes, links []block
	sources         uint32 // number of pages in the table of sources
	sourcesCRC      uint32 // CRC-32C of the table of sources
	copy            uint32 // number that makes a copy differ in its bytes; 0 for the original (see Distinct)
	sourcesOffset   int64  // offset of the table of sources in the book
	size            int64  // size of the whole book in bytes
}

// appendTo appends the directory and the footer to a book that ends with the table of
// sources.
func (d directory) appendTo(file []byte) []byte {
	start := len(file)
	for _, n := range []uint32{uint32(len(d.outcomes)), uint32(len(d.links)), d.sources, d.sourcesCRC} {
		file = binary.BigEndian.AppendUint32(file, n)
	}
	for _, blocks := range [][]block{d.outcomes, d.links} {
		for _, b := range blocks {
			file = binary.BigEndian.AppendUint64(file, uint64(b.first))
			file = binary.BigEndian.AppendUint64(file, uint64(b.last))
			file = binary.BigEndian.AppendUint32(file, b.count)
			file = binary.BigEndian.AppendUint32(file, b.size)
			file = binary.BigEndian.AppendUint32(file, b.crc)
		}
	}
	if d.copy > 0 {
		file = binary.BigEndian.AppendUint32(file, d.copy)
	}
	file = binary.BigEndian.AppendUint32(file, uint32(len(file)-start))
	file = binary.BigEndian.AppendUint32(file, crc32.Checksum(file[start:], castagnoli))
	return append(file, d.version.magic()...)
}

// directorySize reads the footer of a book: it returns the size of the directory in
// bytes, and the version. tail is the end of the book, of any length.
func directorySize(tail []byte) (int, version, error) {
	if len(tail) < footerSize {
		return 0, 0, fmt.Errorf("%d bytes are too few for a book", len(tail))
	}
	footer := tail[len(tail)-footerSize:]
	v, err := versionOf(string(footer[8:]))
	if err != nil {
		return 0, 0, fmt.Errorf("footer: ends with %w", err)
	}
	size := binary.BigEndian.Uint32(footer)
	if size > maxDirectory || size < uint32(headSize) {
		return 0, 0, fmt.Errorf("footer: directory of %d bytes, want %d to %d", size, headSize, maxDirectory)
	}
	return int(size), v, nil
}

// parseDirectory parses the directory of a book. tail is the end of the book; it must
// contain the directory and the footer.
func parseDirectory(tail []byte) (directory, error) {
	var d directory
	size, v, err := directorySize(tail)
	if err != nil {
		return d, err
	}
	d.version = v
	end := len(tail) - footerSize
	if size > end {
		return d, fmt.Errorf("footer: directory of %d bytes where %d remain", size, end)
	}
	b := tail[end-size : end+4]
	if crc := binary.BigEndian.Uint32(tail[end+4:]); crc != crc32.Checksum(b, castagnoli) {
		return d, errors.New("directory: checksum does not match")
	}
	outcomes, links := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	d.sources, d.sourcesCRC = binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
	entries, blocks := b[headSize:size], entrySize*(int(outcomes)+int(links))
	if len(entries) == blocks+copySize {
		d.copy = binary.BigEndian.Uint32(entries[blocks:])
	}
	if len(entries) != blocks && d.copy == 0 {
		return d, fmt.Errorf("directory: %d bytes for %d and %d blocks", len(entries), outcomes, links)
	}
	offset := int64(magicSize)
	b = b[headSize:]
	if d.outcomes, offset, err = parseBlocks(b, int(outcomes), offset); err != nil {
		return d, fmt.Errorf("directory of outcomes: %w", err)
	}
	if d.links, offset, err = parseBlocks(b[entrySize*outcomes:], int(links), offset); err != nil {
		return d, fmt.Errorf("directory of links: %w", err)
	}
	d.sourcesOffset = offset
	d.size = offset + int64(d.sources)*int64(identitySize) + int64(size+footerSize)
	return d, nil
}

// parseBlocks parses the first n entries in b, a part of the directory. An entry has the size of
// its block, but not the offset, because the blocks follow each other in the book without gaps. So
// the caller gives the offset of the first block. parseBlocks also returns the offset at which the
// last block ends.
func parseBlocks(b []byte, n int, offset int64) ([]block, int64, error) {
	blocks := make([]block, n)
	last := layout.Place(0)
	for i := range blocks {
		k := block{
			first:  layout.Place(binary.BigEndian.Uint64(b)),
			last:   layout.Place(binary.BigEndian.Uint64(b[8:])),
			count:  binary.BigEndian.Uint32(b[16:]),
			size:   binary.BigEndian.Uint32(b[20:]),
			crc:    binary.BigEndian.Uint32(b[24:]),
			offset: offset,
		}
		if k.first < last || k.last < k.first {
			return nil, 0, fmt.Errorf("block %d is not sorted", i)
		}
		if k.size > maxCompressed || k.count > maxBlock || k.count == 0 {
			return nil, 0, fmt.Errorf("block %d has %d rows in %d bytes, which no book has", i, k.count, k.size)
		}
		blocks[i], b, last, offset = k, b[entrySize:], k.last, offset+int64(k.size)
	}
	return blocks, offset, nil
}

// Distinct returns a copy of a book with the same outcomes and links but other bytes: its directory
// contains the number. So the copy has another content hash, and can be stored under another key
// after the book's key was condemned (listed for deletion). Number 0 gives the book itself. The
// content must be a book that Encode, Merge or Erase returned; otherwise Distinct panics.
func Distinct(content []byte, number uint32) []byte {
	d, err := parseDirectory(content)
	if err != nil {
		panic(err) // content is no book
	}
	d.copy = number
	end := len(content) - footerSize
	start := end - int(binary.BigEndian.Uint32(content[end:]))
	return d.appendTo(slices.Clone(content[:start]))
}
