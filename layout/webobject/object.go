package webobject

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout"
)

// MaxSize is the greatest size of a Web object in bytes, with its header. Decompression
// stops at this size with an error.
const MaxSize = 64 << 20

// Field is one field of a response header, such as "Content-Type: text/html".
type Field struct{ Name, Value string }

// ErrDamaged is wrapped by an error that is caused by the bytes of a package or of a compressed
// Web object, and not by the store.
var ErrDamaged = errors.New("stored bytes are damaged")

// Object is a Web object: one answer of a Web server, and how it was fetched. Version 1 of the
// format has the first six fields; versions 2 and 3 have all fields but Conversion; version 4 has
// all fields.
type Object struct {
	URL        string // address that gave the answer; UTF-8 without line breaks
	MIME       string
	Data       []byte
	Cost       time.Duration // time that the download took; stored in whole milliseconds
	Downloaded time.Time     // time of the download; stored in whole milliseconds
	Expires    time.Time     // when the page is expected to change; stored in whole milliseconds

	Status      uint16     // HTTP status of the answer
	Header      []Field    // response header, in the order of the response
	Redirects   []string   // URLs of the redirects that led to URL, the first requested one first
	Address     netip.Addr // IP address of the server
	Hash        [32]byte   // SHA-256 of Data; zero in version 1
	Collections []string
	Version     layout.Version // number of the batch that fetched the page

	Conversion *Conversion // Data as HTML; nil if Data was not converted
}

// Conversion is HTML that was made from an object's data in another format, such as PDF, and
// has the same content. The term is from WARC/1.1, 6.7.
type Conversion struct {
	HTML    []byte
	Omitted []string // parts of the content that are not in the HTML, such as "pages 501 to 950"
	Reader  uint64   // version of the program that made the conversion
}

// MaxConversion is the greatest size of the HTML of a Conversion in bytes.
const MaxConversion = 8 << 20

// checkHash returns an error if Hash is not the SHA-256 of Data. An object of version 1
// has no hash, and gives no error.
func (o Object) checkHash() error {
	if o.Hash != [32]byte{} && o.Hash != sha256.Sum256(o.Data) {
		return errors.New("web object: the data is not that of the hash")
	}
	return nil
}

const (
	objectMagic = "\xFFWEBO"
	version1    = 1 // only AppendVersion1 writes it; no storage package holds it
	version2    = 2 // version that is read, but not written any more
	version3    = 3
	version4    = 4
	fixedSize   = 34 // bytes of the fields before the MIME type
)

// tail returns the bytes after the data: the HTML of the conversion, if there is one.
func (o Object) tail() []byte {
	if o.Conversion == nil {
		return nil
	}
	return o.Conversion.HTML
}

// AppendVersion1 appends the object to dst in version 1, the format of the thesis. Fields that
// version 1 does not have are left out.
func (o Object) AppendVersion1(dst []byte) ([]byte, error) {
	b, err := o.appendFirst(dst, version1)
	if err == nil && len(b)-len(dst)+len(o.Data) > MaxSize {
		err = tooBig(len(b) - len(dst) + len(o.Data))
	}
	if err != nil {
		return nil, err
	}
	return append(b, o.Data...), nil
}

// appendHead appends to dst all bytes of the Web object that precede its data. The format is
// version 3, or version 4 if the object has a conversion.
func (o Object) appendHead(dst []byte) ([]byte, error) {
	if len(o.tail()) > MaxConversion {
		return nil, fmt.Errorf("web object: conversion has %d bytes, at most %d fit", len(o.tail()), MaxConversion)
	}
	version := byte(version3)
	if o.Conversion != nil {
		version = version4
	}
	b, err := o.appendFirst(dst, version)
	if err != nil {
		return nil, err
	}
	if b, err = o.appendAdded(b, len(dst)); err != nil {
		return nil, err
	}
	if size := len(b) - len(dst) + len(o.Data) + len(o.tail()); size > MaxSize {
		return nil, tooBig(size)
	}
	return b, nil
}

func tooBig(size int) error {
	return fmt.Errorf("web object: it has %d bytes, at most %d fit", size, MaxSize)
}

