package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// Entry is a waiting or leased URL.
type Entry struct {
	URL        string          // canonical URL of at most 65,535 bytes
	ID         layout.Identity // identity of URL
	Host       string          // host name, and the port unless it is 80 or 443 (see address.Address)
	Depth      uint16          // number of links from a seed to the URL
	Hops       uint8           // number of redirects that led from the target of the last link to the URL
	Attempts   uint8           // number of requests since the last final outcome (one other than Retry)
	Exponent   int16           // expiry class: the page is expected to stay valid for 2^Exponent days
	Weight     uint8           // priority: 255 is requested first, 1 last; 0: it has none, and the depth decides
	Sitemap    bool            // the URL is read as a sitemap
	Asset      bool            // the URL was found only as an asset of pages, and counts toward no limit of pages
	Collection string          // name of the collection for which the URL is requested; at most 255 bytes
	// name of the tally (count of stored URLs) for the collection; "" if there is only one
	// collection. Only Admit uses it.
	Tally string
	// the page belongs to the URL's collection even if another collection requests the page first;
	// only Admit uses this field
	Claimed bool
	// Last has parts of the last final outcome of a URL that is requested again; else nil.
	// Last.Time is exact to the millisecond. Last.Collections has at most 255 names. Each
	// name, Last.ETag and Last.Modified have at most 255 bytes.
	Last *batch.Look
}

// Lengths in bytes of the parts of an element. An element is the record of a URL in a queue.
const (
	headerBytes   = 26        // length of the first part, which has the same fields in every element (see doc.go)
	maxURL        = 1<<16 - 1 // maximum length of a URL
	maxCollection = 1<<8 - 1  // maximum length of a collection's name
)

// The letters of elements (records of URLs in queues). A letter is the state that the URL had when
// the element was written.
const (
	first = 'w' // the URL waits for the first time
	again = 'W' // the URL has a final state, and waits again
)

// Flags of an element (the record of a URL in a queue).
const (
	isSitemap = 1 << iota
	hasLook
	isMissing // Last.Missing is true: the URL's page was missing at the last request, but is still stored
	isAsset
	isHTTP   // the element lacks the beginning of the URL: http:// and the host
	isHTTPS  // the element lacks the beginning of the URL: https:// and the host
	allFlags = isSitemap | hasLook | isMissing | isAsset | isHTTP | isHTTPS
)

// beginnings are the texts that stand for the flags isHTTP and isHTTPS. The host follows them.
var beginnings = map[byte]string{isHTTP: "http://", isHTTPS: "https://"}

// shorten returns the part of a URL that an element holds, and the flag of the beginning that it lacks: 0 if it
// lacks none.
func shorten(url, host string) (flag byte, rest string) {
	for flag, scheme := range beginnings {
		if rest, found := strings.CutPrefix(url, scheme+host); found && rest != "" {
			return flag, rest
		}
	}
	return 0, url
}

// element encodes the entry, without its host, in the format that is drawn in doc.go. If the URL has
// a final state and waits again, the parameter version is the version of this state, as encodeVersion
// encodes it; else it is "".
func (e Entry) element(version string) (string, error) {
	if e.URL == "" || len(e.URL) > maxURL {
		return "", fmt.Errorf("URL of %s has %d bytes, want 1 to %d", e.ID, len(e.URL), maxURL)
	}
	if len(e.Collection) > maxCollection {
		return "", fmt.Errorf("collection of %s has %d bytes, want at most %d", e.URL, len(e.Collection), maxCollection)
	}
	if e.Host == "" {
		return "", fmt.Errorf("URL %s has no host", e.URL)
	}
	letter, flags := byte(first), byte(0)
	if version != "" {
		letter = again
	}
	if e.Sitemap {
		flags |= isSitemap
	}
	if e.Asset {
		flags |= isAsset
	}
	if e.Last != nil {
		flags |= hasLook
		if e.Last.Missing {
			flags |= isMissing
		}
	}
	beginning, url := shorten(e.URL, e.Host)
	flags |= beginning
	b := make([]byte, 0, headerBytes+len(version)+len(e.Collection)+len(url))
	b = append(b, e.ID[:]...)
	b = append(b, letter)
	b = binary.BigEndian.AppendUint16(b, e.Depth)
	b = append(b, e.Weight, e.Attempts, e.Hops)
	b = binary.BigEndian.AppendUint16(b, uint16(e.Exponent))
	b = append(b, flags, byte(len(e.Collection)))
	b = append(b, version...)
	b = append(b, e.Collection...)
	if e.Last != nil {
		var err error
		if b, err = appendLook(b, *e.Last); err != nil {
			return "", fmt.Errorf("last look at %s: %w", e.URL, err)
		}
	}
	return string(append(b, url...)), nil
}

