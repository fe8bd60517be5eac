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

// Document is a page: what the index knows of it, and what search results show.
type Document struct {
	ID      layout.Identity // hash of the URL, which identifies the document
	Version layout.Version

	URL      string
	Site     string
	Title    string
	Headings []string
	Body     string // text of the page, without markup
	Lang     string
	// LangSource says how Lang is known: "declared" by the page; "guessed" from the text; "overruled"
	// if the text disproves the declared language; "" if Lang is not known.
	LangSource  string
	MIME        string
	Collections []string // names of the collections (crawls) to which the page belongs, sorted, each once
	Fetched     time.Time
	Images      []Image
	Date        time.Time // the page's own date, in days; the zero time if it is not known
	Sections    []Section // sections of Body, in its order; both their headings and their starts ascend
	Entries     []Entry   // entries of lists of terms in Body, in its order

	// Name is the title without the name of the site, such as VACUUM for "PostgreSQL: VACUUM". It and
	// the headings are suggested to people while they type; "" if nothing of the document shall be.
	// Like the fields at the end, it is not among what Segment.Stored returns.
	Name string
	// Suggested has further texts that are offered as suggestions, in the same way as headings, but whether or not
	// there is a Name. In a segment of anchors, they are texts of links to the page. Like Name, they are not
	// stored with the document, so Segment.Stored does not return them.
	Suggested []string

	// Package is the key of the package that holds the stored page: an object with many pages.
	// Offset and Length are the range of the compressed page in the package, in bytes.
	Package        string
	Offset, Length int64

	// The fields below, and LangSource, are stored in columns only: documents that Segment.Stored
	// returns lack them.

	// Translation is a hash that pages in different languages share if they are translations of each
	// other; 0 if it is not known.
	Translation uint64
	// fingerprints of title and text
	TitleHash, TextHash, Simhash uint64
	Sketch                       [16]uint16
}

// Token is a term at a position of a field of a document. Builder.Add uses the strings of
// a token only until it receives the next token; then the caller may reuse their memory.
type Token struct {
	Field int
	Term  string // the term that queries search for, at most MaxTerm bytes
	// the word as it is written on the page, by which searches for prefixes (fox*) and for similar
	// words (foks~) find the term; "" if they shall not find it
	Word     string
	Position uint32 // position in the field, from 0; not below the position of the previous token of the field
	Hits     postings.Hits

	// TermNumber and WordNumber are optional numbers of the strings Term and Word, by which the
	// Builder finds them faster than in a map. The caller chooses the numbers, from 1; 0 means no
	// number. Terms and words share the numbers: a string must have the same number in all tokens,
	// be it a Term or a Word, or no number in any. Different strings must have different numbers.
	// The Builder's memory grows with the highest number.
	TermNumber, WordNumber uint32
}

// Caps on the content of a segment.
const (
	MaxTerm      = 255      // greatest size of a term or word, in bytes
	MaxRecord    = 32 << 20 // greatest size of a stored document before compression, in bytes
	MaxDocuments = 1 << 23  // greatest number of documents in a segment
	MaxBytes     = 4 << 30  // greatest size of a segment, in bytes: object stores take at most 5 GB by one request
)

// The flags at the beginning of a record (see appendRecord).
const (
	ownID     = 1 << iota // the identity is stored in the record, because it is not IdentityOf(URL)
	hasImages             // the document has images, stored at the end of the record
)

// appendRecord appends a document without its body, its fingerprints, and what is in its supplement (see
// appendSupplement):
//
//	flags          bit 0: the identity follows, 16 bytes, because it is not
//	               IdentityOf(URL); bit 1: images follow at the end
//	epoch, token   varints
//	fetched        milliseconds since 1970, varint (zigzag)
//	offset, length varints
//	URL, site, title, language, media type, package: strings
//	headings, collections: number, strings
//	images         number; each: four strings: URL, alternative text, caption, words around it
//
// A string is its size as a varint and its bytes.
func appendRecord(b []byte, d *Document) []byte {
	flags := byte(0)
	if len(d.Images) > 0 {
		flags |= hasImages
	}
	if layout.IdentityOf(d.URL) == d.ID {
		b = append(b, flags)
	} else {
		b = append(append(b, flags|ownID), d.ID[:]...)
	}
	b = binary.AppendUvarint(b, d.Version.Epoch)
	b = binary.AppendUvarint(b, d.Version.Token)
	b = binary.AppendVarint(b, d.Fetched.UnixMilli())
	b = binary.AppendUvarint(b, uint64(d.Offset))
	b = binary.AppendUvarint(b, uint64(d.Length))
	for _, s := range [...]string{d.URL, d.Site, d.Title, d.Lang, d.MIME, d.Package} {
		b = appendText(b, s)
	}
	b = appendTexts(appendTexts(b, d.Headings), d.Collections)
	if len(d.Images) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(d.Images)))
	for i := range d.Images {
		for _, s := range d.Images[i].texts() {
			b = appendText(b, *s)
		}
	}
	return b
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
	flags := p.number(ownID | hasImages)
	if flags&ownID != 0 {
		copy(d.ID[:], p.take(len(d.ID)))
	}
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
	if flags&hasImages != 0 {
		d.Images = p.images()
	}
	if p.failed || p.left() > 0 {
		return Document{}, damaged("record does not hold what it tells of")
	}
	if flags&ownID == 0 {
		d.ID = layout.IdentityOf(d.URL)
	}
	return d, nil
}

// texts reads a list of strings: their number, then each string.
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

// texts returns pointers to the strings of an image, in the order in which they are stored.
func (i *Image) texts() [4]*string { return [4]*string{&i.URL, &i.Alt, &i.Caption, &i.Around} }

// images reads a list of images: their number, then the texts of each image.
func (p *parser) images() []Image {
	images := make([]Image, p.count(len(new(Image).texts())))
	for i := range images {
		for _, s := range images[i].texts() {
			*s = p.text()
		}
	}
	return images
}
