package webobject

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"
)

// Methods of compression in a zip (APPNOTE.TXT 6.3.10, 4.4.5).
const (
	methodStored  = 0
	methodDeflate = 8
)

const (
	localSize   = 30 // bytes of a local header without its name
	centralSize = 46 // bytes of a directory entry without its name
	endSize     = 22 // bytes of the record that ends the directory
)

// member is one file of a zip.
type member struct {
	name   string
	method uint16
	crc    uint32 // CRC-32 of the file
	size   int64  // size of the file in bytes, before compression
	length int64  // size of the file in bytes, as stored in the zip, without headers
}

// archive has the data of a zip's headers and directory, without the contents of its files. All zips
// of packages have the same form; for example, sizes and CRCs are always in the local headers. So
// all bytes of the zip can be computed from the archive and the contents of the files.
type archive struct {
	stamp   uint32 // date and time of every member, as dosTime returns them
	members []member
}

// packageMembers returns the members of a storage package, in their order, without
// their sizes and CRCs.
func packageMembers() []member {
	return []member{{name: webopName, method: methodDeflate}, {name: descName}, {name: mapName}}
}

// directorySize returns the size in bytes of the zip's directory, including the record that
// ends it.
func (a archive) directorySize() int {
	size := endSize
	for _, m := range a.members {
		size += centralSize + len(m.name)
	}
	return size
}

// offset returns the offset in the zip of the local header of the member with the index n. If n is
// the number of members, it returns the offset of the directory.
func (a archive) offset(n int) int64 {
	var offset int64
	for _, m := range a.members[:n] {
		offset += localSize + int64(len(m.name)) + m.length
	}
	return offset
}

// streamEnd returns the offset in the package at which the compressed Web objects and holes end.
// They are in the .webop, the first member of the zip; after them this member has only an empty
// deflate block.
func (a archive) streamEnd() int64 { return a.offset(1) - int64(len(finalBlock)) }

// size returns the size of the zip in bytes.
func (a archive) size() int64 { return a.offset(len(a.members)) + int64(a.directorySize()) }

// check returns an error if the size of a file, or of the zip itself, is 2^32 - 1 or more. Larger
// sizes do not fit into 32 bits, and need the extension zip64, which packages do not use. The size
// 2^32 - 1 would fit, but in a zip this number means that zip64 is used.
func (a archive) check() error {
	for _, m := range a.members {
		if m.size >= math.MaxUint32 {
			return fmt.Errorf("%s has %d bytes, a zip without zip64 holds less than 4 GiB: make smaller packages", m.name, m.size)
		}
	}
	if size := a.size(); size >= math.MaxUint32 {
		return fmt.Errorf("the package has %d bytes, a zip without zip64 holds less than 4 GiB: make smaller packages", size)
	}
	return nil
}

// appendLocal appends the local header of the member with the index n.
func (a archive) appendLocal(b []byte, n int) []byte {
	b = append(b, "PK\x03\x04"...)
	b = a.members[n].appendCommon(b, a.stamp)
	return append(b, a.members[n].name...)
}

// appendDirectory appends the zip's directory, which follows the members.
func (a archive) appendDirectory(b []byte) []byte {
	for i, m := range a.members {
		b = append(b, "PK\x01\x02\x14\x00"...) // made by: version 2.0, no attributes
		b = m.appendCommon(b, a.stamp)
		b = append(b, make([]byte, 10)...) // comment, disk, attributes
		b = binary.LittleEndian.AppendUint32(b, uint32(a.offset(i)))
		b = append(b, m.name...)
	}
	b = append(b, "PK\x05\x06\x00\x00\x00\x00"...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(a.members)))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(a.members)))
	b = binary.LittleEndian.AppendUint32(b, uint32(a.directorySize()-endSize))
	b = binary.LittleEndian.AppendUint32(b, uint32(a.offset(len(a.members))))
	return append(b, 0, 0) // comment
}

