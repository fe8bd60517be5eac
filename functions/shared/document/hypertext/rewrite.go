package hypertext

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/atom"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/style"
)

// Use is the purpose of an address in a page.
type Use uint8

// The uses of addresses.
const (
	ToPage  Use = iota // a link to the address, or a frame that shows it
	ToAsset            // a file that is loaded to show the page: an image, a style sheet, a script, a font, an icon
	ToOther            // any other address: of a video, or of the target of a form
	ToBase             // the base element, against whose address relative addresses are resolved
)

// Address is an address as a page has it, without white space around it.
type Address struct {
	URL string
	Use Use
	Rel string // for an asset, the attribute rel of its link element, or "script"; "" for an image or a font
}

// Rewriter replaces the addresses in HTML. The charset of the HTML must contain ASCII, as UTF-8 and
// Latin-1 do.
type Rewriter struct {
	Replace func(Address) string
	Decode  func(value []byte) []byte // decodes a value from the charset of the HTML; nil for UTF-8
	// Detach renames attributes that would keep browsers from showing a copy of the page on
	// another server: integrity, crossorigin, and the http-equiv of a Content-Security-Policy.
	Detach bool

	markup []byte
	out    []byte // result so far: markup[:copied] with new addresses
	copied int
}

// Rewrite returns markup with its addresses replaced, also those in style elements and style
// attributes. All other bytes stay the same. If nothing changes, the result is the argument itself.
func (w *Rewriter) Rewrite(markup []byte) []byte {
	w.markup, w.out, w.copied = markup, nil, 0
	s := scanner{markup: markup}
	foreign, inStyle := 0, false
	for {
		s.cdata = foreign > 0
		switch s.next() {
		case endOfMarkup:
			if w.out == nil {
				return markup
			}
			return append(w.out, markup[w.copied:]...)
		case textToken:
			if inStyle {
				w.edit(w.at(s.text), len(s.text), style.Rewrite(s.text, w.inStyle))
			}
			inStyle = false
		case startTag:
			name := string(s.name)
			opensForeign := name == "svg" || name == "math"
			if opensForeign && !s.selfClosing {
				foreign++
			}
			if foreign == 0 && isRawText(atom.Lookup(s.name)) {
				s.raw = atom.Lookup(s.name)
			}
			inStyle = name == "style"
			w.tag(name, s.attributes)
		case endTag:
			inStyle = false
			if name := string(s.name); foreign > 0 && (name == "svg" || name == "math") {
				foreign--
			}
		}
	}
}

// at returns the offset of a part in w.markup. The part must be a slice of w.markup and no copy.
// Then the capacities of both end at the same byte in memory, so that the difference of the
// capacities is the offset.
func (w *Rewriter) at(part []byte) int { return cap(w.markup) - cap(part) }

// edit replaces a part of the markup by other bytes. The part is given by its offset and length.
// edit does nothing if the bytes are the same.
func (w *Rewriter) edit(from, length int, by []byte) {
	if bytes.Equal(w.markup[from:from+length], by) {
		return
	}
	w.out = append(append(w.out, w.markup[w.copied:from]...), by...)
	w.copied = from + length
}

func (w *Rewriter) inStyle(url string, isSheet bool) string {
	a := Address{URL: string(w.decoded([]byte(url))), Use: ToAsset}
	if isSheet {
		a.Rel = "stylesheet"
	}
	return w.replaced(a, url)
}

// replaced returns what w.Replace returns for an address. If w.Replace does not change the URL of
// the address, replaced returns the address as it is written in the markup, so that the markup
// stays the same.
func (w *Rewriter) replaced(a Address, written string) string {
	if by := w.Replace(a); by != a.URL {
		return by
	}
	return written
}

func (w *Rewriter) decoded(value []byte) []byte {
	if w.Decode == nil {
		return value
	}
	return w.Decode(value)
}

// tag replaces the addresses in the attributes of a start tag, and renames attributes if w.Detach
// is true.
func (w *Rewriter) tag(name string, written []rawAttribute) {
	var rel, pragma string
	for _, a := range written {
		switch strings.ToLower(string(a.name)) {
		case "rel":
			rel = strings.ToLower(string(a.value))
		case "http-equiv":
			pragma = strings.ToLower(string(bytes.TrimSpace(a.value)))
		}
	}
	for _, a := range written {
		attribute := strings.ToLower(string(a.name))
		if w.Detach && (attribute == "integrity" || attribute == "crossorigin" || attribute == "http-equiv" && strings.HasPrefix(pragma, "content-security-policy")) {
			w.edit(w.at(a.name), len(a.name), []byte("data-"+attribute))
			continue
		}
		if len(a.value) == 0 {
			continue
		}
		use, found := useOf(name, attribute, rel)
		switch {
		case attribute == "style":
			w.value(a.value, func(value string) string { return string(style.Rewrite([]byte(value), w.inStyle)) })
		case attribute == "srcset" && (name == "img" || name == "source"), attribute == "imagesrcset":
			w.value(a.value, w.candidates)
		case name == "meta" && attribute == "content" && pragma == "refresh":
			w.value(a.value, w.refresh)
		case found:
			asset := ""
			switch {
			case use != ToAsset:
			case name == "link":
				asset = rel
			case name == "script":
				asset = name
			}
			w.value(a.value, func(value string) string { return w.Replace(Address{strings.TrimSpace(value), use, asset}) })
		}
	}
}