// appendFirst appends to dst the fields at the beginning of a Web object, up to the URL. All
// versions have these fields; only the number of the version differs.
func (o Object) appendFirst(dst []byte, version byte) ([]byte, error) {
	mime := strings.ToValidUTF8(o.MIME, "\uFFFD")
	cost := o.Cost / time.Millisecond
	if err := checkURL(o.URL); err != nil {
		return nil, err
	}
	if err := checkShort("MIME type", len(mime)); err != nil {
		return nil, err
	}
	if err := checkShort("URL", len(o.URL)); err != nil {
		return nil, err
	}
	if cost < 0 || cost > math.MaxUint32 {
		return nil, fmt.Errorf("web object: download cost %s is not between 0 and 49 days", o.Cost)
	}
	if len(o.Data) > MaxSize {
		return nil, fmt.Errorf("web object: data has %d bytes, at most %d fit", len(o.Data), MaxSize)
	}
	b := append(dst, objectMagic...)
	b = append(b, version)
	b = binary.BigEndian.AppendUint16(b, uint16(len(mime)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(o.URL)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(o.Data)))
	b = binary.BigEndian.AppendUint32(b, uint32(cost))
	b = appendTime(b, o.Downloaded)
	b = appendTime(b, o.Expires)
	b = append(b, mime...)
	return append(b, o.URL...), nil
}

// appendAdded appends to b the fields that version 3 of the format has in addition to version 1; for
// an object with a Conversion, it also appends the fields that version 4 adds to these. The total
// size of the added fields comes before them. The last field is a CRC-32 of all bytes of the Web
// object so far, from b[objectStart] on.
func (o Object) appendAdded(b []byte, objectStart int) ([]byte, error) {
	hash := sha256.Sum256(o.Data)
	if o.Hash != [32]byte{} && o.Hash != hash {
		return nil, errors.New("web object: the data is not that of the hash")
	}
	address, err := o.Address.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("web object: address: %w", err)
	}
	b = append(b, 0, 0)
	start := len(b)
	b = binary.BigEndian.AppendUint16(b, o.Status)
	b = append(b, hash[:]...)
	b = binary.AppendUvarint(b, o.Version.Epoch)
	b = binary.AppendUvarint(b, o.Version.Token)
	b = appendString(b, string(address))
	b = appendStrings(b, o.Collections)
	b = appendStrings(b, o.Redirects)
	b = binary.AppendUvarint(b, uint64(len(o.Header)))
	for _, field := range o.Header {
		b = appendText(b, field.Name)
		b = appendText(b, field.Value)
	}
	if c := o.Conversion; c != nil {
		b = binary.AppendUvarint(b, c.Reader)
		b = appendStrings(b, c.Omitted)
		b = binary.AppendUvarint(b, uint64(len(c.HTML)))
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(c.HTML))
	}
	size := len(b) + crc32.Size - start
	if err := checkShort("status, header, redirects and collections together", size); err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint16(b[start-2:], uint16(size))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[objectStart:])), nil
}

// checkURL returns an error if a URL cannot be written in a line of a description, because
// it has a line break or is not UTF-8.
func checkURL(url string) error {
	if !utf8.ValidString(url) || strings.ContainsAny(url, "\r\n") {
		return errors.New("web object: the URL is not one line of UTF-8")
	}
	return nil
}

// checkShort returns an error if a field has more than 65,535 bytes, which a u16 cannot express.
// The parameter size is the number of the field's bytes. The argument what names the field in the
// error.
func checkShort(what string, size int) error {
	if size > math.MaxUint16 {
		return fmt.Errorf("web object: %s: %d bytes, at most %d fit", what, size, math.MaxUint16)
	}
	return nil
}

func appendTime(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(t.UnixMilli()))
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendText(b, s)
	}
	return b
}

// appendText appends a string to b, after its length. All bytes of the string that are not UTF-8
// are replaced by U+FFFD.
func appendText(b []byte, s string) []byte {
	return appendString(b, strings.ToValidUTF8(s, "\uFFFD"))
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}
