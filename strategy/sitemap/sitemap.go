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
	// MaxBytes is the longest list, decompressed, in bytes (sitemaps.org).
	MaxBytes = 50 << 20
	// MaxEntries is the greatest number of entries of a list (sitemaps.org).
	MaxEntries = 50_000
	// DefaultPriority is the priority of an entry that gives none (sitemaps.org).
	DefaultPriority = 0.5
)

// Entry is an address in a list, of the list's own site or of another.
type Entry struct {
	Address  address.Address
	Index    bool      // Address is that of another sitemap
	Modified time.Time // in UTC, or zero if the list gives no date
	Priority float32   // from 0 to 1
}

// Parse yields the entries of a list while it is read, in little memory. Relative
// addresses are resolved against the list's own; an entry without a valid address
// is left out. A list that is broken, too large or of an unknown kind yields the
// entries before the fault, and then an error that says where the fault is.
//
// Document types are ignored, and only the entities of XML itself are expanded.
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

// errStop ends reading when the caller wants no more entries.
var errStop = errors.New("no more wanted")

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
