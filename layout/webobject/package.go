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
	// magicRun is the magic of the .webop (the zip member with all pages), written as a stored
	// deflate block of 8 bytes.
	magicRun = "\x00\x08\x00\xF7\xFF" + webopMagic
	// These are offsets in a package. The deflate stream with all Web objects begins at webopStart.
	// The first compressed Web object begins at firstRun; if it was erased, a hole (filler) does.
	webopStart = localSize + int64(len(webopName))
	firstRun   = webopStart + int64(len(magicRun))
)

// Package is the content of a storage package. Its pages are expected to stay valid for
// Base^Exponent days.
type Package struct {
	Base, Exponent   int16
	Created, Expires time.Time // when the package was made, and when its pages expire; stored in whole milliseconds
	Runs             []Run
}

// ExpiryBase is Package.Base of all new packages: their pages are expected to stay valid
// for 2^Exponent days (thesis 2006, section 4.3).
const ExpiryBase int16 = 2

// Lifetime returns how long the pages of a package with this exponent are expected to stay valid:
// 2^exponent days, but at least about a second and at most about 45 years.
func Lifetime(exponent int16) time.Duration {
	const day = 24 * time.Hour
	if exponent < 0 {
		return day >> -max(exponent, -16)
	}
	return day << min(exponent, 14)
}

// Build returns the bytes of the package, and for each element of p.Runs its place in these bytes.
// The bytes depend only on the fields of p. Build decodes the bytes once more to check them. If
// this fails, the error gives the index of the run that cannot be decoded.
func (p Package) Build() (spf []byte, places []Place, err error) {
	defer func() {
		if err != nil {
			spf, places, err = nil, nil, fmt.Errorf("cannot build package: %w", err)
		}
	}()
	b := newBuilder(p)
	for _, run := range p.Runs {
		places = append(places, b.add(run))
	}
	if spf, err = b.build(); err != nil {
		return nil, nil, err
	}
	if err := verify(spf); err != nil {
		return nil, nil, p.culprit(err)
	}
	return spf, places, nil
}

// culprit looks for the cause if a package was built from p, and reading it back failed with the
// error err. It decodes each element of p.Runs by itself. It returns the error of the first element
// that cannot be decoded, or err if all can.
func (p Package) culprit(err error) error {
	for i, run := range p.Runs {
		if _, errRun := run.Object(); errRun != nil {
			return fmt.Errorf("run %d: %w", i, errRun)
		}
	}
	return err
}

// builder makes the bytes of a package, one compressed Web object after another.
type builder struct {
	header Package // header of the package; the field Runs is not used
	webop  member
	stream [][]byte // the .webop's deflate stream so far, in pieces
	desc   []byte   // description (.webop.desc) of the Web objects added so far
	table  []byte   // map (.webop.map) of the Web objects added so far
	next   int64    // offset in the package at which the next compressed object or filler begins
}

func newBuilder(h Package) *builder {
	return &builder{
		header: h,
		webop:  member{name: webopName, method: methodDeflate, crc: crc32.ChecksumIEEE([]byte(webopMagic)), size: int64(len(webopMagic))},
		stream: [][]byte{[]byte(magicRun)},
		desc:   h.appendDesc(nil),
		table:  []byte(mapMagic),
		next:   firstRun,
	}
}

// add appends a compressed Web object to the package, and returns its place there.
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

// fill appends a hole: filler in place of erased Web objects. The hole reaches from the present end
// of the package to the given offset. If the package ends there already, fill appends nothing.
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

// build returns the bytes of the package.
func (b *builder) build() ([]byte, error) {
	webop := b.webop
	webop.length = b.next + int64(len(finalBlock)) - webopStart
	return assemble(b.header, webop, append(b.stream, []byte(finalBlock)), b.desc, b.table)
}

