package segment

import (
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// The fields of a document that are searched, in the order of their numbers.
const (
	Title = iota
	Headings
	Address
	Body
)

// Document is a page as it is indexed and as it is found again.
type Document struct {
	ID      layout.Identity // of URL
	Version layout.Version

	URL         string
	Site        string
	Title       string
	Headings    []string
	Body        string // text, without markup
	Lang        string
	MIME        string
	Collections []string // sorted, each once
	Fetched     time.Time

	// Place of the stored page: key of its package, and offset and length in it.
	Package        string
	Offset, Length int64

	// Fingerprints of title and text. They are kept in columns alone:
	// documents that are read back have none.
	TitleHash, TextHash, Simhash uint64
	Sketch                       [16]uint16
}

// Token is a term at a position of a field. Its strings are not kept: they
// need not outlive the call that hands them over.
type Token struct {
	Field    int
	Term     string // as it is searched, at most MaxTerm bytes
	Word     string // as it is written, for spelling; "" if it is not counted
	Position uint32 // in the field, never below that of the token before
	Hits     postings.Hits
}

// Caps of what a segment takes.
const (
	MaxTerm      = 255      // bytes of a term or word
	MaxRecord    = 32 << 20 // bytes of a document as it is stored, before compression
	MaxDocuments = 1 << 23  // in a segment
)
