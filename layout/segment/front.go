package segment

import (
	"bytes"
	"encoding/binary"
)

// A front-coded string is told by the string before it: a byte of two halves,
// the number of bytes shared with it and the number of the rest; then, where a
// half is 15, what is above 15 as a varint; then the rest.
const half = 15

// appendFront appends s, which follows last.
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

// front reads a string into the memory of the one before.
func (p *parser) front(last []byte) []byte {
	halves := p.byte()
	shared, rest := int(halves>>4), int(halves&half)
	if shared == half {
		shared += int(p.number(MaxTerm))
	}
	if rest == half {
		rest += int(p.number(MaxTerm))
	}
	if shared > len(last) || shared+rest > MaxTerm {
		p.fail()
		return last[:0]
	}
	return append(last[:shared], p.take(rest)...)
}

func sharedPrefix[S string | []byte](a, b S) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// separator returns a short string that is not below a and below b, where a is
// below b.
func separator(a, b []byte) []byte {
	n := sharedPrefix(a, b) + 1
	if n < len(b) {
		// b[:n] is above a and, as b goes on, below b.
		return b[:n]
	}
	return a
}

// cursor walks through something that has ascending keys.
type cursor interface {
	next() (bool, error) // false behind the last
	key() []byte         // valid until the next
}

// eachKey calls visit for each key that any of the cursors has, in ascending
// order, with the cursors that have it, in their order.
func eachKey[C cursor](cursors []C, visit func(key []byte, having []C) error) error {
	type place struct {
		cursor C
		key    []byte
		moves  bool // its key is the lowest
	}
	live := make([]place, len(cursors)) // those that are not behind their last
	for i, c := range cursors {
		live[i] = place{cursor: c, moves: true}
	}
	having := make([]C, 0, len(cursors))
	for {
		kept := live[:0]
		for _, p := range live {
			if p.moves {
				ok, err := p.cursor.next()
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
				p.key = p.cursor.key()
			}
			kept = append(kept, p)
		}
		if live = kept; len(live) == 0 {
			return nil
		}
		lowest := live[0].key
		for _, p := range live[1:] {
			if bytes.Compare(p.key, lowest) < 0 {
				lowest = p.key
			}
		}
		having = having[:0]
		for i := range live {
			p := &live[i]
			if p.moves = bytes.Equal(p.key, lowest); p.moves {
				having = append(having, p.cursor)
			}
		}
		if err := visit(lowest, having); err != nil {
			return err
		}
	}
}
