package webobject

import (
	"crypto/sha256"
	"errors"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout"
)

// MaxSize is the most bytes that one Web object has, its header included.
// Nothing is inflated beyond it.
const MaxSize = 64 << 20

// Field is one line of a response header.
type Field struct{ Name, Value string }

// Object is a Web object: one answer of a Web server and how it was got.
// Version 1 holds the first six fields, versions 2 and 3 all of them.
type Object struct {
	URL        string // UTF-8 without line breaks
	MIME       string
	Data       []byte
	Cost       time.Duration // of the download; milliseconds on disk, cut off
	Downloaded time.Time     // milliseconds on disk, cut off
	Expires    time.Time     // when the page is expected to change; as Downloaded

	Status      uint16     // HTTP status
	Header      []Field    // in the order of the response
	Redirects   []string   // addresses that led to URL, first one first
	Address     netip.Addr // of the server
	Hash        [32]byte   // SHA-256 of Data; zero in version 1
	Collections []string
	Version     layout.Version // of the batch that fetched it
}

// checkHash compares the data with the hash, which version 1 does not have.
func (o Object) checkHash() error {
	if o.Hash != [32]byte{} && o.Hash != sha256.Sum256(o.Data) {
		return errors.New("web object: the data is not that of the hash")
	}
	return nil
}

// checkURL makes sure that a URL can stand in a line of a description.
func checkURL(url string) error {
	if !utf8.ValidString(url) || strings.ContainsAny(url, "\r\n") {
		return errors.New("web object: the URL is not one line of UTF-8")
	}
	return nil
}
