package frontier

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/run"
)

// Lengths, in bytes, of the states of URLs as Redis holds them (see doc.go).
const (
	pendingBytes = 7                        // bytes of the state of a URL that waits or is parked
	leasedBytes  = pendingBytes + textBytes // bytes of the state of a URL that is leased
	finalBytes   = 1 + versionBytes + 4     // bytes of a final state without its marks (hashes of tallies, see doc.go)
)

// Lengths, in bytes, of the version of a batch.
const (
	textBytes    = 21 // as text (layout.Version.String)
	versionBytes = 9  // as encodeVersion returns it
)

// encodeVersion returns a version in 9 bytes, which sort as versions do: the epoch in 4 bytes, and the
// token in 5. Versions as text sort right up to the epoch 10⁸ and the token 10¹², which need no more. Of a
// higher number, which only damaged data can have, it encodes the highest that fits.
func encodeVersion(v layout.Version) string {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 12), uint32(min(v.Epoch, math.MaxUint32)))
	b = binary.BigEndian.AppendUint64(b, min(v.Token, 1<<40-1))
	return string(append(b[:4], b[7:]...))
}

// decodeVersion returns the version that encodeVersion has encoded, from the first 9 bytes of a text. It ignores the rest.
func decodeVersion(s string) layout.Version {
	b := []byte("\x00\x00\x00\x00" + s[:4] + "\x00\x00\x00" + s[4:versionBytes])
	return layout.Version{Epoch: binary.BigEndian.Uint64(b), Token: binary.BigEndian.Uint64(b[8:])}
}

// finalState encodes a final state of a URL, as doc.go draws it: the letter of the state, the version of the
// batch with the outcome, and the hash of the URL's site. For a stored page, it appends a mark for each tally
// (count of stored URLs) that includes the URL. The result is false if the state is not final: it is
// none of Stored, Unchanged, Skipped and Failed.
func finalState(s book.State, v layout.Version, site uint32, tallies []string) (string, bool) {
	letter := s
	switch s {
	case book.Stored, book.Skipped, book.Failed:
	case book.Unchanged:
		letter = book.Stored
	default:
		return "", false
	}
	value := string(binary.BigEndian.AppendUint32(append([]byte{byte(letter)}, encodeVersion(v)...), site))
	if letter == book.Stored {
		for _, name := range tallies {
			value += mark(name)
		}
	}
	return value, true
}

// finishedURL returns the name in runs of a URL by its identity and its state in Redis; false if the URL is not
// finished.
func finishedURL(id layout.Identity, state string) (run.URL, bool) {
	if len(state) < finalBytes || len(state) > run.MaxState || len(state)%8 != finalBytes%8 || !strings.ContainsRune("skf", rune(state[0])) {
		return run.URL{}, false
	}
	return run.URL{Site: binary.BigEndian.Uint32([]byte(state[finalBytes-4:])), ID: id}, true
}

// idBytes and headerOfSection are the lengths, in bytes, of an identity, and of the header of a section
// in a bucket of known URLs (see doc.go).
const (
	idBytes         = len(layout.Identity{})
	headerOfSection = 4
)

// statesIn returns the states of all URLs in a bucket of known URLs. It returns false if the bucket is damaged.
func statesIn(bucket string) (map[layout.Identity]string, bool) {
	states := make(map[layout.Identity]string)
	for bucket != "" {
		header, rest, ok := cut(bucket, headerOfSection)
		if !ok {
			return nil, false
		}
		size := idBytes + int(binary.BigEndian.Uint16([]byte(header)))
		var records string
		records, bucket, ok = cut(rest, size*int(binary.BigEndian.Uint16([]byte(header[2:]))))
		if !ok || size == idBytes {
			return nil, false
		}
		for ; records != ""; records = records[size:] {
			states[layout.Identity([]byte(records[:idBytes]))] = records[idBytes:size]
		}
	}
	return states, true
}
