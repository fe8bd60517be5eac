package hypertext

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/style"
)

// Read reads a page of HTML in UTF-8. It never fails.
func Read(markup []byte) *Page {
	if bytes.IndexByte(markup, 0) >= 0 {
		markup = bytes.ReplaceAll(markup, []byte{0}, nil)
	}
	r := reader{page: &Page{}, classes: classCaches.Get().(map[string]classMeaning)}
	defer classCaches.Put(r.classes)
	r.readAll(markup)
	return r.page
}

func (r *reader) readAll(markup []byte) {
	if len(markup) > MaxBytes {
		r.page.Cut.Bytes = len(markup) - MaxBytes
		markup = markup[:MaxBytes]
	}
	tags := min(bytes.Count(markup, []byte("<")), MaxElements)
	r.page.Text = make([]byte, 0, len(markup)/3)
	r.page.Elements = make([]Element, 0, tags*5/8+8) // some have no end tag
	r.page.Blocks = make([]Block, 0, tags/8+8)
	r.page.References = make([]Reference, 0, tags/12)
	r.begin()
	r.scanner.markup, r.isStatic = markup, sync.OnceValue(func() bool { return !hasScripts(markup) })
	r.read()
	r.finish()
}

// hasScripts reports whether a page seems to have scripts. Scripts often show what style elements hide,
// such as a section that opens when a reader clicks its heading. So the style elements of such a page do
// not count. A page seems to have scripts if it has "<script", "onclick=" or "onload=" anywhere, in upper or
// lower case.
func hasScripts(markup []byte) bool {
	return contains(markup, '<', func(_, after []byte) bool { return beginsWith(after, "script") }) ||
		contains(markup, '=', func(before, _ []byte) bool { return endsWith(before, "onclick") || endsWith(before, "onload") })
}

// contains reports whether a sign stands anywhere in a text where the callback accepts what is before and
// after it. It is fast, because it copies nothing and looks only at the signs.
func contains(text []byte, sign byte, accepts func(before, after []byte) bool) bool {
	for at := 0; ; at++ {
		next := bytes.IndexByte(text[at:], sign)
		if next < 0 {
			return false
		}
		if at += next; accepts(text[:at], text[at+1:]) {
			return true
		}
	}
}

// beginsWith reports whether a text begins with a word, in upper or lower case.
func beginsWith(text []byte, word string) bool {
	return len(text) >= len(word) && strings.EqualFold(string(text[:len(word)]), word)
}

// endsWith reports whether a text ends with a word, in upper or lower case.
func endsWith(text []byte, word string) bool {
	return len(text) >= len(word) && beginsWith(text[len(text)-len(word):], word)
}

type reader struct {
	scanner scanner
	page    *Page
	open    []int32  // the open elements, html first, as indexes in page.Elements
	unknown []string // for each open element, its name if package atom does not know it, else ""
	inBody  bool
	foreign int // number of open svg and math elements
	// unopened has, for each name of an element, the number of end tags that are still to be
	// ignored. They belong to elements beyond MaxNesting, which were closed directly after their
	// start tags.
	unopened map[atom.Atom]int
	title    []byte
	inTitle  bool
	styles   style.Hidden // which elements the style elements hide that were read so far
	isStyle  bool         // whether the open style element is read
	isStatic func() bool  // whether the page has no scripts (see hasScripts); found out at the first style element
	script   []byte
	isData   bool
	data     int // bytes of JSON-LD read so far

	block      int     // index of the open block in page.Blocks; -1: none
	lineBroken bool    // whether a line break comes before the next text
	spaced     bool    // whether white space comes before the next text
	links      []int32 // the open a elements, as indexes in page.References
	bold       int
	lastLink   bool // whether the last text was in a link

	classes map[string]classMeaning // meanings of values of class and similar attributes, cached (see classCaches)
	decoded []byte                  // text of the current token, with its character references decoded
	steps   int                     // amount of work, for tests: number of tokens, and of elements looked at for them
}

func (r *reader) begin() {
	r.block = -1
	r.page.Elements = append(r.page.Elements, Element{Name: atom.Html, Parent: -1})
	r.open = append(r.open, 0)
	r.unknown = append(r.unknown, "")
}

func (r *reader) finish() {
	r.endBlock()
	r.close(0)
	r.page.Cut.Attributes = r.scanner.dropped
	if r.page.Title == "" {
		r.page.Title = string(r.title)
	}
}

func (r *reader) read() {
	s := &r.scanner
	for len(r.page.Elements) < MaxElements {
		s.cdata = r.foreign > 0
		r.steps++
		switch s.next() {
		case endOfMarkup:
			return
		case textToken:
			if !s.literal && bytes.IndexByte(s.text, '&') >= 0 {
				r.decoded = appendDecoded(r.decoded[:0], s.text, false)
				s.text = r.decoded
			}
			r.text(s.text)
		case startTag:
			r.start()
		case endTag:
			r.end(s.name)
		}
	}
	r.page.Cut.Elements = true
}

