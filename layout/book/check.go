package book

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Caps on the fields of outcomes and links. MaxCollections counts names; the other caps
// count bytes. Encode refuses a field over its cap; Reader treats a book with such a
// field as damaged.
const (
	MaxURL         = 8 << 10
	MaxDetail      = 300
	MaxText        = 200     // greatest size of Anchor and Around of a link, in bytes
	MaxValidator   = 255     // greatest size of ETag and Modified of an outcome, in bytes
	MaxWord        = 1 << 10 // greatest size of Reason, Rel, Package, Decision and a collection's name, in bytes
	MaxCollections = 64
)

// MaxDelay is the greatest Pace.Delay that a book can hold.
const MaxDelay = 24 * time.Hour

// ErrDamaged is wrapped by an error that is caused by the bytes of a book, and not
// by the store or the caller.
var ErrDamaged = errors.New("book is damaged")

// placeIn returns two hashes of a URL: its place and its identity. The parameter site is the hash
// of the URL's site; it becomes the upper half of the place.
func placeIn(site uint32, url string) (layout.Place, layout.Identity) {
	id := layout.IdentityOf(url)
	return layout.Place(site)<<32 | layout.Place(binary.BigEndian.Uint32(id[:4])), id
}

func checkOutcome(o Outcome) error {
	if err := checkURL(o.URL, o.Place); err != nil {
		return err
	}
	if !o.State.valid() {
		return fmt.Errorf("outcome of %s: unknown %v", o.URL, o.State)
	}
	if o.Offset < 0 || o.Length < 0 {
		return fmt.Errorf("outcome of %s: negative range (offset %d, length %d)", o.URL, o.Offset, o.Length)
	}
	if o.Pace.Delay < 0 || o.Pace.Delay > MaxDelay {
		return fmt.Errorf("outcome of %s: a delay of %v, want 0 to %v", o.URL, o.Pace.Delay, MaxDelay)
	}
	if len(o.Collections) > MaxCollections {
		return fmt.Errorf("outcome of %s: %d collections, at most %d allowed", o.URL, len(o.Collections), MaxCollections)
	}
	if !inOrder(o.Collections) {
		return fmt.Errorf("outcome of %s: collections %q, want the others behind the first sorted, and each once", o.URL, o.Collections)
	}
	fields := []field{{"reason", o.Reason, MaxWord}, {"detail", o.Detail, MaxDetail}, {"package", o.Package, MaxWord},
		{"etag", o.ETag, MaxValidator}, {"modified", o.Modified, MaxValidator}}
	for _, name := range o.Collections {
		fields = append(fields, field{"collection", name, MaxWord})
	}
	if err := checkFields(fields...); err != nil {
		return fmt.Errorf("outcome of %s: %w", o.URL, err)
	}
	return nil
}

// inOrder checks the order of Outcome.Collections. The first name is the collection for which the
// URL was requested; it may be any name. The other names must be sorted. No name may occur twice.
func inOrder(names []string) bool {
	for i := 1; i < len(names); i++ {
		if names[i] == names[0] || i > 1 && names[i] <= names[i-1] {
			return false
		}
	}
	return true
}

func checkLink(l *Link) error {
	if err := checkURL(l.Target, l.Place); err != nil {
		return err
	}
	if !l.Kind.valid() || !l.Region.valid() {
		return fmt.Errorf("link to %s: unknown %v or %v", l.Target, l.Kind, l.Region)
	}
	err := checkFields(field{"rel", l.Rel, MaxWord}, field{"anchor", l.Anchor, MaxText}, field{"around", l.Around, MaxText},
		field{"collection", l.Collection, MaxWord}, field{"decision", l.Decision, MaxWord})
	if err != nil {
		return fmt.Errorf("link to %s: %w", l.Target, err)
	}
	return nil
}

func checkURL(url string, place layout.Place) error {
	if len(url) == 0 || len(url) > MaxURL {
		return fmt.Errorf("URL %.100q: %d bytes, want 1 to %d", url, len(url), MaxURL)
	}
	if want, _ := placeIn(place.Site(), url); place != want {
		return fmt.Errorf("URL %s: place %016x does not end with the start of the URL's identity, %08x", url, uint64(place), uint32(want))
	}
	return nil
}

type field struct {
	name, value string
	max         int
}

func checkFields(fields ...field) error {
	for _, f := range fields {
		if len(f.value) > f.max {
			return fmt.Errorf("%s of %d bytes, at most %d allowed", f.name, len(f.value), f.max)
		}
	}
	return nil
}
