package segment

import "encoding/binary"

// parser reads bytes that it does not trust. Behind the first damage everything
// reads as nothing, and failed tells.
type parser struct {
	data   []byte
	at     int // what is read next
	failed bool
}

// fail skips the rest.
func (p *parser) fail() { p.at, p.failed = len(p.data), true }

// left returns how many bytes are not read yet.
func (p *parser) left() int { return len(p.data) - p.at }

// number reads a varint that is at most most.
func (p *parser) number(most uint64) uint64 {
	n, width := binary.Uvarint(p.data[p.at:])
	if width <= 0 || n > most {
		p.fail()
		return 0
	}
	p.at += width
	return n
}

// byte reads a byte.
func (p *parser) byte() byte {
	if p.left() == 0 {
		p.fail()
		return 0
	}
	p.at++
	return p.data[p.at-1]
}

// count reads the number of things that take at least size bytes each.
func (p *parser) count(size int) int {
	return int(p.number(uint64(p.left() / size)))
}

// take reads n bytes; they are not copied.
func (p *parser) take(n int) []byte {
	if n < 0 || n > p.left() {
		p.fail()
		return nil
	}
	p.at += n
	return p.data[p.at-n : p.at : p.at]
}

// text reads a string that is led by its size.
func (p *parser) text() string { return string(p.take(p.count(1))) }

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}
