package webobject

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Listed is the entry of one Web object in the description and the map of a package. Size
// is the object's size in bytes before compression.
type Listed struct {
	URL string
	Place
	Size int64
}

// suffix is the number of bytes at the end of a package that Describe requests: enough
// for some 700 pages.
const suffix = 64 << 10

// List returns the entries of all Web objects of a storage package, in their order. It sends the
// requests of Describe, and fails as Describe does.
func List(ctx context.Context, r blob.Reader, key string) ([]Listed, error) {
	d, err := Describe(ctx, r, key)
	return d.Pages, err
}

// Description holds data from the tail of a storage package, such as the package's header and the
// list of its Web objects.
type Description struct {
	Header Package // header of the package; its field Runs is nil
	Pages  []Listed
	End    int64  // offset in the package at which the pages end, including the filler in place of erased ones
	Sum    uint32 // CRC-32 of the .webop (the zip member with all pages) before compression
}

// Describe reads the description of a storage package with one GET of the package's end, and a
// second GET if 64 KiB are not enough. It does not read the Web objects. Errors about the bytes
// wrap ErrDamaged; errors of the store are wrapped.
func Describe(ctx context.Context, r blob.Reader, key string) (Description, error) {
	t, err := readTail(ctx, r, key)
	if err != nil {
		return Description{}, fmt.Errorf("cannot list package %s: %w", key, err)
	}
	return Description{t.header, t.pages, t.streamEnd(), t.members[0].crc}, nil
}

// Uncompressed returns the size in bytes, before compression, of all pages of a storage package
// (the .webop). It sends one GET, for the zip's directory.
func Uncompressed(ctx context.Context, r blob.Reader, key string) (int64, error) {
	size := int64(archive{members: packageMembers()}.directorySize())
	end, err := get(ctx, r, key, blob.Range{Offset: -size})
	var a archive
	if err == nil {
		if a, err = parseDirectory(end); err != nil {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("cannot read the directory of package %s: %w", key, err)
	}
	return a.members[0].size, nil
}

// IsErasedFrom reports whether d may describe a package that Erase has made from another one. The
// parameter whole describes that other package, before pages were erased. It checks that both have
// the same header and size, that d lists at least one page, and that whole lists each page of d at
// the same offset. If d lists all pages of whole, both must also have the same CRC-32.
func (d Description) IsErasedFrom(whole Description) bool {
	if d.End != whole.End || d.Header.Base != whole.Header.Base || d.Header.Exponent != whole.Header.Exponent ||
		!d.Header.Created.Equal(whole.Header.Created) || !d.Header.Expires.Equal(whole.Header.Expires) || len(d.Pages) == 0 {
		return false
	}
	if len(d.Pages) == len(whole.Pages) && d.Sum != whole.Sum {
		return false
	}
	left := whole.Pages
	for _, listed := range d.Pages {
		i := slices.Index(left, listed)
		if i < 0 {
			return false
		}
		left = left[i+1:] // both lists are sorted by offset
	}
	return true
}

// readTail reads and decodes the tail of a package: everything after the .webop, the zip member
// with all pages. The tail consists of the description, the map and the directory of the zip file.
func readTail(ctx context.Context, r blob.Reader, key string) (tail, error) {
	var a archive
	end, err := blob.Tail(ctx, r, key, suffix, ErrDamaged, func(end []byte) (size int64, err error) {
		if a, err = parseDirectory(end); err != nil {
			return 0, err
		}
		if size = a.tailSize(); size > maxTail {
			return 0, fmt.Errorf("description and map have %d bytes, at most %d are read", size, maxTail)
		}
		return size, nil
	})
	if err != nil {
		return tail{}, err
	}
	size := a.tailSize()
	if size > int64(len(end)) || len(end) < suffix && a.size() != int64(len(end)) {
		return tail{}, fmt.Errorf("%w: the directory is of a package of %d bytes, it has %d", ErrDamaged, a.size(), len(end))
	}
	t, err := parseTail(end[int64(len(end))-size:], a)
	if err != nil {
		return tail{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return t, nil
}

// maxTail is the greatest size, in bytes, of everything in a package after the .webop (the zip
// member with all pages). This is room for a million pages.
const maxTail = 64 << 20

// tail is the decoded tail of a package: of everything after the .webop, the zip member with all
// pages. In the tail, the description and the map list the package's Web objects.
type tail struct {
	archive
	header Package // header of the package; its field Runs is nil
	pages  []Listed
}

// tailSize returns the size in bytes of everything in the package after the .webop (the zip member
// with all pages).
func (a archive) tailSize() int64 { return a.size() - a.offset(1) }

// parseTail decodes the tail of a package: everything after the .webop, the zip member with all
// pages. The parameter b holds the tail. The parameter a is the zip's directory, which is at the
// end of b, and which parseDirectory has decoded.
func parseTail(b []byte, a archive) (tail, error) {
	desc, b, err := a.cut(b, 1)
	if err != nil {
		return tail{}, err
	}
	table, _, err := a.cut(b, 2)
	if err != nil {
		return tail{}, err
	}
	h, descLines, err := parseDesc(desc)
	if err != nil {
		return tail{}, fmt.Errorf("%s: %w", descName, err)
	}
	if stamp := dosTime(h.Created); stamp != a.stamp {
		return tail{}, fmt.Errorf("%s: the date of %s is %08x in a zip, the directory says %08x", descName, h.Created, stamp, a.stamp)
	}
	mapLines, err := parseMap(table)
	if err != nil {
		return tail{}, fmt.Errorf("%s: %w", mapName, err)
	}
	pages, err := a.list(descLines, mapLines)
	return tail{archive: a, header: h, pages: pages}, err
}

// cut splits b, a part of the zip that begins with the local header of a member. It returns the
// content of this member, and the bytes after the member. The parameter n is the index of the
// member, which must be stored uncompressed.
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

// list returns the entries of the Web objects of a package. The parameter desc holds the lines of
// the description, and table holds the lines of the map. In both, line n describes object n. list
// checks that the Web objects follow each other in the .webop without a gap. It also checks that
// their compressed bytes are in the same order in the zip; there may be holes between them.
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
