package webobject

import (
	"bytes"
	"fmt"
)

// Two deflate blocks that hold nothing and end on a byte (RFC 1951, 3.2.4 and
// 3.2.6).
const (
	emptyStored = "\x00" + syncFlush     // a stored block
	emptyFixed  = "\x02\x00" + syncFlush // a block of fixed codes, and a stored one
)

// appendHole appends the hole of n bytes: as many stored blocks as fit, before
// them as many others as make up the rest. There is one for every n from 20.
func appendHole(b []byte, n int64) ([]byte, error) {
	fixed := n % int64(len(emptyStored))
	left := n - fixed*int64(len(emptyFixed))
	if left < 0 {
		return nil, fmt.Errorf("no hole has %d bytes", n)
	}
	b = append(b, bytes.Repeat([]byte(emptyFixed), int(fixed))...)
	return append(b, bytes.Repeat([]byte(emptyStored), int(left)/len(emptyStored))...), nil
}

// isHole reports whether b is what appendHole appends.
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
