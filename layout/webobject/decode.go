package webobject

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Decode reads the Web object, of version 1 or 2, that b begins with, and
// returns how many bytes it has. The object's Data is a part of b. Errors name
// the offset in b. Decode does not compare Data with Hash.
func Decode(b []byte) (o Object, n int, err error) {
	c := cursor{b: b}
	if magic := c.take(len(objectMagic), "magic"); c.err == nil && string(magic) != objectMagic {
		return Object{}, 0, fmt.Errorf("web object: it begins with %q, want %q", magic, objectMagic)
	}
	version := c.byte("version")
	if c.err == nil && version != version1 && version != version2 {
		return Object{}, 0, fmt.Errorf("web object: version %d at byte 5, want 1 or 2", version)
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
	if version == version2 {
		c.added(&o)
	}
	if c.err == nil && dataSize > int64(len(b)-c.pos) {
		c.fail("data", dataSize)
	}
	o.Data = c.take(int(dataSize), "data")
	if c.err != nil {
		return Object{}, 0, c.err
	}
	return o, c.pos, nil
}

// decodeWhole reads the one Web object that b is.
func decodeWhole(b []byte) (Object, error) {
	o, n, err := Decode(b)
	if err == nil && n != len(b) {
		err = fmt.Errorf("web object: it ends at byte %d of %d", n, len(b))
	}
	return o, err
}

// cursor reads fields one after another. After its first error, which it
// keeps, it returns zeros.
type cursor struct {
	b   []byte
	pos int
	err error
}

// added reads what version 2 adds. Bytes behind the fields known here are
// those of a later program and are passed over.
func (c *cursor) added(o *Object) {
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
	c.err = in.err
}

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

func readTime(b []byte) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(b))).UTC()
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

// count reads the length of a list or string, of which every element takes a
// byte or more.
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
