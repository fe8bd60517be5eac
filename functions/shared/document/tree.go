package document

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tree reads markup into a tree of html, head and body, in time and memory
// linear in the text. It stands in for html.Parse, which fails beyond 512
// nested elements and whose work is not bounded by its input: it reopens every
// open formatting element in every paragraph, so that 24 KB of <p> and <b>
// become 2.3 million nodes. Of the WHATWG tree construction it follows what
// matters to links and text: void elements, implied end tags, scopes, foreign
// elements. Scripts and styles keep their elements and lose their contents. The
// title, meta, base and link elements are in metadata, too.
func tree(text []byte) (root *html.Node, nodes int, metadata []*html.Node) {
	b := newBuilder()
	b.read(text)
	return b.root, b.nodes, b.metadata
}

func (b *builder) read(text []byte) {
	z := html.NewTokenizer(bytes.NewReader(text[:min(len(text), MaxBytes)]))
	for b.nodes < MaxNodes {
		z.AllowCDATA(b.foreign > 0)
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			b.text(z.Text())
		case html.StartTagToken:
			b.start(z, false)
		case html.SelfClosingTagToken:
			b.start(z, true)
		case html.EndTagToken:
			name, _ := z.TagName()
			b.end(name)
		}
	}
}

type builder struct {
	root, head, body *html.Node
	inBody           bool
	open             []*html.Node // from head or body inwards
	unopened         int          // elements beyond MaxNesting whose end tags are awaited
	foreign          int          // open svg and math elements
	nodes            int
	metadata         []*html.Node // in document order
	slab             []html.Node  // not yet used
	attributes       []html.Attribute
}

// maxAttributes is how many attributes an element keeps.
const maxAttributes = 64

func newBuilder() *builder {
	b := &builder{}
	element := func(a atom.Atom) *html.Node {
		n := b.node(html.ElementNode)
		n.Data, n.DataAtom = a.String(), a
		return n
	}
	b.root = b.node(html.DocumentNode)
	top := element(atom.Html)
	b.head, b.body = element(atom.Head), element(atom.Body)
	b.root.AppendChild(top)
	top.AppendChild(b.head)
	top.AppendChild(b.body)
	b.open = append(b.open, b.head)
	return b
}

func (b *builder) node(t html.NodeType) *html.Node {
	if len(b.slab) == 0 {
		b.slab = make([]html.Node, 64)
	}
	n := &b.slab[0]
	b.slab = b.slab[1:]
	b.nodes++
	n.Type = t
	return n
}

func (b *builder) top() *html.Node { return b.open[len(b.open)-1] }

func (b *builder) pop(depth int) {
	for _, n := range b.open[depth:] {
		if isForeign(n.DataAtom) {
			b.foreign--
		}
	}
	b.open = b.open[:depth]
}

// enterBody ends the head.
func (b *builder) enterBody() {
	if !b.inBody {
		b.inBody = true
		b.pop(0)
		b.open = append(b.open, b.body)
	}
}

func (b *builder) text(data []byte) {
	switch b.top().DataAtom {
	case atom.Script, atom.Style:
		return
	case atom.Head, atom.Noscript:
		if len(bytes.TrimSpace(data)) == 0 {
			return
		}
		b.enterBody()
	}
	n := b.node(html.TextNode)
	n.Data = string(data)
	b.top().AppendChild(n)
}

func (b *builder) start(z *html.Tokenizer, selfClosing bool) {
	raw, more := z.TagName()
	name := atom.Lookup(raw)
	switch name {
	case atom.Html:
		b.body.Parent.Attr = b.attributesOf(z, more, b.body.Parent.Attr)
		return
	case atom.Head:
		return
	case atom.Body:
		b.enterBody()
		b.body.Attr = b.attributesOf(z, more, b.body.Attr)
		return
	}
	n := b.node(html.ElementNode)
	n.DataAtom, n.Data = name, name.String()
	if name == 0 {
		n.Data = string(raw)
	}
	n.Attr = b.attributesOf(z, more, nil)
	if b.foreign > 0 || name == atom.Noscript || name == atom.Noframes {
		z.NextIsNotRawText()
	}
	if !b.inBody && !belongsToHead(name) {
		b.enterBody()
	}
	b.imply(name)
	b.top().AppendChild(n)
	if isMetadata(name) {
		b.metadata = append(b.metadata, n)
	}
	switch {
	case isVoid(name), selfClosing && (b.foreign > 0 || isForeign(name)):
	case len(b.open) >= MaxNesting:
		b.unopened++
	default:
		if isForeign(name) {
			b.foreign++
		}
		b.open = append(b.open, n)
	}
}

func (b *builder) end(raw []byte) {
	if b.unopened > 0 {
		b.unopened--
		return
	}
	name := atom.Lookup(raw)
	switch name {
	case atom.Head:
		b.enterBody()
		return
	case atom.Html, atom.Body:
		return
	}
	for i := len(b.open) - 1; i > 0; i-- {
		n := b.open[i]
		if n.DataAtom == name && (name != 0 || n.Data == string(raw)) {
			b.pop(i)
			return
		}
		if n.DataAtom == atom.Table || isCell(n.DataAtom) && !isTablePart(name) {
			return
		}
	}
}

// imply closes the elements that a start tag ends without saying so.
func (b *builder) imply(name atom.Atom) {
	for i := len(b.open) - 1; i > 0; i-- {
		n := b.open[i].DataAtom
		if endsAt(name, n) {
			b.pop(i)
		} else if isBarrier(name, n) {
			return
		}
	}
}

// attributesOf returns what is left of a start tag, behind the attributes that
// its element has already. Elements share the memory.
func (b *builder) attributesOf(z *html.Tokenizer, more bool, old []html.Attribute) []html.Attribute {
	if !more {
		return old
	}
	if cap(b.attributes)-len(b.attributes) < maxAttributes {
		b.attributes = make([]html.Attribute, 0, 4*maxAttributes)
	}
	all := append(b.attributes[len(b.attributes):], old...)
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if name := atom.String(key); !has(all, name) && len(all) < maxAttributes {
			all = append(all, html.Attribute{Key: name, Val: string(value)})
		}
	}
	b.attributes = b.attributes[:len(b.attributes)+len(all)]
	return slices.Clip(all)
}

func has(attributes []html.Attribute, key string) bool {
	for i := range attributes {
		if attributes[i].Key == key {
			return true
		}
	}
	return false
}

// attribute returns the value of an attribute without white space around it.
func attribute(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return strings.TrimSpace(n.Attr[i].Val)
		}
	}
	return ""
}
