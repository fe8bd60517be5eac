// Package sitemap reads the lists of addresses that sites publish for crawlers:
// sitemaps and sitemap indexes (sitemaps.org, version 0.9), feeds in RSS 0.9x, 1.0,
// 2.0 and Atom (RFC 4287), and plain text with one address a line, each also
// compressed by gzip. The kind of a list is recognised by its bytes; namespaces and
// media types are ignored.
package sitemap

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

const (
	// MaxBytes is the maximum size of a decompressed list, in bytes (sitemaps.org).
	MaxBytes = 50 << 20
	// MaxEntries is the maximum number of entries of a list (sitemaps.org).
	MaxEntries = 50_000
	// DefaultPriority is the priority of an entry that names none (sitemaps.org).
	DefaultPriority = 0.5
)

// Entry is an entry of a list: of a sitemap, an index of sitemaps, a feed or a text file. Its
// address may be on another site than the list.
type Entry struct {
	Address  address.Address
	Index    bool      // Address is the address of another sitemap
	Modified time.Time // when the page was modified, in UTC; zero if the list does not say
	Priority float32   // priority that the site gives to the page, from 0 to 1
}

// Parse reads a list (a sitemap, an index of sitemaps, a feed or a text file) from r, and yields
// each entry as soon as it is read. The parameter list is the address of the list, against which
// relative addresses are resolved. Entries without a valid address are left out. If the list is
// broken, too large or of an unknown kind, Parse yields the entries before the fault, and then an
// error that says where the fault is.
//
// In XML, Parse ignores document types, and expands only the predefined entities.
func Parse(r io.Reader, list address.Address) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		n := 0
		err := parse(r, list, func(e Entry) error {
			switch n++; {
			case n > MaxEntries:
				return fmt.Errorf("more than %d entries", MaxEntries)
			case !yield(e, nil):
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			yield(Entry{}, fmt.Errorf("cannot read sitemap %s: %w", list.URL, err))
		}
	}
}

// errStop makes the function parse end before the end of the file. Its callback returns errStop when
// the caller of Parse has left the loop over the entries.
var errStop = errors.New("no more wanted")

// parse reads a sitemap or feed from r. It calls the function emit with each entry, until emit
// returns an error. The parameter list is the address of the sitemap or feed.
func parse(r io.Reader, list address.Address, emit func(Entry) error) error {
	in, err := open(r)
	if err != nil {
		return err
	}
	if first, _ := in.Peek(1); string(first) == "<" {
		m := newMarkup(in, list, emit)
		return m.parse()
	}
	return parseText(in, emit)
}
