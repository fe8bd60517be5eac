package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Entry is a URL that waits or is leased.
type Entry struct {
	URL        string          // canonical, at most 65,535 bytes
	ID         layout.Identity // of the URL
	Host       string          // politeness key
	Depth      uint16          // links from a seed
	Hops       uint8           // redirects followed from the URL that was linked
	Attempts   uint8           // times asked so far, as far as an outcome says so
	Exponent   int16           // expiry class
	Collection string          // at most 255 bytes
}

const (
	headerBytes   = 23 // of an element, before the collection
	maxURL        = 1<<16 - 1
	maxCollection = 1<<8 - 1
)

// element writes the entry, without its host, as doc.go draws it.
func (e Entry) element() (string, error) {
	if e.URL == "" || len(e.URL) > maxURL {
		return "", fmt.Errorf("URL of %s has %d bytes, want 1 to %d", e.ID, len(e.URL), maxURL)
	}
	if len(e.Collection) > maxCollection {
		return "", fmt.Errorf("collection of %s has %d bytes, want at most %d", e.URL, len(e.Collection), maxCollection)
	}
	b := make([]byte, 0, headerBytes+len(e.Collection)+len(e.URL))
	b = append(b, e.ID[:]...)
	b = binary.BigEndian.AppendUint16(b, e.Depth)
	b = append(b, e.Attempts, e.Hops)
	b = binary.BigEndian.AppendUint16(b, uint16(e.Exponent))
	b = append(b, byte(len(e.Collection)))
	b = append(b, e.Collection...)
	b = append(b, e.URL...)
	return string(b), nil
}

var errElement = errors.New("element of the queue is damaged")

// parseElement reads what element writes; the host is the queue's.
func parseElement(s, host string) (Entry, error) {
	if len(s) < headerBytes || len(s) <= headerBytes+int(s[22]) {
		return Entry{}, fmt.Errorf("%w: %q of host %s", errElement, s, host)
	}
	url := headerBytes + int(s[22])
	return Entry{
		URL:        s[url:],
		ID:         layout.Identity([]byte(s[:16])),
		Host:       host,
		Depth:      uint16(s[16])<<8 | uint16(s[17]),
		Attempts:   s[18],
		Hops:       s[19],
		Exponent:   int16(uint16(s[20])<<8 | uint16(s[21])),
		Collection: s[headerBytes:url],
	}, nil
}
