package webobject

import (
	"bytes"
	"fmt"
)

// Verify reads a whole storage package: the zip down to every byte of its
// headers, CRCs, the description and the map against the Web objects, and
// those against their hashes.
func Verify(spf []byte) error {
	r, err := Open(spf)
	if err != nil {
		return err
	}
	for _, err := range r.Objects() {
		if err != nil {
			return err
		}
	}
	rest := &expected{rest: spf}
	if err := writeZip(rest, r.Created, r.members); err != nil {
		return fmt.Errorf("cannot verify package: %w", err)
	}
	if len(rest.rest) > 0 {
		return fmt.Errorf("cannot verify package: %d bytes too many at byte %d", len(rest.rest), rest.offset)
	}
	return nil
}

// expected is a writer that accepts only the bytes that it holds.
type expected struct {
	rest   []byte
	offset int64
}

func (e *expected) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(e.rest, p) {
		same := 0
		for same < min(len(p), len(e.rest)) && p[same] == e.rest[same] {
			same++
		}
		return same, fmt.Errorf("the zip's headers contradict each other at byte %d", e.offset+int64(same))
	}
	e.rest = e.rest[len(p):]
	e.offset += int64(len(p))
	return len(p), nil
}
