package webobject

import (
	"fmt"
	"hash/crc32"
)

// walk goes through the description, the map and the runs side by side.
type walk struct {
	inflater *inflater
	webop    member

	desc, table         []byte // lines not yet read
	descSize, tableSize int    // of the members, for errors

	index  int    // of the next Web object
	offset int64  // of the next Web object in the .webop
	run    int64  // the same in the deflate stream
	crc    uint32 // of the .webop so far
}

func (r *Reader) walk() *walk {
	return &walk{
		inflater:  newInflater(),
		webop:     r.members[0],
		desc:      r.descLines,
		table:     r.places,
		descSize:  int(r.members[1].size),
		tableSize: int(r.members[2].size),
		offset:    int64(len(webopMagic)),
		run:       int64(len(magicRun)),
		crc:       crc32.ChecksumIEEE([]byte(webopMagic)),
	}
}

func (w *walk) more() bool { return len(w.desc) > 0 || len(w.table) > 0 }

// next reads one Web object. The runs must follow each other without a gap.
func (w *walk) next() (Entry, error) {
	line, desc, err := cutDescLine(w.desc)
	if err != nil {
		return Entry{}, fmt.Errorf("%s at byte %d: %w", descName, w.descSize-len(w.desc), err)
	}
	place, table, err := cutMapLine(w.table)
	if err != nil {
		return Entry{}, fmt.Errorf("%s at byte %d: %w", mapName, w.tableSize-len(w.table), err)
	}
	if line.Offset != w.offset {
		return Entry{}, fmt.Errorf("%s says that %.200q is at byte %d, it is at %d", descName, line.URL, line.Offset, w.offset)
	}
	stream := w.webop.parts[0]
	left := int64(len(stream)-len(finalBlock)) - w.run
	if place.Offset != webopStart+w.run || place.Length > left {
		return Entry{}, fmt.Errorf("%s says that %.200q has %d bytes at byte %d, want at most %d at %d",
			mapName, line.URL, place.Length, place.Offset, left, webopStart+w.run)
	}
	o, err := w.object(stream[w.run:w.run+place.Length], line)
	if err != nil {
		return Entry{}, fmt.Errorf("%.200q at byte %d: %w", line.URL, place.Offset, err)
	}
	w.desc, w.table = desc, table
	w.run += place.Length
	w.offset += line.Size
	return Entry{Object: o, Place: place}, nil
}

func (w *walk) object(run []byte, line descLine) (Object, error) {
	raw, err := w.inflater.inflateExactly(run, line.Size)
	if err != nil {
		return Object{}, err
	}
	w.crc = crc32.Update(w.crc, crc32.IEEETable, raw)
	o, err := decodeWhole(raw)
	if err == nil && o.URL != line.URL {
		err = fmt.Errorf("web object: URL is %.200q", o.URL)
	}
	if err == nil {
		err = o.checkHash()
	}
	return o, err
}

// end checks that the .webop ends where its last Web object does.
func (w *walk) end() error {
	if end := int64(len(w.webop.parts[0]) - len(finalBlock)); w.run != end {
		return fmt.Errorf("%s: the last run ends at byte %d, the stream at %d", webopName, w.run, end)
	}
	if w.offset != w.webop.size {
		return fmt.Errorf("%s: the last Web object ends at byte %d, the zip says %d", webopName, w.offset, w.webop.size)
	}
	if w.crc != w.webop.crc {
		return fmt.Errorf("%s: CRC-32 is %08x, want %08x", webopName, w.crc, w.webop.crc)
	}
	return nil
}
