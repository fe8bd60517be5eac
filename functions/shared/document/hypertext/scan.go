package hypertext

import (
	"bytes"

	"golang.org/x/net/html/atom"
)

// token is the kind of a token: text, a start tag, an end tag, or the end of the markup.
type token uint8

const (
	endOfMarkup token = iota
	textToken
	startTag
	endTag
)

// rawAttribute is an attribute as it is written, but without quotation marks: its name may have
// capitals, and its value character references.
type rawAttribute struct{ name, value []byte }

// scanner splits markup into tokens (WHATWG HTML, 13.2.5). Tokens are parts of the markup and
// are not copied. It skips comments, declarations and processing instructions.
type scanner struct {
	markup []byte
	at     int       // offset of the next token
	raw    atom.Atom // element, such as script, whose whole content is text; 0: none; set by the caller of next
	cdata  bool      // whether CDATA sections are allowed here, as in svg and math; set by the caller of next

	// These fields describe the last token that next has read:

	text        []byte // text of a text token, as it is written
	literal     bool   // whether text has no character references, so that & stands for itself
	name        []byte // name of a tag, in lower case
	attributes  []rawAttribute
	selfClosing bool

	dropped int // number of attributes beyond MaxAttributes, in all tags

	lowered [32]byte
}

// next returns the kind of the next token. It drops a tag without an end, such as "<a href=x".
func (s *scanner) next() token {
	if s.raw != 0 && s.rawText() {
		return textToken
	}
	for from := s.at; s.at < len(s.markup); {
		open := bytes.IndexByte(s.markup[s.at:], '<')
		if open < 0 {
			return s.textTo(from, len(s.markup))
		}
		open += s.at
		if !beginsMarkup(s.markup[open+1:]) {
			if s.at = open + 1; s.at == len(s.markup) {
				return s.textTo(from, s.at)
			}
			continue
		}
		if from < open {
			return s.textTo(from, open)
		}
		if t := s.markupFrom(open + 1); t != endOfMarkup {
			return t
		}
		from = s.at
	}
	return endOfMarkup
}

func (s *scanner) textTo(from, to int) token {
	s.text, s.literal, s.at = s.markup[from:to], false, to
	return textToken
}

// beginsMarkup reports whether a < with the bytes b after it begins a tag, a comment or a
// declaration. Otherwise the < is text.
func beginsMarkup(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	if b[0] == '/' {
		return len(b) > 1
	}
	return isLetter(b[0]) || b[0] == '!' || b[0] == '?'
}

// markupFrom reads a tag, comment or other markup. i is the offset after its <. It returns
// endOfMarkup for markup that is skipped, such as a comment.
func (s *scanner) markupFrom(i int) token {
	rest := s.markup[i:]
	switch {
	case isLetter(rest[0]):
		if s.tag(i) {
			return startTag
		}
	case rest[0] == '/' && isLetter(rest[1]):
		if s.tag(i + 1) {
			return endTag
		}
	case bytes.HasPrefix(rest, []byte("!--")):
		s.at = i + 3 + endOfComment(rest[3:])
	case s.cdata && bytes.HasPrefix(rest, []byte("![CDATA[")):
		from := i + len("![CDATA[")
		text, _, found := bytes.Cut(s.markup[from:], []byte("]]>"))
		s.textTo(from, from+len(text))
		s.literal = true
		if found {
			s.at += len("]]>")
		}
		return textToken
	default: // a declaration, an instruction, an end tag without a name
		if end := bytes.IndexByte(rest, '>'); end < 0 {
			s.at = len(s.markup)
		} else {
			s.at = i + end + 1
		}
	}
	return endOfMarkup
}

// tag reads a tag whose name begins at offset i. It returns false if the tag has no end (>).
func (s *scanner) tag(i int) bool {
	b := s.markup
	s.at = len(b)
	s.attributes, s.selfClosing = s.attributes[:0], false
	from := i
	for i < len(b) && !endsName(b[i]) {
		i++
	}
	s.name = s.lower(b[from:i])
	for {
		for i < len(b) && isSpace(b[i]) {
			i++
		}
		if i == len(b) {
			return false
		}
		if b[i] == '>' {
			s.at = i + 1
			return true
		}
		if b[i] == '/' {
			i++
			s.selfClosing = i < len(b) && b[i] == '>'
			continue
		}
		from := i
		for i++; i < len(b) && !endsName(b[i]) && b[i] != '='; {
			i++
		}
		a := rawAttribute{name: b[from:i]}
		for i < len(b) && isSpace(b[i]) {
			i++
		}
		if i < len(b) && b[i] == '=' {
			if a.value, i = readValue(b, i+1); i > len(b) {
				return false
			}
		}
		if len(s.attributes) < MaxAttributes {
			s.attributes = append(s.attributes, a)
		} else {
			s.dropped++
		}
	}
}

