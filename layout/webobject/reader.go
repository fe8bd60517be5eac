package webobject

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"time"
)

// Entry is a Web object and where it stands in its package.
type Entry struct {
	Object
	Place
}

// Reader reads a storage package that is in memory.
type Reader struct {
	Base, Exponent   int16
	Created, Expires time.Time

	members           []member
	descLines, places []byte // lines of the description and the map
}

// Open opens a storage package. It checks the zip's directory, the description
// and the map, but not yet the Web objects. The reader refers to spf, which
// must not change.
func Open(spf []byte) (*Reader, error) {
	r := new(Reader)
	if err := r.open(spf); err != nil {
		return nil, fmt.Errorf("cannot open package: %w", err)
	}
	return r, nil
}

func (r *Reader) open(spf []byte) error {
	archive, err := zip.NewReader(bytes.NewReader(spf), int64(len(spf)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	want := []member{{name: webopName, method: methodDeflate}, {name: descName}, {name: mapName}}
	if len(archive.File) != len(want) {
		return fmt.Errorf("the zip has %d members, want %d", len(archive.File), len(want))
	}
	for i, m := range want {
		if err := m.find(archive.File[i], spf); err != nil {
			return fmt.Errorf("member %d: %w", i, err)
		}
		r.members = append(r.members, m)
	}
	webop, desc, table := r.members[0].parts[0], r.members[1].parts[0], r.members[2].parts[0]
	if !bytes.HasPrefix(webop, []byte(magicRun)) || !bytes.HasSuffix(webop[len(magicRun):], []byte(finalBlock)) {
		return fmt.Errorf("%s: it does not begin with the magic and end with an empty block", webopName)
	}
	header, lines, err := parseDesc(desc)
	if err != nil {
		return fmt.Errorf("%s: %w", descName, err)
	}
	r.Base, r.Exponent, r.Created, r.Expires = header.Base, header.Exponent, header.Created, header.Expires
	r.descLines = lines
	if r.places, err = parseMap(table); err != nil {
		return fmt.Errorf("%s: %w", mapName, err)
	}
	return nil
}

// find fills in the member from its entry in the directory.
func (m *member) find(file *zip.File, spf []byte) error {
	if file.Name != m.name || file.Method != m.method {
		return fmt.Errorf("it is %.100q by method %d, want %q by %d", file.Name, file.Method, m.name, m.method)
	}
	offset, err := file.DataOffset()
	if err != nil {
		return fmt.Errorf("%s: local header: %w", m.name, err)
	}
	if offset < 0 || offset > int64(len(spf)) || file.CompressedSize64 > uint64(int64(len(spf))-offset) {
		return fmt.Errorf("%s: %d bytes at byte %d reach over the end at byte %d", m.name, file.CompressedSize64, offset, len(spf))
	}
	content := spf[offset : offset+int64(file.CompressedSize64)]
	m.crc, m.size, m.parts = file.CRC32, int64(file.UncompressedSize64), [][]byte{content}
	if m.method == methodStored {
		if file.UncompressedSize64 != file.CompressedSize64 {
			return fmt.Errorf("%s: it is stored, but its sizes are %d and %d", m.name, file.CompressedSize64, file.UncompressedSize64)
		}
		if crc := crc32.ChecksumIEEE(content); crc != m.crc {
			return fmt.Errorf("%s: CRC-32 is %08x, want %08x", m.name, crc, m.crc)
		}
	}
	return nil
}

// Objects yields the Web objects in their order, each checked against the
// description, the map and its own hash. One is in memory at a time, and the
// caller may keep it. What contradicts the rest of the package is yielded as
// an error, which ends the sequence.
func (r *Reader) Objects() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w := r.walk()
		for w.more() {
			entry, err := w.next()
			if err != nil {
				yield(Entry{}, fmt.Errorf("cannot read Web object %d of package: %w", w.index, err))
				return
			}
			if !yield(entry, nil) {
				return
			}
			w.index++
		}
		if err := w.end(); err != nil {
			yield(Entry{}, fmt.Errorf("cannot read package: %w", err))
		}
	}
}