// assemble returns the bytes of a package: a zip of the .webop (the member with all pages), the
// description and the map. The first parameter is the header of the package. The parameter webop is
// the entry of the .webop in the zip's directory, and parts holds its compressed bytes, in pieces.
// The last two parameters are the bytes of the description and of the map.
func assemble(h Package, webop member, parts [][]byte, desc, table []byte) ([]byte, error) {
	a := archive{
		stamp:   dosTime(h.Created),
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

// storedMember describes a member that is stored uncompressed.
func storedMember(name string, content []byte) member {
	size := int64(len(content))
	return member{name: name, method: methodStored, crc: crc32.ChecksumIEEE(content), size: size, length: size}
}

// Erase returns the package spf without the Web objects for which the function gone returns true,
// and the number of these objects. It calls this function once for each object, in the order of the
// package. Holes replace the compressed bytes of the erased objects; the bytes of the remaining
// objects, and the header, stay as they are. Erasing objects in one call or in several gives the
// same bytes. Erase decodes the result once more to check it.
//
// Erase fails if a remaining object is damaged; an erased one may be damaged. Damaged bytes between
// the pages are repaired. If nothing changes, Erase returns spf itself. Errors about the bytes wrap
// ErrDamaged.
func Erase(spf []byte, gone func(Listed) bool) (rewritten []byte, erased int, err error) {
	rewritten, erased, err = erase(spf, gone)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot erase from package: %w", err)
	}
	return rewritten, erased, nil
}

func erase(spf []byte, gone func(Listed) bool) (rewritten []byte, erased int, err error) {
	r, err := Open(spf)
	if err != nil {
		return nil, 0, err
	}
	inflater := newInflater()
	sum := newChecksum()
	b := newBuilder(r.tail.header)
	for _, listed := range r.tail.pages {
		run := r.run(listed)
		_, raw, err := inflater.object(run, listed.URL, listed.Size)
		sum.add(raw, err)
		if gone(listed) {
			erased++
			continue
		}
		if err != nil {
			return nil, 0, damagedPage(listed, err)
		}
		if err := b.fill(listed.Offset); err != nil {
			return nil, 0, err
		}
		b.add(Run{URL: listed.URL, Compressed: run, Size: listed.Size, CRC: crc32.ChecksumIEEE(raw)})
	}
	if err := sum.check(r.tail.members[0]); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err := b.fill(r.tail.streamEnd()); err != nil {
		return nil, 0, err
	}
	if rewritten, err = b.build(); err != nil {
		return nil, 0, err
	}
	if erased == 0 && bytes.Equal(rewritten, spf) {
		return spf, 0, nil
	}
	return rewritten, erased, verify(rewritten)
}

// Pieces of a deflate stream that decompress to nothing, and end at the end of a byte (RFC 1951, 3.2.4
// and 3.2.6). Holes (filler in place of erased Web objects) consist of them.
const (
	emptyStored = "\x00" + syncFlush     // 5 bytes: an empty stored block
	emptyFixed  = "\x02\x00" + syncFlush // 6 bytes: an empty block with fixed Huffman codes, then an empty stored block
)

// appendHole appends to b a hole of n bytes: filler in place of erased Web objects. The hole
// consists of n mod 5 blocks emptyFixed (6 bytes each), and then of as many blocks emptyStored (5
// bytes each) as fit. Every n from 20 can be filled in this way.
func appendHole(b []byte, n int64) ([]byte, error) {
	fixed := n % int64(len(emptyStored))
	left := n - fixed*int64(len(emptyFixed))
	if left < 0 {
		return nil, fmt.Errorf("no hole has %d bytes", n)
	}
	b = append(b, bytes.Repeat([]byte(emptyFixed), int(fixed))...)
	return append(b, bytes.Repeat([]byte(emptyStored), int(left)/len(emptyStored))...), nil
}

// isHole reports whether b is a hole exactly as appendHole writes it: filler in place of erased Web
// objects. It is also true if b is empty.
func isHole(b []byte) bool {
	found := true
	for n := len(b) % len(emptyStored); n > 0 && found; n-- {
		b, found = bytes.CutPrefix(b, []byte(emptyFixed))
	}
	for found && len(b) > 0 {
		b, found = bytes.CutPrefix(b, []byte(emptyStored))
	}
	return found
}
