package webobject

import (
	"fmt"
	"hash/crc32"
)

// builder puts a package together, run by run.
type builder struct {
	header Package // of which the runs are not asked for
	webop  member
	stream [][]byte // the .webop's deflate stream
	desc   []byte
	table  []byte
	next   int64 // where the stream goes on in the package
}

func newBuilder(header Package) *builder {
	return &builder{
		header: header,
		webop:  member{name: webopName, method: methodDeflate, crc: crc32.ChecksumIEEE([]byte(webopMagic)), size: int64(len(webopMagic))},
		stream: [][]byte{[]byte(magicRun)},
		desc:   header.appendDesc(nil),
		table:  []byte(mapMagic),
		next:   firstRun,
	}
}

// add appends a run.
func (b *builder) add(run Run) Place {
	place := Place{Offset: b.next, Length: int64(len(run.Compressed))}
	b.desc = descLine{Offset: b.webop.size, Size: run.Size, URL: run.URL}.append(b.desc)
	b.table = place.appendLine(b.table)
	b.webop.crc = combineCRC(b.webop.crc, run.CRC, run.Size)
	b.webop.size += run.Size
	b.stream = append(b.stream, run.Compressed)
	b.next += place.Length
	return place
}

// fill makes a hole, so that the stream goes on at the offset.
func (b *builder) fill(offset int64) error {
	if b.next == offset {
		return nil
	}
	hole, err := appendHole(nil, offset-b.next)
	if err != nil {
		return fmt.Errorf("byte %d: %w", b.next, err)
	}
	b.stream = append(b.stream, hole)
	b.next = offset
	return nil
}

// build returns the package.
func (b *builder) build() ([]byte, error) {
	webop := b.webop
	webop.length = b.next + int64(len(finalBlock)) - webopStart
	return assemble(b.header, webop, append(b.stream, []byte(finalBlock)), b.desc, b.table)
}

// assemble returns a zip of a .webop in parts, a description and a map.
func assemble(header Package, webop member, parts [][]byte, desc, table []byte) ([]byte, error) {
	a := archive{
		stamp:   dosTime(header.Created),
		members: []member{webop, storedMember(descName, desc), storedMember(mapName, table)},
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	if size := a.tailSize(); size > maxTail {
		return nil, fmt.Errorf("description and map would have %d bytes, at most %d are read: make smaller packages", size, maxTail)
	}
	spf := a.appendLocal(make([]byte, 0, a.size()), 0)
	for _, part := range parts {
		spf = append(spf, part...)
	}
	spf = append(a.appendLocal(spf, 1), desc...)
	spf = append(a.appendLocal(spf, 2), table...)
	return a.appendDirectory(spf), nil
}

func storedMember(name string, content []byte) member {
	size := int64(len(content))
	return member{name: name, method: methodStored, crc: crc32.ChecksumIEEE(content), size: size, length: size}
}
