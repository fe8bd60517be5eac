package segment

import (
	"encoding/binary"
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

// Document is a page as it is indexed and as results return it.
type Document struct {
	ID      layout.Identity // identity of the URL
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

	// The stored page: the key of its package, and the range of the compressed page in it.
	Package        string
	Offset, Length int64

	// Fingerprints of title and text. They are stored in columns only, so that
	// Segment.Stored returns documents without them.
	TitleHash, TextHash, Simhash uint64
	Sketch                       [16]uint16
}

// Token is a term at a position of a field. Its strings need to be valid only until the
// next token.
type Token struct {
	Field    int
	Term     string // as it is searched, at most MaxTerm bytes
	Word     string // as it is written on the page, for spelling; "" if it is not counted
	Position uint32 // in the field, never below that of the token before
	Hits     postings.Hits

	// Numbers of the strings Term and Word, from 1. A caller gives every string another
	// number, or always 0, which means none. They let a Builder count without maps. It
	// takes memory for the highest number.
	TermNumber, WordNumber uint32
}

// Caps on the content of a segment.
const (
	MaxTerm      = 255      // bytes of a term or word
	MaxRecord    = 32 << 20 // bytes of a document as it is stored, before compression
	MaxDocuments = 1 << 23  // documents of a segment
)

// ownID is the flag of a record that contains the identity, because it is not the
// identity of the URL.
const ownID = 1

// appendRecord appends a document without its body and fingerprints:
//
//	flags          bit 0: an identity of its own follows, 16 bytes
//	epoch, token   varints
//	fetched        milliseconds since 1970, varint (zigzag)
//	offset, length varints
//	URL, site, title, language, media type, package: strings
//	headings, collections: number, strings
//
// A string is its size as a varint and its bytes.
func appendRecord(b []byte, d *Document) []byte {
	if layout.IdentityOf(d.URL) == d.ID {
		b = append(b, 0)
	} else {
		b = append(append(b, ownID), d.ID[:]...)
	}
	b = binary.AppendUvarint(b, d.Version.Epoch)
	b = binary.AppendUvarint(b, d.Version.Token)
	b = binary.AppendVarint(b, d.Fetched.UnixMilli())
	b = binary.AppendUvarint(b, uint64(d.Offset))
	b = binary.AppendUvarint(b, uint64(d.Length))
	for _, s := range [...]string{d.URL, d.Site, d.Title, d.Lang, d.MIME, d.Package} {
		b = appendText(b, s)
	}
	return appendTexts(appendTexts(b, d.Headings), d.Collections)
}

func appendTexts(b []byte, texts []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(texts)))
	for _, s := range texts {
		b = appendText(b, s)
	}
	return b
}

// parseRecord decodes a document that appendRecord encoded.
func parseRecord(record []byte) (Document, error) {
	p := parser{data: record}
	var d Document
	flags := p.number(ownID)
	copy(d.ID[:], p.take(int(flags)*len(d.ID)))
	d.Version.Epoch = p.number(1<<64 - 1)
	d.Version.Token = p.number(1<<64 - 1)
	zigzag := p.number(1<<64 - 1)
	d.Fetched = time.UnixMilli(int64(zigzag>>1) ^ -int64(zigzag&1)).UTC()
	d.Offset = int64(p.number(1<<63 - 1))
	d.Length = int64(p.number(1<<63 - 1))
	for _, s := range [...]*string{&d.URL, &d.Site, &d.Title, &d.Lang, &d.MIME, &d.Package} {
		*s = p.text()
	}
	d.Headings = p.texts()
	d.Collections = p.texts()
	if p.failed || p.left() > 0 {
		return Document{}, damaged("record does not hold what it tells of")
	}
	if flags&ownID == 0 {
		d.ID = layout.IdentityOf(d.URL)
	}
	return d, nil
}

// texts reads a number and as many strings.
func (p *parser) texts() []string {
	n := p.count(1)
	if n == 0 {
		return nil
	}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = p.text()
	}
	return texts
}
