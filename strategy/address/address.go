// Package address brings URLs into the one canonical form under which the search
// engine knows them. From this form it derives the origin, the host, the site and two
// hashes: the identity, which stands for the URL, and the place, by which URLs are
// divided among partitions.
//
// The canonical form is that of the WHATWG URL standard for http and https,
// and on top of it
//
//   - without fragment, user name and password,
//   - with percent-encoding in its normal form (RFC 3986, section 6.2.2): hex
//     digits in upper case, no encoded unreserved characters; an address with
//     a stray '%' is left as it is,
//   - at most MaxBytes long.
//
// Nothing else is changed: trailing slashes, empty queries, the order of parameters
// and "index.html" may have a meaning for the server.
//
// Canonicalising a canonical form changes nothing.
//
// Rules that may change are no part of the canonical form: a Cleaner drops the
// parameters of trackers and sessions, Suspicious recognises addresses of traps,
// Pattern groups addresses that differ only in numbers and ids.
package address

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"golang.org/x/net/publicsuffix"
)

// Standard names the version of the rules by which URLs are made canonical. Identities (hashes of
// canonical URLs) under different standards cannot be compared. So each strategy document, which
// divides URLs by such hashes, records its standard.
const Standard = "whatwg-1"

// MaxBytes is the maximum length of a canonical URL, in bytes.
const MaxBytes = 2048

var (
	// ErrScheme: the scheme of the address is neither http nor https.
	ErrScheme = errors.New("scheme is neither http nor https")
	// ErrTooLong: the canonical form of the URL would be longer than MaxBytes.
	ErrTooLong = fmt.Errorf("address is longer than %d bytes", MaxBytes)
)

// Address is a canonical URL with the values derived from it. Only Parse and Resolve
// make one.
type Address struct {
	URL    string // canonical form of the URL
	Origin string // scheme://host[:port]; without the port if it is the default port of the scheme
	// host name, and the port unless it is 80 or 443; URLs with the same Host share delays and limits
	Host  string
	Site  string // registrable domain of the host; if it has none, the IP address or host name
	Path  string // path and query, which the rules of robots.txt match
	ID    layout.Identity
	Place layout.Place
}

// Parse returns the address of an absolute URL. It fails if the URL is malformed. The error wraps
// ErrScheme if the scheme is neither http nor https, and ErrTooLong if the URL is too long.
func Parse(raw string) (Address, error) {
	ref := cutFragment(raw)
	if isCanonical(ref) {
		return split(ref), nil
	}
	canonical, err := standardize("", ref)
	if err != nil {
		return Address{}, fmt.Errorf("address %.200q: %w", raw, err)
	}
	return split(canonical), nil
}

// Resolve resolves a reference, such as the href of a link, against the address of the page that
// contains it. It fails as Parse does.
func (a Address) Resolve(ref string) (Address, error) {
	short := cutFragment(ref)
	if joined, ok := a.join(strings.TrimSuffix(short, "#")); ok && isCanonical(joined) {
		return a.split(joined), nil
	}
	canonical, err := standardize(a.URL, short)
	if err != nil {
		return Address{}, fmt.Errorf("address %.200q on %s: %w", ref, a.URL, err)
	}
	return a.split(canonical), nil
}

// split returns the same address as the function split. It is faster if the URL has the origin of a, as
// most links of a page have: then both have the same host and site.
func (a Address) split(canonical string) Address {
	path, same := strings.CutPrefix(canonical, a.Origin)
	if !same || path[0] != '/' {
		return split(canonical)
	}
	a.URL, a.Path, a.ID = canonical, path, layout.IdentityOf(canonical)
	a.Place = a.Place.Beside(a.ID)
	return a
}

// cutFragment removes the fragment of a URL: "/a#b" becomes "/a". If white space precedes the '#', the
// '#' stays: "/a #b" becomes "/a #". Without the '#', the white space would be at the end, and the
// parser would trim it, although it is part of the URL. A '#' at the beginning stays, too.
func cutFragment(raw string) string {
	if i := strings.IndexByte(raw, '#'); i > 0 && raw[i-1] > ' ' {
		return raw[:i]
	} else if i >= 0 {
		return raw[:i+1]
	}
	return raw
}

// split returns the address of a URL, which must be canonical.
func split(canonical string) Address {
	authority := strings.Index(canonical, "://") + len("://")
	path := authority + strings.IndexByte(canonical[authority:], '/')
	name, port := canonical[authority:path], ""
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, ']') {
		name, port = name[:i], name[i+1:]
	}
	name = strings.TrimSuffix(name, ".")
	host := name
	if port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	a := Address{
		URL:    canonical,
		Origin: canonical[:path],
		Host:   host,
		Site:   site(name),
		Path:   canonical[path:],
		ID:     layout.IdentityOf(canonical),
	}
	a.Place = layout.PlaceOf(a.Site, a.ID)
	return a
}

// site returns the registrable domain of a host name by the public suffix list, such as
// example.co.uk for www.example.co.uk. The list's private suffixes count, so a name
// below github.io is a site of its own. For a host without a registrable domain (an IP
// address, localhost, a suffix itself) it returns the name, without brackets.
func site(name string) string {
	bare := strings.Trim(name, "[]")
	if _, err := netip.ParseAddr(bare); err == nil {
		return bare
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	return domain
}
