package segment

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Document is a page as it is indexed and as it is found again.
type Document struct {
	ID      layout.Identity // of URL
	Version layout.Version

	URL      string
	Site     string
	Title    string
	Headings []string
	Body     string // text, without markup
	Lang     string
	MIME     string
	Fetched  time.Time

	// Place of the stored page: key of its package, and offset and length in it.
	Package        string
	Offset, Length int64
}

// MaxRecord is how much a document may take, uncompressed, in bytes. Build
// refuses a longer one.
const MaxRecord = 32 << 20

// The fields of a document that are searched, in the order of a row's lengths.
const (
	title = iota
	headings
	address
	body
	fieldCount
)

var fieldNames = [fieldCount]string{"title", "headings", "address", "body"}

// eachText calls visit with the texts of the document and their fields.
func (d *Document) eachText(visit func(field int, text string)) {
	visit(title, d.Title)
	for _, heading := range d.Headings {
		visit(headings, heading)
	}
	visit(address, addressWords(d.URL))
	visit(body, d.Body)
}

// addressWords returns a URL without its scheme and its percent-encoding.
func addressWords(address string) string {
	if _, rest, found := strings.Cut(address, "://"); found {
		address = rest
	}
	if plain, err := url.PathUnescape(address); err == nil {
		return plain
	}
	return address
}

func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
}

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxRecord))
}

// appendRecord appends the compressed document to dst.
func appendRecord(dst []byte, encoder *zstd.Encoder, d Document) ([]byte, error) {
	text := d.Body
	d.Body = ""
	d.Fetched = d.Fetched.UTC()
	description, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("cannot describe document %s: %w", d.URL, err)
	}
	record := binary.AppendUvarint(nil, uint64(len(description)))
	record = append(append(record, description...), text...)
	if len(record) > MaxRecord {
		return nil, fmt.Errorf("cannot index %s: %d bytes, at most %d can be kept", d.URL, len(record), MaxRecord)
	}
	return encoder.EncodeAll(record, dst), nil
}

// decodeRecord reads what appendRecord wrote.
func decodeRecord(compressed []byte, decoder *zstd.Decoder) (Document, error) {
	record, err := decoder.DecodeAll(compressed, nil)
	if err != nil {
		return Document{}, fmt.Errorf("cannot decompress record: %w", err)
	}
	size, width := binary.Uvarint(record)
	if width <= 0 || size > uint64(len(record)-width) {
		return Document{}, fmt.Errorf("record of %d bytes: description does not fit", len(record))
	}
	description, text := record[width:width+int(size)], record[width+int(size):]
	var d Document
	if err := json.Unmarshal(description, &d); err != nil {
		return Document{}, fmt.Errorf("cannot read description: %w", err)
	}
	d.Body = string(text)
	return d, nil
}
