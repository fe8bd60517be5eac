package webobject

import (
	"fmt"
	"hash/crc32"
)

// checksum is the CRC-32 of a .webop, as far as it can be told.
type checksum struct {
	crc     uint32
	unknown bool // a page could not be read
}

func newChecksum() checksum { return checksum{crc: crc32.ChecksumIEEE([]byte(webopMagic))} }

// add adds the next Web object, unless it could not be read.
func (c *checksum) add(raw []byte, err error) {
	c.crc = crc32.Update(c.crc, crc32.IEEETable, raw)
	c.unknown = c.unknown || err != nil
}

func (c *checksum) check(webop member) error {
	if !c.unknown && c.crc != webop.crc {
		return fmt.Errorf("%s: CRC-32 is %08x, want %08x", webopName, c.crc, webop.crc)
	}
	return nil
}
