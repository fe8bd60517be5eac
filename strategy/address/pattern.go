package address

import (
	"slices"
	"strings"
)

// Pattern returns a text that is equal for all addresses that differ only in numbers,
// dates, ids and the values of parameters. It consists of the host and path, with '#' in
// place of each number and id, and of the sorted names of the parameters. All pages of a
// calendar have one pattern (example.org/calendar/#/#?view), and so have those of a maze
// of session ids (example.org/s/#/page). An address without numbers, ids and parameters
// has the pattern "".
func Pattern(a Address) string {
	path, query, _ := strings.Cut(a.Path, "?")
	var b strings.Builder
	b.Grow(len(a.Host) + len(a.Path))
	b.WriteString(a.Host)
	varies := generalize(&b, path)
	if query == "" {
		if !varies {
			return ""
		}
		return b.String()
	}
	var names []string
	for parameter := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		var general strings.Builder
		generalize(&general, name)
		names = append(names, general.String())
	}
	slices.Sort(names)
	b.WriteByte('?')
	b.WriteString(strings.Join(slices.Compact(names), "&"))
	return b.String()
}

// generalize writes s to b with a '#' in place of each number and id. It reports whether s has any
// number or id.
func generalize(b *strings.Builder, s string) (found bool) {
	for s != "" {
		r := leadingRun(s)
		switch {
		case r.length == 0 && s[0] == '%':
			r.length = min(3, len(s)) // an escaped byte is no number
			b.WriteString(s[:r.length])
		case r.length == 0:
			r.length = 1
			b.WriteByte(s[0])
		case r.isID():
			b.WriteByte('#')
			found = true
		default:
			found = numbers(b, s[:r.length]) || found
		}
		s = s[r.length:]
	}
	return found
}

// numbers writes a word to b with a '#' in place of each number, and reports whether the word
// contains a number.
func numbers(b *strings.Builder, word string) (found bool) {
	for i := range len(word) {
		switch {
		case !isDigit(word[i]):
			b.WriteByte(word[i])
		case i == 0 || !isDigit(word[i-1]):
			b.WriteByte('#')
			found = true
		}
	}
	return found
}

// run describes a sequence of ASCII letters and digits in an address.
type run struct {
	length, digits int  // number of characters, and number of digits among these
	isHex          bool // whether all characters are hexadecimal digits
}

// leadingRun returns the description of the letters and digits with which s begins.
func leadingRun(s string) run {
	r := run{isHex: true}
	for ; r.length < len(s); r.length++ {
		c := s[r.length]
		if isDigit(c) {
			r.digits++
		} else if !isLetter(c) {
			break
		}
		_, ok := hexDigit(c)
		r.isHex = r.isHex && ok
	}
	return r
}

// isID reports whether a run of letters and digits looks like an id, and not like a word that has
// a number in it. A run is an id if it has a digit, and is one of these:
//
//   - a hexadecimal number of at least 4 characters, such as 3f9a
//   - any run of at least 16 characters
func (r run) isID() bool {
	const leastHex, least = 4, 16
	return r.digits > 0 && (r.isHex && r.length >= leastHex || r.length >= least)
}
