package address

import (
	"net/netip"
	"strconv"
	"strings"
)

// Most links on most pages are plain ASCII and canonical, except for dot segments at
// their beginning. The functions below handle such links without the full parser, which
// is slower. The fuzz targets check that the result is that of the full parser.

// isCanonical reports whether s is certainly a canonical URL. It is a fast test, which
// returns false for some canonical URLs, too.
func isCanonical(s string) bool {
	rest, found := strings.CutPrefix(s, "https://")
	own := "443"
	if !found {
		rest, found = strings.CutPrefix(s, "http://")
		own = "80"
	}
	path := strings.IndexByte(rest, '/')
	if !found || path <= 0 || len(s) > MaxBytes {
		return false
	}
	name, port, hasPort := strings.Cut(rest[:path], ":")
	return (!hasPort || port != own && plainPort(port)) && plainHost(name) && plainPath(rest[path:])
}

// plainPort reports whether a port is a number from 1 to 65535 without leading zeros.
func plainPort(port string) bool {
	if len(port) == 0 || len(port) > 5 || port[0] == '0' {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// plainHost reports whether a host name is certainly in canonical form: an IPv4 address, or a
// name of the characters a-z, 0-9, '-' and '.', without punycode and without an empty label.
func plainHost(name string) bool {
	label := 0 // start of the present label
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '.':
			if i == label {
				return false
			}
			label = i + 1
		case 'a' <= c && c <= 'z' || isDigit(c):
		case c == '-':
			if i == label || i == label+3 {
				return false // "xn--" and its like
			}
		default:
			return false
		}
	}
	if label == len(name) {
		return false
	}
	if !isDigit(name[label]) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Is4()
}

// plainPath reports whether a path with its query is certainly in canonical form. It
// returns false for some canonical paths, too.
func plainPath(path string) bool {
	query := false
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case unreserved(c):
		case c == '/':
			if !query && i+1 < len(path) && path[i+1] == '.' {
				return false // may be a dot segment
			}
		case c == '?':
			query = true
		case c == '%':
			decoded, ok := unescape(path[i:])
			if !ok || unreserved(decoded) || isLowerHex(path[i+1]) || isLowerHex(path[i+2]) {
				return false
			}
		case strings.IndexByte("!$&()*+,;=:@[]|", c) < 0:
			return false
		}
	}
	return true
}

// join resolves a reference on the page a by joining parts of the two texts: "../c" on http://h/a/b
// gives http://h/c. This is faster than parsing, but the result is right only if isCanonical accepts
// it; the caller must check that. The reference must have no fragment. join returns false if the
// reference has a scheme without "//", such as mailto:.
func (a Address) join(ref string) (string, bool) {
	if scheme, ok := leadingScheme(ref); ok {
		return ref, strings.HasPrefix(ref[len(scheme):], "://")
	}
	path, _, _ := strings.Cut(a.Path, "?")
	switch {
	case ref == "":
		return a.URL, true
	case strings.HasPrefix(ref, "//"):
		return a.URL[:strings.IndexByte(a.URL, ':')+1] + ref, true
	case ref[0] == '/':
		return a.Origin + ref, true
	case ref[0] == '?':
		return a.Origin + path + ref, true
	}
	directory := path[:strings.LastIndexByte(path, '/')+1]
	for {
		if rest, ok := strings.CutPrefix(ref, "./"); ok {
			ref = rest
		} else if rest, ok := strings.CutPrefix(ref, "../"); ok {
			ref = rest
			directory = directory[:strings.LastIndexByte(directory[:max(len(directory)-1, 1)], '/')+1]
		} else {
			return a.Origin + directory + ref, true
		}
	}
}

// leadingScheme returns the scheme of a reference, and whether it has one.
func leadingScheme(ref string) (string, bool) {
	for i := 0; i < len(ref); i++ {
		switch c := ref[i]; {
		case isLetter(c):
		case i > 0 && c == ':':
			return ref[:i], true
		case i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		default:
			return "", false
		}
	}
	return "", false
}
