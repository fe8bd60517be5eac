package sitemap

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

const (
	maxToken   = 1 << 20 // maximum length of a tag, or of a text between tags, in bytes
	maxNesting = 100     // maximum number of open elements
)

// form describes one kind of list in XML (sitemap, index of sitemaps, RSS, Atom): which elements
// contain its entries and their addresses.
type form struct {
	record   string // name of the element that holds one entry, such as url
	depth    int    // nesting level of the element that holds one entry; the root element has level 1
	location string // name of the child element with the entry's address, such as loc
	index    bool   // whether the entries are other sitemaps
}

var forms = map[string]form{ // forms by the local name of the root element
	"urlset":       {record: "url", depth: 2, location: "loc"},
	"sitemapindex": {record: "sitemap", depth: 2, location: "loc", index: true},
	"rss":          {record: "item", depth: 3, location: "link"},
	"rdf":          {record: "item", depth: 2, location: "link"},
	"feed":         {record: "entry", depth: 2, location: "link"},
}

// markup is a parser of sitemaps and feeds in XML. It gets its tokens from an HTML tokenizer, which
// is faster than encoding/xml and limits the size of a token. markup itself checks that elements
// are properly nested.
type markup struct {
	tokens *html.Tokenizer
	list   address.Address   // address of the sitemap or feed
	emit   func(Entry) error // function that is called with each entry
	offset int               // offset of the current token in the text, in bytes of UTF-8
	form   form
	open   []string // local names of the open elements, in lower case
	record record   // fields of the current entry so far
}

func newMarkup(in *bufio.Reader, list address.Address, emit func(Entry) error) *markup {
	m := &markup{tokens: html.NewTokenizer(decode(in)), list: list, emit: emit}
	m.tokens.SetMaxBuf(maxToken)
	m.tokens.AllowCDATA(true)
	return m
}

var declaration = regexp.MustCompile(`^<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']`)

// decode returns a reader that converts a text in XML to UTF-8, from the encoding that
// the XML declaration names. A text without a known encoding is taken as UTF-8.
func decode(in *bufio.Reader) io.Reader {
	head, _ := in.Peek(256)
	if label := declaration.FindSubmatch(head); label != nil && !bytes.EqualFold(label[1], []byte("utf-8")) {
		if r, err := charset.NewReaderLabel(string(label[1]), in); err == nil {
			return r
		}
	}
	return in
}

// parse reads the sitemap or feed up to the end of its root element, and calls m.emit with each
// entry. It fails with the error of emit, or if the XML is malformed.
func (m *markup) parse() error {
	for {
		kind := m.tokens.Next()
		if kind == html.ErrorToken {
			if err := m.tokens.Err(); err != io.EOF {
				return m.wrong("%w", err)
			}
			if len(m.open) > 0 {
				return m.wrong("ends within <%s>", m.open[len(m.open)-1])
			}
			return m.wrong("ends before it begins")
		}
		raw := m.tokens.Raw()
		size := len(raw)
		var err error
		switch kind {
		case html.TextToken:
			m.text(raw)
		case html.StartTagToken:
			err = m.start()
		case html.SelfClosingTagToken:
			if err = m.start(); err == nil {
				err = m.end(m.open[len(m.open)-1])
			}
		case html.EndTagToken:
			name, _ := m.tokens.TagName()
			err = m.end(local(name))
		}
		if err != nil {
			return err
		}
		if len(m.open) == 0 && m.form.record != "" {
			return nil // what follows the root is of no interest
		}
		m.offset += size
	}
}

// wrong returns an error that names the offset of the current token.
func (m *markup) wrong(format string, values ...any) error {
	return fmt.Errorf("behind byte %d: "+format, append([]any{m.offset}, values...)...)
}

// local returns the name of an element without the prefix of its namespace.
func local(name []byte) string { return string(name[bytes.LastIndexByte(name, ':')+1:]) }

// start opens the element of a start tag. If it is the root element, start sets the kind of the
// file (sitemap, index of sitemaps, RSS or Atom) by the element's name.
func (m *markup) start() error {
	m.tokens.NextIsNotRawText() // HTML's raw text elements, such as script, do not exist in XML
	tag, more := m.tokens.TagName()
	name := local(tag)
	if len(m.open) == 0 {
		known := false
		if m.form, known = forms[name]; !known {
			return m.wrong("begins with <%.50s>, not with urlset, sitemapindex, rss, RDF or feed", name)
		}
	}
	if len(m.open) == maxNesting {
		return m.wrong("more than %d elements within each other", maxNesting)
	}
	m.open = append(m.open, name)
	switch len(m.open) {
	case m.form.depth:
		m.record.reset()
	case m.form.depth + 1:
		if m.inRecord() {
			m.record.open(m.form, name, m.attributes(more))
		}
	}
	return nil
}

// attributes returns the attributes href, rel and isPermaLink of the current tag. The parameter
// more says whether the tag has any attributes.
func (m *markup) attributes(more bool) (a attributes) {
	for more {
		var key, value []byte
		key, value, more = m.tokens.TagAttr()
		switch string(key) {
		case "href":
			a.href = string(value)
		case "rel":
			a.rel = string(value)
		case "ispermalink":
			a.permanent = string(value)
		}
	}
	return a
}

// inRecord reports whether the parser is inside the element of an entry.
func (m *markup) inRecord() bool {
	return len(m.open) >= m.form.depth && m.open[m.form.depth-1] == m.form.record
}

// text adds a text to the fields of the current entry, if the text stands directly within a child
// element of the entry.
func (m *markup) text(raw []byte) {
	if len(m.open) != m.form.depth+1 || !m.inRecord() {
		return
	}
	if data, is := bytes.CutPrefix(raw, []byte("<![CDATA[")); is {
		m.record.write(bytes.TrimSuffix(data, []byte("]]>")))
	} else {
		m.record.write(unescape(raw))
	}
}

// end closes the element of an end tag. At the end of an entry it calls m.emit. It fails
// if the tag does not match the open element.
func (m *markup) end(name string) error {
	last := len(m.open) - 1
	if last < 0 || m.open[last] != name {
		return m.wrong("</%.50s> closes no <%s>", name, strings.Join(m.open[max(0, last):], ""))
	}
	inRecord := m.inRecord()
	m.open = m.open[:last]
	switch {
	case !inRecord:
	case last == m.form.depth:
		m.record.close(m.form, name)
	case last == m.form.depth-1:
		if e, ok := m.record.entry(m.form, m.list); ok {
			return m.emit(e)
		}
	}
	return nil
}
