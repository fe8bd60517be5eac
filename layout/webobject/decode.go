package webobject

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// decode decodes the Web object, of any version, at the beginning of b, and returns its
// size in bytes, n. The object's Data and Conversion share memory with b. Errors name the
// offset in b. decode does not compare Data with Hash.
func decode(b []byte) (o Object, n int, err error) {
	c := cursor{b: b}
	if magic := c.take(len(objectMagic), "magic"); c.err == nil && string(magic) != objectMagic {
		return Object{}, 0, fmt.Errorf("web object: it begins with %q, want %q", magic, objectMagic)
	}
	version := c.byte("version")
	if c.err == nil && (version < version1 || version > version4) {
		return Object{}, 0, fmt.Errorf("web object: version %d at byte 5, want 1 to 4", version)
	}
	mimeSize := int(c.uint16("MIME size"))
	urlSize := int(c.uint16("URL size"))
	dataSize := int64(c.uint32("data size"))
	o.Cost = time.Duration(c.uint32("download cost")) * time.Millisecond
	o.Downloaded = c.time("download time")
	o.Expires = c.time("expiry")
	o.MIME = string(c.take(mimeSize, "MIME type"))
	o.URL = string(c.take(urlSize, "URL"))
	if c.err == nil {
		c.err = checkURL(o.URL)
	}
	var behind conversionCheck
	if version > version1 {
		behind = c.added(&o, version)
	}
	if c.err == nil && dataSize > int64(len(b)-c.pos) {
		c.fail("data", dataSize)
	}
	o.Data = c.take(int(dataSize), "data")
	if o.Conversion != nil {
		o.Conversion.HTML = c.checked(behind)
	}
	if c.err != nil {
		return Object{}, 0, c.err
	}
	return o, c.pos, nil
}

// decodeWhole decodes b, and compares the data of the Web object with its hash. It fails if b is
// not exactly one Web object.
func decodeWhole(b []byte) (Object, error) {
	o, n, err := decode(b)
	if err == nil && n != len(b) {
		err = fmt.Errorf("web object: it ends at byte %d of %d", n, len(b))
	}
	if err == nil {
		err = o.checkHash()
	}
	return o, err
}

// cursor reads fields from b, one after another. After the first error, which is in
// err, it returns zeros.
type cursor struct {
	b   []byte
	pos int
	err error
}

// take returns the next n bytes. The argument what names the field in errors.
func (c *cursor) take(n int, what string) []byte {
	if c.err != nil {
		return nil
	}
	if n > len(c.b)-c.pos {
		c.fail(what, int64(n))
		return nil
	}
	c.pos += n
	return c.b[c.pos-n : c.pos : c.pos]
}

func (c *cursor) fail(what string, size int64) {
	c.err = fmt.Errorf("web object: %s of %d bytes at byte %d reaches over the end at byte %d", what, size, c.pos, len(c.b))
}

