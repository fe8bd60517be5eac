package book

import (
	"encoding/binary"
	"slices"
)

// Distinct returns another copy of a book that Encode or Merge returned. It
// says the same, and every number makes bytes of their own, so that it can be
// stored under a content hash that was never used. Copy 0 is the book itself.
func Distinct(content []byte, number uint32) []byte {
	d, err := parseDirectory(content)
	if err != nil {
		panic(err) // content is no book
	}
	d.copy = number
	end := len(content) - footerSize
	start := end - int(binary.BigEndian.Uint32(content[end:]))
	return d.appendTo(slices.Clone(content[:start]))
}