func (r *reader) top() int32 { return r.open[len(r.open)-1] }

func (r *reader) name(at int) atom.Atom { return r.page.Elements[r.open[at]].Name }

// close ends open elements, the innermost first. The last one that it ends is the element at the
// given index in r.open.
func (r *reader) close(from int) {
	for i := len(r.open) - 1; i >= from; i-- {
		r.steps++
		number := r.open[i]
		e := &r.page.Elements[number]
		if isBlock(e.Name) || separates(e.Name) {
			r.separate(e.Name)
		}
		switch {
		case isForeign(e.Name):
			r.foreign--
		case e.Name == atom.A && len(r.links) > 0:
			last := r.links[len(r.links)-1]
			if r.page.References[last].Element == number {
				r.dropMark(&r.page.References[last], number)
				r.page.References[last].End = int32(len(r.page.Text))
				r.links = r.links[:len(r.links)-1]
				r.lastLink = true
			}
		case isBold(e.Name):
			r.bold--
		case e.Name == atom.Title && r.inTitle:
			r.inTitle = false
			r.page.Title = string(r.title)
		case e.Name == atom.Script && r.isData:
			r.isData = false
			r.page.Data = append(r.page.Data, bytes.Clone(r.script))
			r.script = r.script[:0]
		}
		e.Last, e.End = int32(len(r.page.Elements)), int32(len(r.page.Text))
	}
	r.open, r.unknown = r.open[:from], r.unknown[:from]
}

func isBold(a atom.Atom) bool { return a == atom.B || a == atom.Strong }

// separates reports whether a space separates an element's text from the words around it, although
// the element does not begin a new line. An example is button.
func separates(a atom.Atom) bool {
	switch a {
	case atom.Button, atom.Label, atom.Input, atom.Select, atom.Option, atom.Img, atom.Svg, atom.Iframe, atom.Video, atom.Legend:
		return true
	}
	return false
}

func (r *reader) separate(a atom.Atom) {
	if isBlock(a) {
		r.endBlock()
	} else {
		r.spaced = true
	}
}

// enterBody begins the body, unless the body has begun already.
func (r *reader) enterBody() {
	if r.inBody {
		return
	}
	r.inBody = true
	r.close(1)
	r.push(Element{Name: atom.Body}, "")
}

func (r *reader) push(e Element, unknown string) int32 {
	parent := &r.page.Elements[r.top()]
	e.Parent = r.top()
	e.Start, e.End = int32(len(r.page.Text)), int32(len(r.page.Text))
	e.Around = e.Own | parent.Around
	e.Flags |= parent.Flags
	e.Depth = uint8(min(len(r.open), 255))
	number := int32(len(r.page.Elements))
	e.Last = number + 1
	r.page.Elements = append(r.page.Elements, e)
	r.open = append(r.open, number)
	r.unknown = append(r.unknown, unknown)
	return number
}

func (r *reader) start() {
	s := &r.scanner
	name := atom.Lookup(s.name)
	unknown := ""
	if name == 0 {
		unknown = string(s.name)
	}
	a := attributes{reader: r}
	if name == 0 {
		a.own.Add(s.name) // name of a custom element, such as product-recommendations
	}
	a.read(name, s.attributes)
	switch name {
	case atom.Html:
		if r.page.Lang == "" {
			r.page.Lang = a.lang
		}
		return
	case atom.Head:
		return
	case atom.Body:
		r.enterBody()
		return
	}
	if r.foreign == 0 && isRawText(name) {
		s.raw = name
	}
	if !r.inBody && !belongsToHead(name) && r.page.Elements[r.top()].Flags&Unseen == 0 {
		r.enterBody()
	}
	r.imply(name)
	if isBlock(name) || separates(name) {
		r.separate(name)
	}
	if name == atom.Br {
		r.breakLine()
	}
	if isMetadata(name) {
		r.metadata(name, &a)
	}
	number := r.push(r.element(name, &a), unknown)
	r.reference(name, number, &a)
	r.anchor(name, number, &a)
	r.time(number, &a)
	if a.language != "" {
		if r.page.Languages == nil {
			r.page.Languages = make(map[int32]string)
		}
		r.page.Languages[number] = a.language
	}
	switch {
	case isVoid(name), s.selfClosing && (r.foreign > 0 || isForeign(name)):
		r.leave()
	case len(r.open) > MaxNesting:
		if r.unopened == nil {
			r.unopened = make(map[atom.Atom]int)
		}
		r.unopened[name]++
		r.leave()
	default:
		switch {
		case isForeign(name):
			r.foreign++
		case isBold(name):
			r.bold++
		case name == atom.Title && r.foreign == 0 && r.page.Title == "" && len(r.title) == 0:
			r.inTitle = true
		case name == atom.Style:
			around := r.page.Elements[r.page.Elements[number].Parent].Flags // a template or noscript may be around
			r.isStyle = r.foreign == 0 && around&(Unseen|NoScript) == 0 && (a.media == "" || a.media == "all" || a.media == "screen") && r.isStatic()
		case name == atom.Script:
			r.isData = strings.Contains(a.kind, "ld+json")
			r.page.Scripts++
		}
	}
}

