package mcp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

// cursor is the place at which the next answer continues the one before. Clients see it as a text: the
// base64url encoding of
//
//	of     8 bytes: beginning of the SHA-256 of what is read, such as the arguments of a search
//	       or the Markdown of a page
//	from   varint: number of results, or of bytes of Markdown, before the place
//	to     varint: offset in the Markdown at which the reading ends; 0 if results are listed
//
// So the server stores nothing between two requests. By the field of, it notices a cursor of another search
// or page, and that a page has changed.
type cursor struct {
	of       [8]byte
	from, to uint64
}

// digestOf returns the value of the field cursor.of for a text that is read.
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
