package frontier

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

const (
	lookBytes    = 18 // of a look in an element, before its validators
	maxValidator = 1<<8 - 1
)

// appendLook appends a look as doc.go draws it; whether the page was missing is
// among the element's flags.
func appendLook(b []byte, l batch.Look) ([]byte, error) {
	if len(l.ETag) > maxValidator || len(l.Modified) > maxValidator {
		return nil, fmt.Errorf("ETag has %d bytes and Last-Modified %d, want at most %d each", len(l.ETag), len(l.Modified), maxValidator)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(l.Time.UnixMilli()))
	b = binary.BigEndian.AppendUint64(b, l.Digest)
	b = append(b, byte(len(l.ETag)), byte(len(l.Modified)))
	return append(append(b, l.ETag...), l.Modified...), nil
}

// parseLook reads what appendLook appends, and returns what comes after it.
func parseLook(s string, missing bool) (look *batch.Look, rest string, ok bool) {
	header, rest, ok := cut(s, lookBytes)
	if !ok {
		return nil, "", false
	}
	number := func(at int) uint64 { return binary.BigEndian.Uint64([]byte(header[at : at+8])) }
	look = &batch.Look{Time: time.UnixMilli(int64(number(0))).UTC(), Digest: number(8), Missing: missing}
	if look.ETag, rest, ok = cut(rest, int(header[16])); ok {
		look.Modified, rest, ok = cut(rest, int(header[17]))
	}
	return look, rest, ok
}