// leave closes an element directly after its start tag: one that cannot have content, such as br,
// or one beyond MaxNesting.
func (r *reader) leave() {
	at := len(r.open) - 1
	r.open, r.unknown = r.open[:at], r.unknown[:at]
	if n := len(r.links); n > 0 && r.page.References[r.links[n-1]].Element == int32(len(r.page.Elements)-1) {
		r.links = r.links[:n-1]
	}
}

func (r *reader) end(raw []byte) {
	name := atom.Lookup(raw)
	if r.unopened[name] > 0 {
		r.unopened[name]--
		return
	}
	switch name {
	case atom.Head:
		r.enterBody()
		return
	case atom.Html, atom.Body:
		return
	case atom.Br:
		r.breakLine()
		return
	}
	for i := len(r.open) - 1; i > 0; i-- {
		r.steps++
		open := r.name(i)
		if open == name && (name != 0 || r.unknown[i] == string(raw)) {
			if open == atom.Body {
				return
			}
			r.close(i)
			return
		}
		if open == atom.Table || isCell(open) && !isTablePart(name) || open == atom.Body {
			return
		}
	}
}

// imply ends the open elements that a start tag ends implicitly. Example: the tag <li> ends an open
// li.
func (r *reader) imply(name atom.Atom) {
	if !impliesEnds(name) {
		return
	}
	for i := len(r.open) - 1; i > 0; i-- {
		r.steps++
		open := r.name(i)
		if open == atom.Body {
			return
		}
		if endsAt(name, open) {
			r.close(i)
		} else if isBarrier(name, open) {
			return
		}
	}
}

// text adds the text of a token to the page's text, to its title or to its JSON-LD, depending on
// the element around the token. From a style element it reads which elements are hidden, if the page has
// no scripts. It leaves out other scripts.
func (r *reader) text(data []byte) {
	if r.inTitle {
		r.title = appendFolded(r.title, data)
		return
	}
	e := &r.page.Elements[r.top()]
	switch e.Name {
	case atom.Script:
		if r.isData {
			fits := min(len(data), MaxData-r.data)
			r.script = append(r.script, data[:fits]...)
			r.data += fits
			r.page.Cut.Data += len(data) - fits
		}
		return
	case atom.Style:
		if r.isStyle {
			r.styles.Read(data)
		}
		return
	case atom.Html, atom.Noscript:
		if len(bytes.TrimSpace(data)) == 0 {
			return
		}
		inHead := !r.inBody
		if r.enterBody(); inHead && e.Name == atom.Noscript {
			r.push(r.element(atom.Noscript, &attributes{}), "") // its end tag is still to come
		}
		e = &r.page.Elements[r.top()]
	}
	if e.Flags&Unseen != 0 {
		return
	}
	if e.Flags&Preformed != 0 {
		r.preformed(data, e.Flags)
		return
	}
	if r.block < 0 && isBlank(data) {
		return
	}
	r.folded(data, e.Flags)
}

