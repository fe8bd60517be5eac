package address

import (
	"fmt"
	"slices"
	"strings"
)

// maxName is the maximum length of a parameter name in a pattern, in bytes.
const maxName = 64

// onlySession is the end of a pattern such as "sid=session". A parameter that matches such a
// pattern is dropped only if its value looks like a session id.
const onlySession = "=session"

// Cleaner drops the parameters of an address that identify the visitor and not the page: those of
// trackers, and session ids. They can be in the query (?utm_source=…) and in the segments of the
// path (;jsessionid=…). A canonical URL (see Standard) still has these parameters; only Clean
// drops them. The zero Cleaner drops nothing. It is safe for concurrent use.
type Cleaner struct {
	// names of the parameters that are dropped, in lower case. The value says whether a parameter is
	// dropped only if its value looks like a session id.
	names    map[string]bool
	prefixes []prefix
}

type prefix struct {
	text    string // beginning of the parameter names, in lower case
	session bool   // true: a parameter with this prefix is dropped only if its value looks like a session id
}

// NewCleaner returns a Cleaner that drops the parameters that match one of the patterns, whether in
// upper or lower case. It fails for other patterns than these:
//
//	gclid           this parameter
//	utm_*           all parameters that begin with utm_
//	sid=session     sid, if its value looks like a session id: at least 16 letters and
//	                digits in a row, with some of both; or at least 16 hexadecimal digits
//	                and nothing else but hyphens (a UUID)
//	sid*=session    likewise all parameters that begin with sid
func NewCleaner(patterns []string) (Cleaner, error) {
	c := Cleaner{names: make(map[string]bool, len(patterns))}
	for _, pattern := range patterns {
		name, session := strings.CutSuffix(strings.ToLower(pattern), onlySession)
		name, many := strings.CutSuffix(name, "*")
		if len(name) > maxName || name == "" && !many || strings.ContainsAny(name, "*=&;/?# ") {
			return Cleaner{}, fmt.Errorf("parameter %.100q: want a name such as gclid, utm_* or sid%s, of at most %d bytes", pattern, onlySession, maxName)
		}
		if many {
			c.prefixes = append(c.prefixes, prefix{name, session})
			continue
		}
		before, known := c.names[name]
		c.names[name] = session && (before || !known)
	}
	return c, nil
}

// Clean returns the address without the parameters that c drops. If no parameter of the
// query is left, its '?' is dropped, too. Cleaning twice changes nothing more. Clean is
// cheap for an address without such parameters.
func (c Cleaner) Clean(a Address) Address {
	path, query, hasQuery := strings.Cut(a.Path, "?")
	cleanPath, cleanQuery := c.path(path), c.query(query)
	if len(cleanPath) == len(path) && len(cleanQuery) == len(query) {
		return a
	}
	if cleanQuery != "" || hasQuery && query == "" {
		cleanPath += "?" + cleanQuery
	}
	cleaned, err := Parse(a.Origin + cleanPath)
	if err != nil {
		return a
	}
	return c.Clean(cleaned) // canonicalising may have made more parameters match
}

// query returns a query without the parameters that c drops.
func (c Cleaner) query(query string) string {
	if query == "" {
		return ""
	}
	for parameter := range strings.SplitSeq(query, "&") {
		if c.drops(parameter) {
			return strings.Join(slices.DeleteFunc(strings.Split(query, "&"), c.drops), "&")
		}
	}
	return query
}

// path returns a path without those parameters that c drops. A segment of a path has its parameters
// after semicolons.
func (c Cleaner) path(path string) string {
	if strings.IndexByte(path, ';') < 0 {
		return path
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		parts := strings.Split(segment, ";")
		segments[i] = strings.Join(append(parts[:1], slices.DeleteFunc(parts[1:], c.drops)...), ";")
	}
	return strings.Join(segments, "/")
}

// drops reports whether c drops the parameter, a text such as "name=value".
func (c Cleaner) drops(parameter string) bool {
	name, value, _ := strings.Cut(parameter, "=")
	var room [maxName + 1]byte
	lower := append(room[:0], name[:min(len(name), len(room))]...)
	for i, b := range lower {
		if 'A' <= b && b <= 'Z' {
			lower[i] = b | 0x20
		}
	}
	if session, known := c.names[string(lower)]; known && (!session || isSession(value)) {
		return true
	}
	for _, p := range c.prefixes {
		if len(lower) >= len(p.text) && string(lower[:len(p.text)]) == p.text && (!p.session || isSession(value)) {
			return true
		}
	}
	return false
}

// isSession reports whether a value looks like a session id (see NewCleaner).
func isSession(value string) bool {
	const least = 16
	hexDigits, isHex := 0, true
	for value != "" {
		r := leadingRun(value)
		if r.length >= least && r.digits > 0 && r.digits < r.length {
			return true
		}
		hexDigits += r.length
		isHex = isHex && r.isHex
		value = value[r.length:]
		if value != "" {
			isHex = isHex && value[0] == '-'
			value = value[1:]
		}
	}
	return isHex && hexDigits >= least
}