var errElement = errors.New("element of the queue is damaged")

// parseElement decodes an element of a host's queue. It is the inverse of the method element: for a
// text that e.element(version) has returned, it returns e and version.
func parseElement(s, host string) (e Entry, version string, err error) {
	if len(s) < headerBytes {
		return Entry{}, "", fmt.Errorf("%w: %q of host %s", errElement, s, host)
	}
	letter, flags := s[16], s[24]
	e = Entry{
		ID:       layout.Identity([]byte(s[:16])),
		Host:     host,
		Depth:    uint16(s[17])<<8 | uint16(s[18]),
		Weight:   s[19],
		Attempts: s[20],
		Hops:     s[21],
		Exponent: int16(uint16(s[22])<<8 | uint16(s[23])),
		Sitemap:  flags&isSitemap != 0,
		Asset:    flags&isAsset != 0,
	}
	rest := s[headerBytes:]
	ok := letter == first || letter == again
	if letter == again {
		version, rest, ok = cut(rest, versionBytes)
	}
	if ok {
		e.Collection, rest, ok = cut(rest, int(s[25]))
	}
	if ok && flags&hasLook != 0 {
		e.Last, rest, ok = parseLook(rest, flags&isMissing != 0)
	}
	beginning := flags & (isHTTP | isHTTPS)
	if e.URL = rest; beginning != 0 {
		e.URL = beginnings[beginning] + host + rest
	}
	if flag, text := shorten(e.URL, host); flag != beginning || text != rest {
		ok = false // there is only one way to write a URL
	}
	if !ok || rest == "" || len(e.URL) > maxURL || flags&^allFlags != 0 || e.Last == nil && flags&isMissing != 0 {
		return Entry{}, "", fmt.Errorf("%w: %q of host %s", errElement, s, host)
	}
	return e, version, nil
}

// cut splits s behind its first n bytes. It returns false if s has fewer bytes.
func cut(s string, n int) (before, after string, ok bool) {
	if len(s) < n {
		return "", s, false
	}
	return s[:n], s[n:], true
}

const (
	// lookBytes is the length, in bytes, of the first part of an encoded batch.Look (see doc.go). Texts
	// of various lengths follow this part.
	lookBytes      = 27
	maxValidator   = 1<<8 - 1 // maximum length of ETag and of Last-Modified, in bytes
	maxCollections = 1<<8 - 1 // maximum number of collections in a look
)

// appendLook encodes a batch.Look as doc.go draws it, and appends it to b. It leaves out the field
// Missing, which is a flag of the element.
func appendLook(b []byte, l batch.Look) ([]byte, error) {
	if len(l.ETag) > maxValidator || len(l.Modified) > maxValidator {
		return nil, fmt.Errorf("ETag has %d bytes and Last-Modified %d, want at most %d each", len(l.ETag), len(l.Modified), maxValidator)
	}
	tooLong := func(name string) bool { return len(name) > maxCollection }
	if len(l.Collections) > maxCollections || slices.ContainsFunc(l.Collections, tooLong) {
		return nil, fmt.Errorf("collections %q, want at most %d of %d bytes each", l.Collections, maxCollections, maxCollection)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(l.Time.UnixMilli()))
	b = binary.BigEndian.AppendUint64(b, l.Digest)
	b = binary.BigEndian.AppendUint64(b, l.Body)
	b = append(b, byte(len(l.ETag)), byte(len(l.Modified)), byte(len(l.Collections)))
	b = append(append(b, l.ETag...), l.Modified...)
	for _, name := range l.Collections {
		b = append(append(b, byte(len(name))), name...)
	}
	return b, nil
}

// parseLook decodes the batch.Look at the start of s, which appendLook has encoded, and returns the
// rest of s. The parameter missing becomes look.Missing. ok is false if s is too short.
func parseLook(s string, missing bool) (look *batch.Look, rest string, ok bool) {
	header, rest, ok := cut(s, lookBytes)
	if !ok {
		return nil, "", false
	}
	number := func(at int) uint64 { return binary.BigEndian.Uint64([]byte(header[at : at+8])) }
	look = &batch.Look{Time: time.UnixMilli(int64(number(0))).UTC(), Digest: number(8), Body: number(16), Missing: missing}
	if look.ETag, rest, ok = cut(rest, int(header[24])); ok {
		look.Modified, rest, ok = cut(rest, int(header[25]))
	}
	for n := header[26]; n > 0 && ok; n-- {
		var size, name string
		if size, rest, ok = cut(rest, 1); ok {
			name, rest, ok = cut(rest, int(size[0]))
			look.Collections = append(look.Collections, name)
		}
	}
	return look, rest, ok
}