// useOf returns the purpose of the address in an attribute, such as ToPage for the address of a link.
// The parameter name is the name of the element, attribute the name of the attribute, and rel the
// value of the element's attribute rel. The result found is false if the attribute holds no address
// that is to be replaced.
func useOf(name, attribute, rel string) (use Use, found bool) {
	switch name + " " + attribute {
	case "a href", "area href", "iframe src", "frame src", "a xlink:href":
		return ToPage, true
	case "script src", "img src", "input src", "video poster", "body background", "table background", "td background",
		"th background", "tr background", "image href", "image xlink:href", "use href", "use xlink:href":
		return ToAsset, true
	case "video src", "audio src", "source src", "track src", "embed src", "object data", "form action", "button formaction", "input formaction":
		return ToOther, true
	case "base href":
		return ToBase, true
	case "link href":
		for word := range strings.FieldsSeq(rel) {
			switch word {
			case "stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "preload", "modulepreload":
				return ToAsset, true
			case "canonical":
				return 0, false
			}
		}
		return ToPage, true
	}
	return 0, false
}

// value replaces the value of an attribute. The function rewrite gets the old value, decoded, and
// returns the new one. The parameter raw is the old value as the markup has it. It must be a slice
// of w.markup and no copy.
func (w *Rewriter) value(raw []byte, rewrite func(string) string) {
	before := string(appendDecoded(nil, w.decoded(raw), true))
	after := rewrite(before)
	if after == before || after == strings.TrimSpace(before) {
		return
	}
	from, quote := w.at(raw), byte(0)
	if from > 0 && (w.markup[from-1] == '"' || w.markup[from-1] == '\'') {
		quote = w.markup[from-1]
	}
	w.edit(from, len(raw), escaped(after, quote, w.Decode != nil))
}

// escaped returns a value as it is written in an attribute, with character references where needed.
// The parameter quote is the quotation mark around the attribute's value. A quote of 0 means that
// there are no quotation marks; then escaped adds them. If inASCII is true, escaped also writes all
// characters beyond ASCII as references.
func escaped(value string, quote byte, inASCII bool) []byte {
	var b []byte
	if quote == 0 {
		b = append(b, '"')
	}
	for _, r := range value {
		switch {
		case r == '&':
			b = append(b, "&amp;"...)
		case r == '"' && quote != '\'':
			b = append(b, "&quot;"...)
		case r == '\'' && quote == '\'':
			b = append(b, "&#39;"...)
		case inASCII && r >= utf8.RuneSelf:
			b = fmt.Appendf(b, "&#x%X;", r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	if quote == 0 {
		b = append(b, '"')
	}
	return b
}

// candidates returns the value of a srcset attribute (WHATWG HTML, 4.8.4.2.1) with each address
// replaced. Addresses are separated by commas, and each may have descriptors: "a.png 1x, b.png 2x".
func (w *Rewriter) candidates(list string) string {
	var b strings.Builder
	for list != "" {
		start := strings.TrimLeft(list, " \t\n\f\r,")
		b.WriteString(list[:len(list)-len(start)])
		end := strings.IndexAny(start, " \t\n\f\r")
		if end < 0 {
			end = len(start)
		}
		url := strings.TrimRight(start[:end], ",")
		if url != "" {
			b.WriteString(w.Replace(Address{url, ToAsset, ""}))
		}
		list = start[len(url):]
		if len(url) < end { // commas end the candidate
			continue
		}
		descriptors := endOfDescriptors(list)
		b.WriteString(list[:descriptors])
		list = list[descriptors:]
	}
	return b.String()
}

// endOfDescriptors returns how many bytes at the beginning of s are the descriptors of an address
// in a srcset, such as " 2x". They end at the first comma that is not in parentheses, or with s.
func endOfDescriptors(s string) int {
	depth := 0
	for i, c := range []byte(s) {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth = max(0, depth-1)
		case c == ',' && depth == 0:
			return i
		}
	}
	return len(s)
}

// refresh returns the content of a meta refresh, such as "5; url=a.html", with its address
// replaced.
func (w *Rewriter) refresh(content string) string {
	wait, rest, found := strings.Cut(content, ";")
	rest = strings.TrimSpace(rest)
	if !found || len(rest) < 4 || !strings.EqualFold(rest[:3], "url") {
		return content
	}
	url, found := strings.CutPrefix(strings.TrimSpace(rest[3:]), "=")
	url = strings.Trim(strings.TrimSpace(url), `"'`)
	if !found || url == "" {
		return content
	}
	if by := w.Replace(Address{url, ToPage, ""}); by != url {
		return wait + "; url=" + by
	}
	return content
}
