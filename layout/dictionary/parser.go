package dictionary

import (
	"bytes"
	"encoding/binary"
)

// parser reads bytes that may be damaged. At the first damage it sets the field failed; from then
// on all reads return zero values.
type parser struct {
	data   []byte
	at     int // next byte to be read, as an index in data
	failed bool
}

// number reads a varint. It fails if the value is above a limit (the parameter most).
func (p *parser) number(most uint64) uint64 {
	if p.failed {
		return 0
	}
	n, width := binary.Uvarint(p.data[p.at:])
	if width <= 0 || n > most {
		p.failed = true
		return 0
	}
	p.at += width
	return n
}

// count reads the number of the elements that follow, each of at least one byte. It fails if the
// number is less than the parameter least or greater than the parameter most, or if fewer bytes
// than elements are left.
func (p *parser) count(least, most int) int {
	n := int(p.number(uint64(min(most, len(p.data)-p.at))))
	p.failed = p.failed || n < least
	return n
}

func (p *parser) byte() byte {
	if p.failed || p.at == len(p.data) {
		p.failed = true
		return 0
	}
	p.at++
	return p.data[p.at-1]
}

// text reads a string. The result shares memory with the data.
func (p *parser) text() []byte {
	n := p.count(0, maxString)
	if p.failed || n > len(p.data)-p.at {
		p.failed = true
		return nil
	}
	p.at += n
	return p.data[p.at-n : p.at]
}

// ascending reads a list of elements, and returns the offset of each element in the data. The
// parameter most is the greatest number of elements. Each element begins with a string, which
// ascending reads itself; the strings must be strictly ascending. To read the rest of each
// element, it calls the function rest.
func (p *parser) ascending(most int, rest func()) []uint32 {
	n := p.count(0, most)
	offsets := make([]uint32, 0, n)
	var last []byte
	for i := 0; i < n && !p.failed; i++ {
		offsets = append(offsets, uint32(p.at))
		term := p.text()
		p.failed = p.failed || i > 0 && bytes.Compare(last, term) >= 0
		last = term
		rest()
	}
	return offsets
}
