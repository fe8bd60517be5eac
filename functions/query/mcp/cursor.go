package mcp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// cursor is the place at which an answer goes on. Clients see it as a text, which is base64url of
//
//	of     8 bytes: beginning of the SHA-256 of what is read: the query, or the Markdown of the page
//	from   varint: number of results or bytes before the place
//	to     varint: place at which the reading ends; 0 for that of results
//
// So the server keeps nothing between two requests, and notices a cursor that belongs to something
// else, or to a page that has changed.
type cursor struct {
	of       [8]byte
	from, to uint64
}

// digestOf returns the field of for a text that is read.
func digestOf(text string) (of [8]byte) {
	sum := sha256.Sum256([]byte(text))
	copy(of[:], sum[:])
	return of
}

// String returns the cursor as clients see it.
func (c cursor) String() string {
	b := append([]byte(nil), c.of[:]...)
	b = binary.AppendUvarint(b, c.from)
	return base64.RawURLEncoding.EncodeToString(binary.AppendUvarint(b, c.to))
}

// errCursor is the error of a text that is no cursor.
var errCursor = request.Wrong("The cursor is malformed; copy it whole from the answer before, or leave it out to begin.")

// parseCursor reads the text of a cursor. It accepts only texts that String returns.
func parseCursor(text string) (c cursor, err error) {
	const most = 64 // longer than any cursor
	if len(text) > most {
		return cursor{}, errCursor
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < len(c.of) {
		return cursor{}, errCursor
	}
	rest := b[copy(c.of[:], b):]
	for _, to := range []*uint64{&c.from, &c.to} {
		n := 0
		if *to, n = binary.Uvarint(rest); n <= 0 {
			return cursor{}, errCursor
		}
		rest = rest[n:]
	}
	if c.String() != text {
		return cursor{}, errCursor
	}
	return c, nil
}
