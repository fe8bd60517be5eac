package webobject

import (
	"bytes"
	"errors"
	"strconv"
)

const mapMagic = "\xFFWOPM\x01\r\n"

// Place is where a Web object stands in a storage package: the range of its
// run.
type Place struct{ Offset, Length int64 }

// appendLine appends the place's line of a map.
func (p Place) appendLine(b []byte) []byte {
	b = strconv.AppendInt(b, p.Offset, 10)
	b = append(b, ':')
	b = strconv.AppendInt(b, p.Length, 10)
	return append(b, lineEnd...)
}

// parseMap returns the lines of a map.
func parseMap(b []byte) (lines []byte, err error) {
	lines, found := bytes.CutPrefix(b, []byte(mapMagic))
	if !found {
		return nil, errors.New("it does not begin with a map's header of 8 bytes")
	}
	return lines, nil
}

// cutMapLine reads the first line and returns the others.
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
