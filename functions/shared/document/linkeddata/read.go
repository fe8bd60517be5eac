package linkeddata

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Read reads the JSON-LD of a page; scripts are the contents of its script elements. It never fails
// (see the package comment).
func Read(scripts ...[]byte) *Data {
	r := reader{data: &Data{}, names: make(map[string]string)}
	for _, script := range scripts {
		r.text, r.at = script, 0
		for r.at < len(r.text) && r.value(place{object: -1}, 0) {
		}
	}
	return r.data
}

// reader reads the JSON-LD scripts of a page, one after another. The fields text and at are the
// current script and the offset in it.
type reader struct {
	data  *Data
	text  []byte
	at    int
	names map[string]string // types and keys read so far, so that each is allocated once
}

// place is the object and the key to which a value belongs.
type place struct {
	object int32
	key    string
}

// value reads a value, adds it to the data, and reports whether it was complete. The parameter in
// says to which object and key the value belongs. The parameter depth is the number of objects and
// lists around the value.
func (r *reader) value(in place, depth int) bool {
	r.space()
	if r.at == len(r.text) {
		return false
	}
	if depth == MaxDepth {
		r.data.Cut = true
		return false
	}
	switch c := r.text[r.at]; {
	case c == '{':
		return r.object(in, depth)
	case c == '[':
		r.at++
		for {
			switch r.space(); {
			case r.at == len(r.text):
				return false
			case r.text[r.at] == ']':
				r.at++
				return true
			case r.text[r.at] == ',':
				r.at++
			default:
				if !r.value(in, depth+1) {
					return false
				}
			}
		}
	case c == '"':
		text, whole := r.string()
		if whole {
			r.add(in, text)
		}
		return whole
	default:
		return r.literal(in)
	}
}

// literal reads a number, true, false or null, and reports whether there is one at the present
// position. It adds a number to the data, and drops true, false and null. The parameter in says to
// which object and key the number belongs.
func (r *reader) literal(in place) bool {
	from := r.at
	for r.at < len(r.text) && bytes.IndexByte([]byte("{}[],:\" \t\r\n"), r.text[r.at]) < 0 {
		r.at++
	}
	if literal := r.text[from:r.at]; len(literal) > 0 && (literal[0] == '-' || '0' <= literal[0] && literal[0] <= '9') {
		r.add(in, literal)
	}
	return r.at > from
}

func (r *reader) object(in place, depth int) bool {
	if len(r.data.Objects) == MaxObjects {
		r.data.Cut = true
		return false
	}
	number := int32(len(r.data.Objects))
	r.data.Objects = append(r.data.Objects, Object{Key: in.key, Parent: in.object})
	for r.at++; ; {
		switch r.space(); {
		case r.at == len(r.text):
			return false
		case r.text[r.at] == '}':
			r.at++
			return true
		case r.text[r.at] == ',':
			r.at++
		case r.text[r.at] == '"':
			written, whole := r.string()
			if !whole {
				return false
			}
			key := r.name(written)
			if r.space(); r.at == len(r.text) || r.text[r.at] != ':' {
				return false
			}
			r.at++
			if !r.value(place{number, key}, depth+1) {
				return false
			}
		default:
			return false
		}
	}
}

func (r *reader) add(in place, text []byte) {
	switch {
	case in.object < 0 || len(text) == 0:
	case in.key == "@type":
		if o := &r.data.Objects[in.object]; o.Type == "" {
			o.Type = r.name(text)
		}
	case in.key == "@context" || in.key == "@id":
	case len(r.data.Values) == MaxValues:
		r.data.Cut = true
	default:
		r.data.Values = append(r.data.Values, Value{in.object, in.key, text})
	}
}

// name returns a type or key without the address of its vocabulary: "Product" for
// "https://schema.org/Product".
func (r *reader) name(written []byte) string {
	known, found := r.names[string(written)]
	if !found {
		known = string(written[bytes.LastIndexAny(written, "/#:")+1:])
		r.names[string(written)] = known
	}
	return known
}

// space skips white space and comments.
func (r *reader) space() {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case rest[0] <= ' ' || rest[0] == ';':
			r.at++
		case bytes.HasPrefix(rest, []byte("\ufeff")):
			r.at += len("\ufeff")
		case bytes.HasPrefix(rest, []byte("/*")):
			r.pass(rest, "*/")
		case bytes.HasPrefix(rest, []byte("//")):
			r.pass(rest, "\n")
		case bytes.HasPrefix(rest, []byte("<!--")):
			r.at += len("<!--")
		case bytes.HasPrefix(rest, []byte("-->")):
			r.at += len("-->")
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			r.at += len("<![CDATA[")
		case bytes.HasPrefix(rest, []byte("]]>")):
			r.at += len("]]>")
		default:
			return
		}
	}
}

// pass moves the reader to the end of a comment: to the place after the next text that ends such
// comments, for example "*/", or to the end of the JSON if there is none. The parameter end is this
// text, and rest is the JSON from the present position on.
func (r *reader) pass(rest []byte, end string) {
	if i := bytes.Index(rest, []byte(end)); i >= 0 {
		r.at += i + len(end)
	} else {
		r.at = len(r.text)
	}
}

// string reads a string (RFC 8259, section 7) and returns its text with the escapes resolved. If the
// closing quotation mark is missing, it returns nil and false.
func (r *reader) string() (text []byte, whole bool) {
	r.at++
	from, plain := r.at, true
	for ; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '"':
			text = r.text[from:r.at]
			r.at++
			if !plain {
				text = unescaped(text)
			}
			return text, true
		case '\\':
			plain = false
			r.at++
		}
	}
	r.at = len(r.text)
	return nil, false
}

// unescaped replaces the escapes of a string by the characters that they stand for. \r becomes a
// line feed, and \t a space.
func unescaped(written []byte) []byte {
	out := make([]byte, 0, len(written))
	for {
		i := bytes.IndexByte(written, '\\')
		if i < 0 || i+1 == len(written) {
			return append(out, written...)
		}
		out = append(out, written[:i]...)
		c := written[i+1]
		written = written[i+2:]
		switch c {
		case 'n', 'r':
			out = append(out, '\n')
		case 't', 'b', 'f':
			out = append(out, ' ')
		case 'u':
			r, ok := hex(written)
			if !ok {
				continue
			}
			written = written[4:]
			if utf16.IsSurrogate(r) && bytes.HasPrefix(written, []byte(`\u`)) {
				if low, ok := hex(written[2:]); ok {
					if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
						r = both
						written = written[6:]
					}
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
}

// hex reads the first four bytes of b as a hexadecimal number. It returns false if b does not begin
// with four hexadecimal digits.
func hex(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	return rune(n), err == nil
}
