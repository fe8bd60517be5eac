package frontier

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

const (
	// lookBytes is the length, in bytes, of the first part of an encoded batch.Look (see doc.go). Texts
	// of various lengths follow this part.
	lookBytes      = 27
	maxValidator   = 1<<8 - 1 // maximum length of ETag and of Last-Modified, in bytes
	maxCollections = 1<<8 - 1 // maximum number of collections in a look
)

// appendLook encodes a batch.Look as doc.go draws it, and appends it to b. It leaves out the field
// Missing, which is a flag of the element.
func appendLook(b []byte, l batch.Look) ([]byte, error) {
	if len(l.ETag) > maxValidator || len(l.Modified) > maxValidator {
		return nil, fmt.Errorf("ETag has %d bytes and Last-Modified %d, want at most %d each", len(l.ETag), len(l.Modified), maxValidator)
	}
	tooLong := func(name string) bool { return len(name) > maxCollection }
	if len(l.Collections) > maxCollections || slices.ContainsFunc(l.Collections, tooLong) {
		return nil, fmt.Errorf("collections %q, want at most %d of %d bytes each", l.Collections, maxCollections, maxCollection)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(l.Time.UnixMilli()))
	b = binary.BigEndian.AppendUint64(b, l.Digest)
	b = binary.BigEndian.AppendUint64(b, l.Body)
	b = append(b, byte(len(l.ETag)), byte(len(l.Modified)), byte(len(l.Collections)))
	b = append(append(b, l.ETag...), l.Modified...)
	for _, name := range l.Collections {
		b = append(append(b, byte(len(name))), name...)
	}
	return b, nil
}

// parseLook decodes the batch.Look at the start of s, which appendLook has encoded, and returns the
// rest of s. The parameter missing becomes look.Missing. ok is false if s is too short.
func parseLook(s string, missing bool) (look *batch.Look, rest string, ok bool) {
	header, rest, ok := cut(s, lookBytes)
	if !ok {
		return nil, "", false
	}
	number := func(at int) uint64 { return binary.BigEndian.Uint64([]byte(header[at : at+8])) }
	look = &batch.Look{Time: time.UnixMilli(int64(number(0))).UTC(), Digest: number(8), Body: number(16), Missing: missing}
	if look.ETag, rest, ok = cut(rest, int(header[24])); ok {
		look.Modified, rest, ok = cut(rest, int(header[25]))
	}
	for n := header[26]; n > 0 && ok; n-- {
		var size, name string
		if size, rest, ok = cut(rest, 1); ok {
			name, rest, ok = cut(rest, int(size[0]))
			look.Collections = append(look.Collections, name)
		}
	}
	return look, rest, ok
}
