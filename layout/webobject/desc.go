package webobject

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
)

const (
	descMagic = "\xFFWOPD\x01"
	descSize  = 28 // bytes of the header of a description
	lineEnd   = "\r\n"
)

// appendDesc appends to b the header of the package's description. The description is the
// member .webop.desc of the package's zip.
func (p Package) appendDesc(b []byte) []byte {
	b = append(b, descMagic...)
	b = binary.BigEndian.AppendUint16(b, uint16(p.Base))
	b = binary.BigEndian.AppendUint16(b, uint16(p.Exponent))
	b = appendTime(b, p.Created)
	b = appendTime(b, p.Expires)
	return append(b, lineEnd...)
}

// parseDesc parses b, the description of a package (the zip member .webop.desc). It returns the
// header, in the fields of p, and the lines after it.
func parseDesc(b []byte) (p Package, lines []byte, err error) {
	if len(b) < descSize || string(b[:6]) != descMagic || string(b[26:28]) != lineEnd {
		return Package{}, nil, fmt.Errorf("it does not begin with a description's header of %d bytes", descSize)
	}
	return Package{
		Base:     int16(binary.BigEndian.Uint16(b[6:])),
		Exponent: int16(binary.BigEndian.Uint16(b[8:])),
		Created:  readTime(b[10:]),
		Expires:  readTime(b[18:]),
	}, b[descSize:], nil
}

// descLine is the line of a description about one Web object.
type descLine struct {
	Offset, Size int64 // range of the Web object in the .webop, in bytes
	URL          string
}

func (l descLine) append(b []byte) []byte {
	b = strconv.AppendInt(b, l.Offset, 10)
	b = append(b, ':')
	b = strconv.AppendInt(b, l.Size, 10)
	b = append(b, ':')
	b = append(b, l.URL...)
	return append(b, lineEnd...)
}

// cutDescLine decodes the first line in b, which holds lines of a package's description. It returns
// this line in decoded form, and the bytes of the other lines.
func cutDescLine(b []byte) (l descLine, rest []byte, err error) {
	text, rest, found := bytes.Cut(b, []byte(lineEnd))
	offset, text, foundOffset := bytes.Cut(text, []byte(":"))
	size, url, foundSize := bytes.Cut(text, []byte(":"))
	l.URL = string(url)
	var errOffset, errSize error
	l.Offset, errOffset = parseDecimal(offset)
	l.Size, errSize = parseDecimal(size)
	if !found || !foundOffset || !foundSize || errOffset != nil || errSize != nil || checkURL(l.URL) != nil {
		return descLine{}, nil, errors.New("want a line offset:size:url")
	}
	return l, rest, nil
}

// parseDecimal parses a decimal number without sign and leading zeros.
func parseDecimal(b []byte) (int64, error) {
	n, err := strconv.ParseUint(string(b), 10, 63)
	if err == nil && b[0] == '0' && len(b) > 1 {
		err = strconv.ErrSyntax
	}
	return int64(n), err
}

const mapMagic = "\xFFWOPM\x01\r\n"

// Place is the range in bytes of a compressed Web object (see Run) in its storage package.
type Place struct{ Offset, Length int64 }

// appendLine appends the line with this place to the lines of a package's map (the zip member
// .webop.map), which are in b.
func (p Place) appendLine(b []byte) []byte {
	b = strconv.AppendInt(b, p.Offset, 10)
	b = append(b, ':')
	b = strconv.AppendInt(b, p.Length, 10)
	return append(b, lineEnd...)
}

// parseMap checks that b, the map of a package (the zip member .webop.map), begins with a map's
// header, and returns the lines after it.
func parseMap(b []byte) (lines []byte, err error) {
	lines, found := bytes.CutPrefix(b, []byte(mapMagic))
	if !found {
		return nil, errors.New("it does not begin with a map's header of 8 bytes")
	}
	return lines, nil
}

// cutMapLine decodes the first line in b, which holds lines of a package's map. It returns the
// place in this line, and the bytes of the other lines.
func cutMapLine(b []byte) (p Place, rest []byte, err error) {
	text, rest, found := bytes.Cut(b, []byte(lineEnd))
	offset, length, foundLength := bytes.Cut(text, []byte(":"))
	var errOffset, errLength error
	p.Offset, errOffset = parseDecimal(offset)
	p.Length, errLength = parseDecimal(length)
	if !found || !foundLength || errOffset != nil || errLength != nil {
		return Place{}, nil, errors.New("want a line offset:length")
	}
	return p, rest, nil
}
