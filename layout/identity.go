package layout

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Identity names a URL: the first 128 bits of SHA-256 of its canonical form.
type Identity [16]byte

// IdentityOf returns the identity of a URL that is already canonical.
func IdentityOf(canonical string) Identity {
	var room [256]byte // most URLs fit, so that nothing is allocated
	sum := sha256.Sum256(append(room[:0], canonical...))
	return Identity(sum[:16])
}

// ParseIdentity reads the 32 hexadecimal digits that String writes.
func ParseIdentity(s string) (Identity, error) {
	var id Identity
	if len(s) != hex.EncodedLen(len(id)) {
		return id, fmt.Errorf("identity %q: want 32 hexadecimal digits", s)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return Identity{}, fmt.Errorf("identity %q: %w", s, err)
	}
	return id, nil
}

// String returns 32 lower-case hexadecimal digits.
func (id Identity) String() string { return hex.EncodeToString(id[:]) }

// Compare orders identities as byte strings.
func (id Identity) Compare(other Identity) int { return bytes.Compare(id[:], other[:]) }

// MarshalText returns the same digits as String.
func (id Identity) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText parses the digits that MarshalText returns.
func (id *Identity) UnmarshalText(text []byte) error {
	parsed, err := ParseIdentity(string(text))
	*id = parsed
	return err
}

// Place is the position of a URL in the 64-bit hash space that partitions divide: the
// hash of its site in the high half, the first four bytes of its identity in the low
// half. So the URLs of a site are neighbours, and a site too large for one partition
// can be divided (thesis 2006, chapter 3). Ordering by (Place, Identity) is the same
// as ordering by (site hash, Identity).
type Place uint64

// PlaceOf computes the place of a URL from the URL's identity and site. The site
// is the registrable domain, or the host itself if it has no such domain.
func PlaceOf(site string, id Identity) Place {
	sum := sha256.Sum256([]byte(site))
	return Place(binary.BigEndian.Uint32(sum[:4]))<<32 | Place(binary.BigEndian.Uint32(id[:4]))
}

// Beside returns the place of a URL of the same site, from the identity of that URL.
func (p Place) Beside(id Identity) Place {
	return p>>32<<32 | Place(binary.BigEndian.Uint32(id[:4]))
}

// IsOf reports whether a URL with this identity can have the place: the lower half of the place is the beginning of
// the identity.
func (p Place) IsOf(id Identity) bool { return uint32(p) == binary.BigEndian.Uint32(id[:4]) }

// Site returns the upper half of the place: the hash of the site, which all URLs of the
// site share.
func (p Place) Site() uint32 { return uint32(p >> 32) }

// RangeOfSite returns the range of the hash space in which all URLs of a site are. The parameter is the identity
// of the site's name (see IdentityOf).
func RangeOfSite(site Identity) Range {
	return (Place(binary.BigEndian.Uint32(site[:4])) << 32).SiteRange()
}

// SiteRange returns the range of the hash space in which all URLs of the place's site are.
func (p Place) SiteRange() Range {
	from := p >> 32 << 32
	return Range{From: from, To: from + 1<<32}
}

// Range is a half-open part [From, To) of the hash space of URLs (see Place). To = 0 means the end
// of the space, so that the zero Range is the whole of it.
type Range struct {
	From Place `json:"from"`
	To   Place `json:"to"`
}

// Contains reports whether the range holds p.
func (r Range) Contains(p Place) bool { return p >= r.From && (r.To == 0 || p < r.To) }

// Overlaps reports whether some place is in both ranges. Neither may be empty.
func (r Range) Overlaps(other Range) bool {
	return r.From <= other.To-1 && other.From <= r.To-1 // To - 1 is the last place, also if To is 0
}

// Width returns the number of places in the range, which must not be empty.
func (r Range) Width() float64 { return float64(r.To-1-r.From) + 1 }

// Sites returns the range of all sites (see PlaceOf) that have places in r.
func (r Range) Sites() Range {
	return Range{From: r.From.SiteRange().From, To: (r.To - 1).SiteRange().To}
}

// Span is the part text[Start:End] of a text. Start and End count bytes.
type Span struct{ Start, End int }