// parseDirectory decodes the zip's directory of a storage package. The parameter end is the last
// part of the package, or all of it.
func parseDirectory(end []byte) (archive, error) {
	a := archive{members: packageMembers()}
	size := a.directorySize()
	if len(end) < size {
		return archive{}, fmt.Errorf("%d bytes are too few for a package", len(end))
	}
	directory := end[len(end)-size:]
	at := 0
	for i := range a.members {
		m, entry := &a.members[i], directory[at:]
		a.stamp = binary.LittleEndian.Uint32(entry[12:])
		m.crc = binary.LittleEndian.Uint32(entry[16:])
		m.length = int64(binary.LittleEndian.Uint32(entry[20:]))
		m.size = int64(binary.LittleEndian.Uint32(entry[24:]))
		at += centralSize + len(m.name)
	}
	if !bytes.Equal(directory, a.appendDirectory(nil)) {
		return archive{}, errors.New("it does not end with the directory of a package")
	}
	return a, a.check()
}

// appendCommon appends the fields that the local header and the directory entry share. stamp is the
// time of all members as dosTime returns it.
func (m member) appendCommon(b []byte, stamp uint32) []byte {
	b = append(b, 20, 0, 0, 0) // needs version 2.0, no flags
	b = binary.LittleEndian.AppendUint16(b, m.method)
	b = binary.LittleEndian.AppendUint32(b, stamp)
	b = binary.LittleEndian.AppendUint32(b, m.crc)
	b = binary.LittleEndian.AppendUint32(b, uint32(m.length))
	b = binary.LittleEndian.AppendUint32(b, uint32(m.size))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(m.name)))
	return append(b, 0, 0) // extra field
}

// dosTime returns a time as a zip stores it: date and time in UTC, in steps of two seconds.
// Times before 1980 become the first moment of 1980, times after 2107 the last of 2107.
func dosTime(t time.Time) uint32 {
	t = t.UTC()
	first := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	last := time.Date(2107, 12, 31, 23, 59, 58, 0, time.UTC)
	if t.Before(first) {
		t = first
	} else if t.After(last) {
		t = last
	}
	date := (t.Year()-1980)<<9 | int(t.Month())<<5 | t.Day()
	clock := t.Hour()<<11 | t.Minute()<<5 | t.Second()/2
	return uint32(date)<<16 | uint32(clock)
}

// combineCRC returns the CRC-32 of two pieces of bytes joined. The first two parameters are the
// CRC-32 of each piece; the third is the size of the second piece in bytes. It works as
// crc32_combine of zlib does, in O(log size) steps. A CRC is a polynomial over GF(2) modulo the
// polynomial of CRC-32, with the lowest power in the highest bit. The result is the first CRC
// multiplied by x^(8·size), plus the second CRC.
func combineCRC(first, second uint32, size int64) uint32 {
	product := uint32(1) << 31 // the polynomial 1
	factor := uint32(1) << 23  // the polynomial x^8
	for n := size; n > 0; n >>= 1 {
		if n&1 == 1 {
			product = multiply(factor, product)
		}
		factor = multiply(factor, factor)
	}
	return multiply(product, first) ^ second
}

// multiply returns the product of two polynomials over GF(2), modulo the polynomial of
// CRC-32; the lowest power is in the highest bit.
func multiply(a, b uint32) uint32 {
	var product uint32
	for ; a != 0; a <<= 1 {
		if a>>31 == 1 {
			product ^= b
		}
		carry := b & 1
		b >>= 1
		if carry == 1 {
			b ^= crc32.IEEE
		}
	}
	return product
}

// checksum computes the CRC-32 of a .webop (the zip member with all pages) from its Web objects.
type checksum struct {
	crc     uint32
	unknown bool // whether a Web object could not be read: then the CRC-32 is unknown
}

func newChecksum() checksum { return checksum{crc: crc32.ChecksumIEEE([]byte(webopMagic))} }

// add adds the bytes of the next Web object to the checksum. The parameter err is not nil if this
// object could not be read; then the checksum is unknown from now on.
func (c *checksum) add(raw []byte, err error) {
	c.crc = crc32.Update(c.crc, crc32.IEEETable, raw)
	c.unknown = c.unknown || err != nil
}

// check compares the computed CRC-32 with that in the zip's directory, and returns an error if
// they differ. The parameter webop is the directory's entry of the .webop. If a Web object could
// not be read, the CRC-32 is unknown, and check returns nil.
func (c *checksum) check(webop member) error {
	if !c.unknown && c.crc != webop.crc {
		return fmt.Errorf("%s: CRC-32 is %08x, want %08x", webopName, c.crc, webop.crc)
	}
	return nil
}