func (c *cursor) byte(what string) byte {
	if b := c.take(1, what); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint16(what string) uint16 {
	if b := c.take(2, what); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) uint32(what string) uint32 {
	if b := c.take(4, what); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) time(what string) time.Time {
	if b := c.take(8, what); b != nil {
		return readTime(b)
	}
	return time.Time{}
}

func (c *cursor) uvarint(what string) uint64 {
	if c.err != nil {
		return 0
	}
	v, n := binary.Uvarint(c.b[c.pos:])
	if n <= 0 {
		c.err = fmt.Errorf("web object: %s at byte %d is no number", what, c.pos)
		return 0
	}
	c.pos += n
	return v
}

// count reads the length of a list or string. Errors call this list or string by the name in the
// argument. A length greater than the number of bytes left is an error, since each element takes
// at least one byte.
func (c *cursor) count(what string) int {
	v := c.uvarint(what)
	if c.err == nil && v > uint64(len(c.b)-c.pos) {
		c.err = fmt.Errorf("web object: %s: %d at byte %d reaches over the end at byte %d", what, v, c.pos, len(c.b))
	}
	if c.err != nil {
		return 0
	}
	return int(v)
}

func (c *cursor) string(what string) string { return string(c.take(c.count(what), what)) }

func (c *cursor) strings(what string) []string {
	var list []string
	for n := c.count(what); n > 0 && c.err == nil; n-- {
		list = append(list, c.string(what))
	}
	return list
}

// conversionCheck holds two fields of a Web object that has a Conversion: the size of the
// Conversion's HTML in bytes, and its CRC-32. Both are stored before the HTML, so that a reader can
// check it. Objects have these fields since version 4 of the format.
type conversionCheck struct {
	size uint64
	crc  uint32
}

// checked reads and returns the HTML of a Conversion. It fails if the HTML does not have the size
// and the CRC-32 in the parameter want.
func (c *cursor) checked(want conversionCheck) []byte {
	if c.err == nil && want.size > uint64(len(c.b)-c.pos) {
		c.fail("conversion", int64(want.size))
	}
	html := c.take(int(want.size), "conversion")
	if got := crc32.ChecksumIEEE(html); c.err == nil && got != want.crc {
		c.err = fmt.Errorf("web object: CRC-32 of its conversion of %d bytes is %08x, want %08x", want.size, got, want.crc)
	}
	return html
}

// added reads into o the fields that versions 2 to 4 of the format add to those of version 1. In
// versions 3 and 4 the last of them is a CRC-32. Any bytes after it may be fields of a newer
// program; added skips them. The result has the size and the CRC-32 of the Conversion's HTML, which
// comes later in the object, after the data. It is zero if there is no Conversion.
func (c *cursor) added(o *Object, version byte) (behind conversionCheck) {
	size := int(c.uint16("size of the added fields"))
	start := c.pos
	block := c.take(size, "added fields")
	in := cursor{b: c.b[:start+len(block)], pos: start, err: c.err}
	o.Status = in.uint16("status")
	copy(o.Hash[:], in.take(len(o.Hash), "hash"))
	o.Version = layout.Version{Epoch: in.uvarint("epoch"), Token: in.uvarint("token")}
	if address := in.take(in.count("address"), "address"); in.err == nil {
		if err := o.Address.UnmarshalBinary(address); err != nil {
			in.err = fmt.Errorf("web object: address at byte %d: %w", in.pos-len(address), err)
		}
	}
	o.Collections = in.strings("collection")
	o.Redirects = in.strings("redirect")
	for n := in.count("header"); n > 0 && in.err == nil; n-- {
		o.Header = append(o.Header, Field{Name: in.string("header name"), Value: in.string("header value")})
	}
	if version == version4 {
		o.Conversion = &Conversion{Reader: in.uvarint("reader"), Omitted: in.strings("omitted part")}
		behind = conversionCheck{in.uvarint("size of the conversion"), in.uint32("CRC-32 of the conversion")}
		if in.err == nil && behind.size > MaxConversion {
			in.err = fmt.Errorf("web object: conversion has %d bytes, at most %d are read", behind.size, MaxConversion)
		}
	}
	if version == version2 && in.err == nil && in.pos < len(in.b) {
		in.err = fmt.Errorf("web object: the added fields end at byte %d of %d", in.pos, len(in.b))
	}
	if version >= version3 {
		in.checkHead()
	}
	c.err = in.err
	return behind
}

// checkHead reads the next field, a CRC-32, and fails if it is not the CRC-32 of all bytes
// before it.
func (c *cursor) checkHead() {
	got := crc32.ChecksumIEEE(c.b[:c.pos])
	if want := c.uint32("CRC-32"); c.err == nil && got != want {
		c.err = fmt.Errorf("web object: CRC-32 of its first %d bytes is %08x, want %08x", c.pos-crc32.Size, got, want)
	}
}

func readTime(b []byte) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(b))).UTC()
}
