package webobject

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// maxTail is the most that a package has behind its .webop: room for a million
// pages.
const maxTail = 64 << 20

// Listed is a Web object of a package as the description and the map tell of
// it: Size is that of the Web object, before compression.
type Listed struct {
	URL string
	Place
	Size int64
}

// tail is what stands behind the .webop and says what the package holds.
type tail struct {
	archive
	header Package // without runs
	pages  []Listed
}

// tailSize returns how many bytes stand behind the .webop.
func (a archive) tailSize() int64 { return a.size() - a.offset(1) }

// parseTail reads a tail, of which parseDirectory has read the end.
func parseTail(b []byte, a archive) (tail, error) {
	desc, b, err := a.cut(b, 1)
	if err != nil {
		return tail{}, err
	}
	table, _, err := a.cut(b, 2)
	if err != nil {
		return tail{}, err
	}
	header, descLines, err := parseDesc(desc)
	if err != nil {
		return tail{}, fmt.Errorf("%s: %w", descName, err)
	}
	if stamp := dosTime(header.Created); stamp != a.stamp {
		return tail{}, fmt.Errorf("%s: the date of %s is %08x in a zip, the directory says %08x", descName, header.Created, stamp, a.stamp)
	}
	mapLines, err := parseMap(table)
	if err != nil {
		return tail{}, fmt.Errorf("%s: %w", mapName, err)
	}
	pages, err := a.list(descLines, mapLines)
	return tail{archive: a, header: header, pages: pages}, err
}

// cut returns the content of a stored member, whose local header b begins
// with, and what follows it.
func (a archive) cut(b []byte, n int) (content, rest []byte, err error) {
	m := a.members[n]
	b, found := bytes.CutPrefix(b, a.appendLocal(nil, n))
	if !found || m.size != m.length {
		return nil, nil, fmt.Errorf("%s: local header and directory contradict each other", m.name)
	}
	if crc := crc32.ChecksumIEEE(b[:m.length]); crc != m.crc {
		return nil, nil, fmt.Errorf("%s: CRC-32 is %08x, want %08x", m.name, crc, m.crc)
	}
	return b[:m.length], b[m.length:], nil
}

// list reads the lines of description and map side by side. The Web objects
// follow each other without a gap in the .webop; their runs may leave holes.
func (a archive) list(desc, table []byte) ([]Listed, error) {
	var pages []Listed
	webop := a.members[0]
	offset := int64(len(webopMagic))
	next, end := firstRun, a.streamEnd()
	if end < next {
		return nil, fmt.Errorf("%s: %d bytes are too few", webopName, webop.length)
	}
	for len(desc) > 0 || len(table) > 0 {
		var line descLine
		var place Place
		var err error
		if line, desc, err = cutDescLine(desc); err != nil {
			return nil, fmt.Errorf("%s, Web object %d: %w", descName, len(pages), err)
		}
		if place, table, err = cutMapLine(table); err != nil {
			return nil, fmt.Errorf("%s, Web object %d: %w", mapName, len(pages), err)
		}
		if line.Offset != offset || line.Size > webop.size-offset {
			return nil, fmt.Errorf("%s says that %.200q has %d bytes at byte %d, want at most %d at %d",
				descName, line.URL, line.Size, line.Offset, webop.size-offset, offset)
		}
		if place.Offset < next || place.Offset > end || place.Length > end-place.Offset {
			return nil, fmt.Errorf("%s says that %.200q has %d bytes at byte %d, want them between %d and %d",
				mapName, line.URL, place.Length, place.Offset, next, end)
		}
		pages = append(pages, Listed{URL: line.URL, Place: place, Size: line.Size})
		offset += line.Size
		next = place.Offset + place.Length
	}
	if offset != webop.size {
		return nil, fmt.Errorf("%s: the last Web object ends at byte %d, the zip says %d", webopName, offset, webop.size)
	}
	return pages, nil
}