// readValue reads the value of an attribute. It begins at offset i in b, just after the equals
// sign. It returns the value and the offset after it. If the closing quotation mark is missing, the
// value is nil, and the offset is greater than the length of b.
func readValue(b []byte, i int) ([]byte, int) {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	if i == len(b) || b[i] == '>' {
		return nil, i
	}
	if quote := b[i]; quote == '"' || quote == '\'' {
		i++
		end := bytes.IndexByte(b[i:], quote)
		if end < 0 {
			return nil, len(b) + 1
		}
		return b[i : i+end], i + end + 1
	}
	from := i
	for i < len(b) && !isSpace(b[i]) && b[i] != '>' {
		i++
	}
	return b[from:i], i
}

// rawText reads the content of an element such as script, in which only the end tag of the
// element is markup, and reports whether there is any content.
func (s *scanner) rawText() bool {
	name := s.raw
	s.raw = 0
	rest := s.markup[s.at:]
	end := 0
	if name == atom.Script {
		end = endOfScript(rest)
	} else {
		end = indexTag(rest, "</"+name.String())
	}
	s.textTo(s.at, s.at+end)
	s.literal = name != atom.Title && name != atom.Textarea
	return end > 0
}

// indexTag returns the offset of the first tag in b that begins with the given text, such as
// "</title", in letters of either case. It returns the length of b if there is no such tag.
func indexTag(b []byte, tag string) int {
	for i := 0; ; i++ {
		next := bytes.IndexByte(b[i:], '<')
		if next < 0 {
			return len(b)
		}
		if i += next; isTag(b[i:], tag) {
			return i
		}
	}
}

// isTag reports whether b begins with a tag that begins with the given text, such as "</script", in
// letters of either case.
func isTag(b []byte, tag string) bool {
	return len(b) > len(tag) && endsName(b[len(tag)]) && bytes.EqualFold(b[:len(tag)], []byte(tag))
}

// endOfScript returns the offset of the end tag of a script, or the length of b. Between <!-- and
// --> a script may have script elements (WHATWG HTML, 13.2.5.20), whose end tags do not count.
func endOfScript(b []byte) int {
	inComment, inScript := false, false
	for i := 0; i < len(b); i++ {
		if !inComment {
			next := bytes.IndexByte(b[i:], '<')
			if next < 0 {
				break
			}
			i += next
		}
		switch {
		case b[i] == '<' && !inComment && bytes.HasPrefix(b[i:], []byte("<!--")):
			inComment = true
			i++ // its dashes may be those of the end, too
		case b[i] == '-' && inComment && bytes.HasPrefix(b[i:], []byte("-->")):
			inComment, inScript = false, false
		case b[i] == '<' && inComment && isTag(b[i:], "<script"):
			inScript = true
		case b[i] == '<' && isTag(b[i:], "</script"):
			if !inScript {
				return i
			}
			inScript = false
		}
	}
	return len(b)
}

// endOfComment returns the offset after the end of a comment (-->), or the length of b if the
// comment does not end. b begins after the comment's <!--.
func endOfComment(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte(">")):
		return 1
	case bytes.HasPrefix(b, []byte("->")):
		return 2
	}
	for i := 0; ; i++ {
		next := bytes.Index(b[i:], []byte("--"))
		if next < 0 {
			return len(b)
		}
		i += next
		switch rest := b[i+2:]; {
		case bytes.HasPrefix(rest, []byte(">")):
			return i + 3
		case bytes.HasPrefix(rest, []byte("!>")):
			return i + 4
		}
	}
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// endsName reports whether a byte ends the name of a tag or of an attribute.
func endsName(c byte) bool { return nameEnds[c] }

var nameEnds = [256]bool{' ': true, '\n': true, '\t': true, '\r': true, '\f': true, '/': true, '>': true}

// lower returns a name in lower case. The result is valid until the next call of lower.
func (s *scanner) lower(name []byte) []byte {
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			lowered := append(s.lowered[:0], name...)
			for ; i < len(lowered); i++ {
				if c := lowered[i]; 'A' <= c && c <= 'Z' {
					lowered[i] = c | 0x20
				}
			}
			return lowered
		}
	}
	return name
}
