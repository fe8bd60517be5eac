package robots

import (
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

// pattern matches the beginning of a path, or with a final '$' a whole path.
type pattern struct {
	parts []string // literal texts between the pattern's '*'
	whole bool     // the pattern must match the whole path
	size  int      // length of the pattern in octets; the longest matching pattern wins
}

// newPattern parses the path of an Allow or Disallow line. It returns false for a path without an
// effect: an empty one, or one that is longer than any address, even if all bytes of the address
// are percent-encoded.
func newPattern(value string) (pattern, bool) {
	if value == "" || len(value)-strings.Count(value, "*") > 3*address.MaxBytes {
		return pattern{}, false
	}
	value = address.NormalEscapes(value)
	text, whole := strings.CutSuffix(value, "$")
	text = strings.ReplaceAll(text, "$", "%24")
	return pattern{parts: strings.Split(text, "*"), whole: whole, size: len(value)}, true
}

var special = strings.NewReplacer("*", "%2A", "$", "%24")

// escapePath returns a path with its query in the form that is compared with patterns: with normal
// percent-encoding (see address.NormalEscapes), '*' written as %2A, and '$' as %24. In a pattern, '*'
// and a final '$' are wildcards, so the characters themselves are written as %2A and %24 there, too
// (RFC 9309, section 2.2.3).
func escapePath(path string) string { return special.Replace(address.NormalEscapes(path)) }

// matches reports whether the pattern matches a path in the form that escapePath returns. It takes
// linear time: each part of the pattern is searched for once, after the place where the part before
// it was found.
func (p pattern) matches(path string) bool {
	rest, ok := strings.CutPrefix(path, p.parts[0])
	if !ok {
		return false
	}
	middle := p.parts[1:]
	if !p.whole {
		return follow(rest, middle)
	}
	if len(middle) == 0 {
		return rest == ""
	}
	last := len(middle) - 1
	rest, ok = strings.CutSuffix(rest, middle[last])
	return ok && follow(rest, middle[:last])
}

// follow reports whether text contains the parts one after another, in this order and without
// overlaps.
func follow(text string, parts []string) bool {
	for _, part := range parts {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}
