// Package markup has tools to read documents of formats other than HTML: a Scanner of XML, and
// a Writer of HTML, to which the documents are converted.
//
// No function fails: what can be read of invalid markup is read. Reading takes time linear in
// the size of the document.
package markup

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// Kind is the kind of a piece of XML that a Scanner reads: Start, End or Text.
type Kind byte

// The kinds. An empty element, such as <br/>, is read as a Start and an End.
const (
	Start Kind = iota + 1
	End
	Text
)

// Scanner reads XML without checking it, as a sequence of pieces: tags and texts. It knows
// only the entities of HTML, and ignores document types. Names of elements are in lower
// case, without the prefix of a namespace.
type Scanner struct {
	Kind Kind
	Name string // name of the element whose tag is the current piece

	tokens     *html.Tokenizer
	attributes []attribute
	names      map[string]string // names of elements seen before, so that each is allocated once
	text       []byte
	depth      int  // number of open elements
	empty      bool // whether the current piece is the Start of an empty element (<br/>); the next piece is its End
}

type attribute struct{ name, value string }

// MaxAttributes is the number of attributes of an element that are read; further ones are ignored.
const MaxAttributes = 64

// NewScanner returns a Scanner of XML in UTF-8.
func NewScanner(xml []byte) *Scanner {
	return &Scanner{tokens: html.NewTokenizer(bytes.NewReader(xml)), names: map[string]string{}}
}

// Next moves the scanner to the next piece, and returns false at the end of the XML.
func (s *Scanner) Next() bool {
	if s.empty {
		s.empty, s.Kind = false, End
		s.depth--
		return true
	}
	for {
		s.tokens.AllowCDATA(true)
		switch s.tokens.Next() {
		case html.ErrorToken:
			return false
		case html.TextToken:
			s.Kind, s.text = Text, textOf(s.tokens)
			return true
		case html.StartTagToken:
			s.start()
			return true
		case html.SelfClosingTagToken:
			s.start()
			s.empty = true
			return true
		case html.EndTagToken:
			name, _ := s.tokens.TagName()
			s.Kind, s.Name = End, s.local(name)
			s.depth--
			return true
		}
	}
}

// textOf returns the text of the tokenizer's current token with character references resolved, or
// the content of a CDATA section as it is.
func textOf(z *html.Tokenizer) []byte {
	if section, is := bytes.CutPrefix(z.Raw(), []byte("<![CDATA[")); is {
		return bytes.TrimSuffix(section, []byte("]]>"))
	}
	return z.Text()
}

func (s *Scanner) start() {
	name, more := s.tokens.TagName()
	s.tokens.NextIsNotRawText()
	s.Kind, s.Name = Start, s.local(name)
	s.depth++
	s.attributes = s.attributes[:0]
	for more {
		var key, value []byte
		key, value, more = s.tokens.TagAttr()
		if len(s.attributes) < MaxAttributes {
			s.attributes = append(s.attributes, attribute{string(key), string(value)})
		}
	}
}

// local returns a name without the prefix of its namespace: "t" for "w:t".
func (s *Scanner) local(name []byte) string {
	const most = 1000 // names to remember
	name = name[bytes.LastIndexByte(name, ':')+1:]
	known, found := s.names[string(name)]
	if !found {
		known = string(name)
		if len(s.names) < most {
			s.names[known] = known
		}
	}
	return known
}

// Text returns the text of the current piece, if its Kind is Text.
func (s *Scanner) Text() string { return string(s.text) }

// Attribute returns the value of an attribute of the element that was started last, or "". The name
// must be in lower case. If it has no namespace prefix, it matches any prefix: "href" finds
// "xlink:href".
func (s *Scanner) Attribute(name string) string {
	for _, a := range s.attributes {
		if a.name == name || !strings.Contains(name, ":") && a.name[strings.LastIndexByte(a.name, ':')+1:] == name {
			return a.value
		}
	}
	return ""
}

// Skip moves the scanner from the start tag of an element to its end tag.
func (s *Scanner) Skip() {
	for outside := s.depth - 1; s.depth > outside && s.Next(); {
	}
}

// Inner returns the text inside the element whose start tag is the current piece, with
// single spaces between its words, and moves the scanner to the element's end tag.
func (s *Scanner) Inner() string {
	var inner strings.Builder
	for outside := s.depth - 1; s.depth > outside && s.Next(); {
		if s.Kind == Text {
			inner.Write(s.text)
		}
	}
	return strings.Join(strings.Fields(inner.String()), " ")
}
