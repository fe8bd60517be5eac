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
	maxToken   = 1 << 20 // bytes of a tag or a text
	maxNesting = 100     // elements
)

// form names the elements of one kind of list.
type form struct {
	record   string // name of the element that holds an entry
	depth    int    // nesting of this element; that of the root is 1
	location string // name of the element within it that holds the address
	index    bool   // the entries are other sitemaps
}

var forms = map[string]form{ // by the local name of the root
	"urlset":       {record: "url", depth: 2, location: "loc"},
	"sitemapindex": {record: "sitemap", depth: 2, location: "loc", index: true},
	"rss":          {record: "item", depth: 3, location: "link"},
	"rdf":          {record: "item", depth: 2, location: "link"},
	"feed":         {record: "entry", depth: 2, location: "link"},
}

// markup reads a list in XML. It uses the tokens of an HTML tokenizer, which is
// faster than encoding/xml and limits their size, and checks itself that elements
// nest.
type markup struct {
	tokens *html.Tokenizer
	list   address.Address
	emit   func(Entry) error
	offset int // of the current token, in bytes of UTF-8
	form   form
	open   []string // local names of the open elements, in lower case
	record record
}

func newMarkup(in *bufio.Reader, list address.Address, emit func(Entry) error) *markup {
	m := &markup{tokens: html.NewTokenizer(decode(in)), list: list, emit: emit}
	m.tokens.SetMaxBuf(maxToken)
	m.tokens.AllowCDATA(true)
	return m
}

var declaration = regexp.MustCompile(`^<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']`)

// decode returns a reader of the text in UTF-8. It decodes the encoding that the XML
// declaration names; without a known one, the text is taken as UTF-8.
func decode(in *bufio.Reader) io.Reader {
	head, _ := in.Peek(256)
	if label := declaration.FindSubmatch(head); label != nil && !bytes.EqualFold(label[1], []byte("utf-8")) {
		if r, err := charset.NewReaderLabel(string(label[1]), in); err == nil {
			return r
		}
	}
	return in
}

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

func (m *markup) wrong(format string, values ...any) error {
	return fmt.Errorf("behind byte %d: "+format, append([]any{m.offset}, values...)...)
}

// local returns a name without its prefix.
func local(name []byte) string { return string(name[bytes.LastIndexByte(name, ':')+1:]) }

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

// attributes reads the attributes of the current tag, and returns those that a sitemap
// entry may need. more tells whether the tag has any attributes.
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

// inRecord reports whether an entry is open.
func (m *markup) inRecord() bool {
	return len(m.open) >= m.form.depth && m.open[m.form.depth-1] == m.form.record
}

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
