package webobject

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"time"
)

// The members of a storage package, in their order.
const (
	webopName = "package.webop"
	descName  = "package.webop.desc"
	mapName   = "package.webop.map"
)

const (
	webopMagic = "\xFF\xFFWOP\x01\r\n"
	// magicRun is the magic as a run: one stored block of 8 bytes.
	magicRun = "\x00\x08\x00\xF7\xFF" + webopMagic
	// webopStart is where the .webop's deflate stream begins in the package.
	webopStart = localSize + int64(len(webopName))
)

// Package is a storage package in the making. Its pages are expected to stay
// valid Base^Exponent days.
type Package struct {
	Base, Exponent   int16
	Created, Expires time.Time // milliseconds on disk, cut off
	Runs             []Run
}

// Build returns the package's bytes, which depend on its fields alone, and the
// place of every run. The bytes have been verified; an error names the run
// that cannot be read.
func (p Package) Build() (spf []byte, places []Place, err error) {
	defer func() {
		if err != nil {
			spf, places, err = nil, nil, fmt.Errorf("cannot build package: %w", err)
		}
	}()
	webop := member{
		name:   webopName,
		method: methodDeflate,
		crc:    crc32.ChecksumIEEE([]byte(webopMagic)),
		size:   int64(len(webopMagic)),
		parts:  [][]byte{[]byte(magicRun)},
	}
	desc, table := p.appendDesc(nil), []byte(mapMagic)
	next := webopStart + int64(len(magicRun))
	for _, run := range p.Runs {
		place := Place{Offset: next, Length: int64(len(run.Compressed))}
		places = append(places, place)
		desc = descLine{Offset: webop.size, Size: run.Size, URL: run.URL}.append(desc)
		table = place.appendLine(table)
		webop.crc = combineCRC(webop.crc, run.CRC, run.Size)
		webop.size += run.Size
		webop.parts = append(webop.parts, run.Compressed)
		next += place.Length
	}
	webop.parts = append(webop.parts, []byte(finalBlock))
	members := []member{webop, storedMember(descName, desc), storedMember(mapName, table)}
	size, err := zipSize(members)
	if err != nil {
		return nil, nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, size))
	if err := writeZip(out, p.Created, members); err != nil {
		return nil, nil, err
	}
	if err := Verify(out.Bytes()); err != nil {
		return nil, nil, p.culprit(err)
	}
	return out.Bytes(), places, nil
}

// culprit returns the error of the first run that cannot be read, else err.
func (p Package) culprit(err error) error {
	for i, run := range p.Runs {
		if _, errRun := run.Object(); errRun != nil {
			return fmt.Errorf("run %d: %w", i, errRun)
		}
	}
	return err
}

func storedMember(name string, content []byte) member {
	return member{
		name:   name,
		method: methodStored,
		crc:    crc32.ChecksumIEEE(content),
		size:   int64(len(content)),
		parts:  [][]byte{content},
	}
}