func isBlank(data []byte) bool {
	for _, c := range data {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// into returns the block to which the next text belongs: the open block, or a new one. The
// parameter flags has the flags of the text. A new block begins if no block is open, or if the text
// and the open block differ in the flag Hidden or NoScript.
func (r *reader) into(flags Flags) *Block {
	if r.block >= 0 {
		b := &r.page.Blocks[r.block]
		if (b.Flags^flags)&(Hidden|NoScript) == 0 {
			return b
		}
		r.endBlock()
	}
	p := r.page
	if n := len(p.Text); n > 0 && p.Text[n-1] != '\n' {
		p.Text = append(p.Text, '\n')
	}
	r.spaced, r.lineBroken, r.lastLink = false, false, false
	at := r.top()
	for at > 0 && !isBlock(p.Elements[at].Name) {
		r.steps++
		at = p.Elements[at].Parent
	}
	start := int32(len(p.Text))
	r.block = len(p.Blocks)
	p.Blocks = append(p.Blocks, Block{Start: start, End: start, Element: at, Flags: flags})
	// Elements that were opened since the last text begin here.
	for i := len(r.open) - 1; i >= 0; i-- {
		r.steps++
		e := &p.Elements[r.open[i]]
		if e.Start >= start-1 {
			e.Start = start
		} else {
			break
		}
	}
	for i := len(r.links) - 1; i >= 0; i-- {
		r.steps++
		if l := &p.References[r.links[i]]; l.Start == start-1 {
			l.Start = start
		}
	}
	return &p.Blocks[r.block]
}

func (r *reader) folded(data []byte, flags Flags) {
	var b *Block
	for i := 0; i < len(data); {
		if size := spaceAt(data[i:]); size > 0 {
			r.spaced = true
			i += size
			continue
		}
		end := i + runLength(data[i:])
		if b == nil {
			b = r.into(flags)
		}
		r.run(b, data[i:end], flags)
		i = end
	}
	if b != nil {
		b.End = int32(len(r.page.Text))
	}
}

// run appends words to block b. The words already have single spaces between them.
func (r *reader) run(b *Block, words []byte, flags Flags) {
	p := r.page
	before := len(p.Text)
	if n := before; n > int(b.Start) {
		switch {
		case r.lineBroken:
			p.Text = append(p.Text, '\n')
		case r.spaced, r.lastLink && flags&Linked != 0:
			p.Text = append(p.Text, ' ')
		}
	}
	r.spaced, r.lineBroken, r.lastLink = false, false, false
	p.Text = append(p.Text, words...)
	if flags&Linked != 0 {
		b.Linked += int32(len(p.Text) - before)
	}
	if r.bold > 0 {
		b.Emphasized += int32(len(p.Text) - before)
	}
}

// Classes of bytes, by which white space is found fast. A byte of class space is white space, and
// one of class inWord is not. If a byte is of class maybeSpace, the whole character that it begins
// must be looked at.
const (
	inWord = iota
	space
	maybeSpace // first byte of a character that may be white space, such as U+00A0
)

var byteKinds = [256]uint8{
	' ': space, '\t': space, '\n': space, '\v': space, '\f': space, '\r': space,
	0xC2: maybeSpace, 0xE1: maybeSpace, 0xE2: maybeSpace, 0xE3: maybeSpace, 0xEF: maybeSpace,
}

// runLength returns the length of the longest prefix of a text whose words are separated by single
// spaces. This prefix can be copied as it is.
func runLength(text []byte) int {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case byteKinds[c] == inWord:
		case c == ' ' && i+1 < len(text) && byteKinds[text[i+1]] == inWord: // by far the most spaces
			i++
		case spaceAt(text[i:]) == 0:
		case c != ' ' || i+1 == len(text) || spaceAt(text[i+1:]) > 0:
			return i
		}
	}
	return len(text)
}

// spaceAt returns the length in bytes of the white space character at the beginning of a text; 0 if
// there is none.
func spaceAt(text []byte) int {
	switch byteKinds[text[0]] {
	case space:
		return 1
	case maybeSpace:
		if c, n := utf8.DecodeRune(text); unicode.IsSpace(c) || c == '\u200b' || c == '\ufeff' {
			return n
		}
	}
	return 0
}

// preformed adds a text to the page with its white space unchanged, as in pre.
func (r *reader) preformed(data []byte, flags Flags) {
	if r.block < 0 {
		data = bytes.TrimLeft(data, "\r\n")
		if isBlank(data) {
			return
		}
	}
	b := r.into(flags)
	p := r.page
	before := len(p.Text)
	if r.lineBroken && before > int(b.Start) {
		p.Text = append(p.Text, '\n')
	}
	r.lineBroken, r.spaced, r.lastLink = false, false, false
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\r')
		if end < 0 {
			p.Text = append(p.Text, data...)
			break
		}
		p.Text = append(p.Text, data[:end]...)
		data = data[end+1:]
		if len(data) == 0 || data[0] != '\n' {
			p.Text = append(p.Text, '\n')
		}
	}
	b.End = int32(len(p.Text))
	if flags&Linked != 0 {
		b.Linked += int32(len(p.Text) - before)
	}
}

func (r *reader) breakLine() {
	if r.block >= 0 {
		r.lineBroken = true
	}
}

// endBlock ends the open block, if there is one, and removes the white space at its end.
func (r *reader) endBlock() {
	if r.block < 0 {
		return
	}
	p := r.page
	b := &p.Blocks[r.block]
	p.Text = bytes.TrimRight(p.Text, " \t\n")
	b.End = int32(len(p.Text))
	r.block = -1
	r.spaced, r.lineBroken, r.lastLink = false, false, false
}

func appendFolded(to, data []byte) []byte {
	for word := range bytes.FieldsSeq(data) {
		if len(to) > 0 {
			to = append(to, ' ')
		}
		to = append(to, word...)
	}
	return to
}
