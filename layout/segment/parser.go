package segment

import (
	"encoding/binary"
)

// parser reads bytes that may be damaged. At the first damage it sets the field
// failed; from then on all reads return zero values.
type parser struct {
	data   []byte
	at     int // next byte to be read, as an index in data
	failed bool
}

// fail records that the data is damaged, and skips the rest of it.
func (p *parser) fail() { p.at, p.failed = len(p.data), true }

// left returns the number of bytes that are not yet read.
func (p *parser) left() int { return len(p.data) - p.at }

// number reads a varint. It fails if the value is above a limit (the parameter most).
func (p *parser) number(most uint64) uint64 {
	if p.at < len(p.data) && p.data[p.at] < 1<<7 && uint64(p.data[p.at]) <= most { // a number of one byte, as most are
		p.at++
		return uint64(p.data[p.at-1])
	}
	n, width := binary.Uvarint(p.data[p.at:])
	if width <= 0 || n > most {
		p.fail()
		return 0
	}
	p.at += width
	return n
}

func (p *parser) byte() byte {
	if p.left() == 0 {
		p.fail()
		return 0
	}
	p.at++
	return p.data[p.at-1]
}

// count reads the number of the elements that follow, each of at least size bytes. It
// fails if the data left is too short for so many elements.
func (p *parser) count(size int) int {
	return int(p.number(uint64(p.left() / size)))
}

// take reads n bytes. The result shares memory with the data.
func (p *parser) take(n int) []byte {
	if n < 0 || n > p.left() {
		p.fail()
		return nil
	}
	p.at += n
	return p.data[p.at-n : p.at : p.at]
}

// text reads a string: its size, then its bytes.
func (p *parser) text() string { return string(p.take(p.count(1))) }

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// half is the greatest number in half a byte. A front-coded string leaves out the bytes that it
// shares with the string before it. It is written as
//
//	one byte   high four bits: number of shared bytes, or 15 if there are more than 14;
//	           low four bits: number of other bytes, or 15 if there are more than 14
//	varints    for each of these two numbers that is more than 14: the number less 15
//	bytes      the other bytes
const half = 15

// appendFront appends the string s front-coded (see half); last is the string before it.
func appendFront[S string | []byte](dst []byte, last, s S) []byte {
	shared := sharedPrefix(last, s)
	rest := len(s) - shared
	dst = append(dst, byte(min(shared, half)<<4|min(rest, half)))
	if shared >= half {
		dst = binary.AppendUvarint(dst, uint64(shared-half))
	}
	if rest >= half {
		dst = binary.AppendUvarint(dst, uint64(rest-half))
	}
	return append(dst, s[shared:]...)
}

// front reads a front-coded string; last is the string before it, whose memory is
// reused.
func (p *parser) front(last []byte) []byte {
	shared, rest := p.frontSizes(len(last))
	return append(last[:shared], p.take(rest)...)
}

// frontSizes reads the beginning of a front-coded string: how many bytes it shares with the string before it, whose
// size is the parameter, and how many other bytes follow.
func (p *parser) frontSizes(last int) (shared, rest int) {
	halves := p.byte()
	shared, rest = int(halves>>4), int(halves&half)
	if shared == half {
		shared += int(p.number(MaxTerm))
	}
	if rest == half {
		rest += int(p.number(MaxTerm))
	}
	if shared > last || shared+rest > MaxTerm {
		p.fail()
		return 0, 0
	}
	return shared, rest
}

// sharedPrefix returns the number of equal bytes at the start of a and b.
func sharedPrefix[S string | []byte](a, b S) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// separatorOf returns a short string s with a <= s < b. If a is the last term of a block and b
// the first of the next, s separates the blocks (see termIndex).
func separatorOf(a, b []byte) []byte {
	n := sharedPrefix(a, b) + 1
	if n < len(b) {
		// b[:n] is above a and, as b goes on, below b.
		return b[:n]
	}
	return a
}
