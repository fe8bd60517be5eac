package webobject

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"
)

// Methods of compression in a zip (APPNOTE.TXT 6.3.10, 4.4.5).
const (
	methodStored  = 0
	methodDeflate = 8
)

const (
	localSize   = 30 // of a local header without its name
	centralSize = 46 // of a directory entry without its name
	endSize     = 22
)

// member is one file of a zip.
type member struct {
	name   string
	method uint16
	crc    uint32 // CRC-32 of the file
	size   int64  // of the file
	parts  [][]byte
}

// length returns the number of bytes in the zip, without headers.
func (m member) length() int64 {
	var n int64
	for _, part := range m.parts {
		n += int64(len(part))
	}
	return n
}

// zipSize returns how much writeZip writes, or an error if that needs zip64 (of
// which the size FF FF FF FF is the sign).
func zipSize(members []member) (int64, error) {
	total := int64(endSize)
	for _, m := range members {
		total += localSize + centralSize + 2*int64(len(m.name)) + m.length()
		if m.size >= math.MaxUint32 {
			return 0, fmt.Errorf("%s has %d bytes, a zip without zip64 holds less than 4 GiB: make smaller packages", m.name, m.size)
		}
	}
	if total >= math.MaxUint32 {
		return 0, fmt.Errorf("the package would have %d bytes, a zip without zip64 holds less than 4 GiB: make smaller packages", total)
	}
	return total, nil
}

// writeZip writes a zip whose every byte follows from its arguments. Sizes and
// CRCs stand in the local headers: there are no data descriptors.
func writeZip(w io.Writer, created time.Time, members []member) error {
	var directory []byte
	var offset int64
	stamp := dosTime(created)
	for _, m := range members {
		common := m.appendCommon(nil, stamp)
		local := append([]byte("PK\x03\x04"), common...)
		local = append(local, m.name...)
		for _, part := range append([][]byte{local}, m.parts...) {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		directory = append(directory, "PK\x01\x02\x14\x00"...) // made by: version 2.0, no attributes
		directory = append(directory, common...)
		directory = append(directory, make([]byte, 10)...) // comment, disk, attributes
		directory = binary.LittleEndian.AppendUint32(directory, uint32(offset))
		directory = append(directory, m.name...)
		offset += int64(len(local)) + m.length()
	}
	end := []byte("PK\x05\x06\x00\x00\x00\x00")
	end = binary.LittleEndian.AppendUint16(end, uint16(len(members)))
	end = binary.LittleEndian.AppendUint16(end, uint16(len(members)))
	end = binary.LittleEndian.AppendUint32(end, uint32(len(directory)))
	end = binary.LittleEndian.AppendUint32(end, uint32(offset))
	end = append(end, 0, 0) // comment
	_, err := w.Write(append(directory, end...))
	return err
}

// appendCommon appends what the local header and the directory entry share.
func (m member) appendCommon(b []byte, stamp uint32) []byte {
	b = append(b, 20, 0, 0, 0) // needs version 2.0, no flags
	b = binary.LittleEndian.AppendUint16(b, m.method)
	b = binary.LittleEndian.AppendUint32(b, stamp)
	b = binary.LittleEndian.AppendUint32(b, m.crc)
	b = binary.LittleEndian.AppendUint32(b, uint32(m.length()))
	b = binary.LittleEndian.AppendUint32(b, uint32(m.size))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(m.name)))
	return append(b, 0, 0) // extra field
}

// dosTime returns the date, in UTC, and the time in steps of two seconds, as a
// zip holds them; it knows the years 1980 to 2107.
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
