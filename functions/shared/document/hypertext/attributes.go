package hypertext

import (
	"bytes"
	"sync"

	"golang.org/x/net/html/atom"
)

// attributes holds the values of those attributes of a start tag that matter to the reader.
type attributes struct {
	reader *reader

	own                                    Words
	language                               string // programming language, from a class such as language-go
	hidden, navigation, main               bool
	panel                                  bool // content of a tab (role=tabpanel), which readers open, so that it never counts as hidden
	undrawn                                bool // not drawn by browsers, because of the attribute hidden or style, or a style element; aria-hidden does not say so
	class, style                           []byte
	media                                  string
	href, src, alt, title, rel, lang, kind string
	id, name, property, pragma, content    string
	hreflang, item, datetime               string
	hasHref, hasSrc                        bool
}

// read reads the attributes of the start tag of an element with the given name.
func (a *attributes) read(element atom.Atom, written []rawAttribute) {
	for i := range written {
		name, value := a.reader.scanner.lower(written[i].name), written[i].value
		switch string(name) {
		case "class", "id", "role", "itemprop", "data-testid":
			a.words(string(name), value)
			switch string(name) {
			case "class":
				a.class = value[:min(len(value), maxClass)]
			case "id":
				a.set(&a.id, value)
			case "itemprop":
				a.set(&a.item, value)
			}
		case "itemtype", "aria-label":
			a.own.Add(value[:min(len(value), maxClass)])
		case "hidden":
			a.undrawn = a.undrawn || !bytes.EqualFold(bytes.TrimSpace(value), []byte("until-found"))
		case "aria-hidden":
			a.hidden = a.hidden || string(bytes.TrimSpace(value)) == "true"
		case "style":
			a.undrawn = a.undrawn || hides(value)
			a.style = value
		case "href":
			a.set(&a.href, value)
			a.hasHref = true
		case "src":
			a.set(&a.src, value)
			a.hasSrc = true
		case "alt":
			a.set(&a.alt, value)
		case "title":
			a.set(&a.title, value)
		case "rel":
			a.set(&a.rel, value)
		case "datetime":
			a.set(&a.datetime, value)
		case "hreflang":
			a.set(&a.hreflang, value)
		case "media":
			a.set(&a.media, value)
		case "lang":
			a.set(&a.lang, value)
		case "type":
			a.set(&a.kind, value)
		case "name":
			a.set(&a.name, value)
		case "property":
			a.set(&a.property, value)
		case "http-equiv":
			a.set(&a.pragma, value)
		case "content":
			a.set(&a.content, value)
		}
	}
	if !a.undrawn && a.reader.styles.Hides(element.String(), a.class, a.id) { // the attribute style outweighs style elements
		own := bytes.ToLower(a.style)
		a.undrawn = !bytes.Contains(own, []byte("display")) && !bytes.Contains(own, []byte("visibility"))
	}
	a.hidden = (a.hidden || a.undrawn) && !a.panel
}

// set stores the text of an attribute's value in a variable that is still empty. It does nothing if
// the variable has a text already.
func (a *attributes) set(to *string, value []byte) {
	if *to != "" {
		return
	}
	if len(value) > MaxValue && to != &a.lang && !bytes.HasPrefix(value, []byte("data:")) {
		a.reader.page.Cut.Values++ // a lang attribute of that length names no language
	}
	value = value[:min(len(value), MaxValue)]
	if bytes.IndexByte(value, '&') >= 0 {
		value = appendDecoded(nil, value, true)
	}
	*to = string(bytes.TrimSpace(value))
}

// classMeaning is what the words of an attribute such as class say about the purpose of its
// element.
type classMeaning struct {
	words      Words
	navigation bool // whether an element with these words in its class or id is navigation
	language   string
}

// maxClasses is the greatest number of attribute values in one cache (see classCaches). A full cache is emptied.
const maxClasses = 1 << 12

// classCaches has caches that map the value of an attribute such as class to its meaning. A cache is used for one
// page after another, because the pages of a site have the same classes. Only one goroutine at a time uses a
// cache.
var classCaches = sync.Pool{New: func() any { return make(map[string]classMeaning) }}

// words reads the value of an attribute class, id, role, itemprop or data-testid as a list of words.
// It notes what they say about the purpose of the element, for example that it is navigation.
func (a *attributes) words(name string, value []byte) {
	value = value[:min(len(value), maxClass)]
	var says classMeaning
	if name == "id" { // few elements have the same id
		says = a.reader.meaning(value)
	} else {
		says = a.reader.cached(value)
	}
	a.own |= says.words
	if name == "class" {
		a.language = says.language
	}
	switch name {
	case "class", "id":
		a.navigation = a.navigation || says.navigation
	case "role":
		switch string(bytes.ToLower(bytes.TrimSpace(value))) {
		case "navigation", "banner", "contentinfo", "complementary", "menu", "menubar", "search":
			a.navigation = true
		case "main":
			a.main = true
		case "tabpanel":
			a.panel = true
		}
	}
}

// cached returns the meaning of an attribute's value, from the cache if it is there.
func (r *reader) cached(value []byte) classMeaning {
	m, found := r.classes[string(value)]
	if !found {
		m = r.meaning(value)
		if len(r.classes) >= maxClasses {
			clear(r.classes)
		}
		r.classes[string(value)] = m
	}
	return m
}

// meaning returns the meaning of an attribute's value, which is a list of words.
func (r *reader) meaning(value []byte) (m classMeaning) {
	m.words.Add(value)
	for word := range bytes.FieldsSeq(value) {
		m.navigation = m.navigation || saysNavigation(r.scanner.lower(word))
		if m.language == "" {
			m.language = languageIn(word)
		}
	}
	return m
}

// languageIn returns the programming language that a word of a class attribute names, such as go
// for "language-go"; "" if it names none.
func languageIn(class []byte) string {
	for _, prefix := range [...]string{"language-", "lang-", "highlight-source-", "highlight-", "sourceCode-", "brush:"} {
		rest, found := bytes.CutPrefix(class, []byte(prefix))
		if !found {
			continue
		}
		switch language := string(bytes.ToLower(rest)); {
		case len(language) > 20:
		case language == "default", language == "none", language == "text", language == "plain", language == "plaintext":
		default:
			return language
		}
	}
	return ""
}

// hides reports whether a style attribute with this value hides its element, as "display: none"
// does.
func hides(style []byte) bool {
	if len(style) < len("font-size:0") {
		return false
	}
	flat := make([]byte, 0, 64)
	for _, c := range style[:min(len(style), 512)] {
		if c > ' ' {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			flat = append(flat, c)
		}
	}
	if bytes.Contains(flat, []byte("display:none")) || bytes.Contains(flat, []byte("visibility:hidden")) {
		return true
	}
	if bytes.Contains(flat, []byte("position:absolute")) && (bytes.Contains(flat, []byte("left:-999")) || bytes.Contains(flat, []byte("top:-999"))) {
		return true // far outside of the window
	}
	_, size, found := bytes.Cut(flat, []byte("font-size:0"))
	return found && (len(size) == 0 || size[0] != '.' && (size[0] < '0' || size[0] > '9'))
}

func saysNavigation(word []byte) bool {
	switch string(word) {
	case "footer", "menu", "related", "toc", "contents", "pager", "pagination":
		return true
	}
	for _, prefix := range [...]string{"has-", "with-", "no-"} { // such a class says something of another element
		if bytes.HasPrefix(word, []byte(prefix)) {
			return false
		}
	}
	for _, prefix := range [...]string{"nav", "breadcrumb", "sidebar", "topbar", "toolbar"} {
		if bytes.HasPrefix(word, []byte(prefix)) {
			return true
		}
	}
	for _, suffix := range [...]string{"sidebar", "-nav", "_nav", "-menu", "_menu", "navigation", "navbar"} {
		if bytes.HasSuffix(word, []byte(suffix)) {
			return true
		}
	}
	return false
}

// element returns the Element for a start tag with the given name and attributes. It sets only the
// fields Name, Own and Flags.
func (r *reader) element(name atom.Atom, a *attributes) Element {
	e := Element{Name: name, Own: a.own}
	parent := r.page.Elements[r.top()].Flags
	if a.hidden {
		e.Flags |= Hidden
	}
	if isUnseen(name) {
		e.Flags |= Unseen
	}
	if a.main || name == atom.Main {
		e.Flags |= Main
	}
	if a.navigation && name != atom.Main && name != atom.Article && name != atom.A {
		e.Flags |= Navigation
	}
	switch name {
	case atom.Nav:
		e.Flags |= InNav | Navigation
	case atom.Footer:
		e.Flags |= InFooter | Navigation
	case atom.Aside:
		e.Flags |= InAside | Navigation
	case atom.Header:
		e.Flags |= InHeader
		if parent&(InArticle|Main) == 0 {
			e.Flags |= Navigation
		}
	case atom.Article:
		e.Flags |= InArticle
	case atom.Form:
		e.Flags |= InForm
	case atom.Table:
		e.Flags |= InTable
	case atom.Ul, atom.Ol:
		e.Flags |= InList
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		e.Flags |= InHeading
	case atom.Blockquote:
		e.Flags |= InQuote
	case atom.Pre, atom.Textarea, atom.Xmp, atom.Listing:
		e.Flags |= Preformed
	case atom.A:
		if a.hasHref {
			e.Flags |= Linked
		}
	case atom.Noscript:
		e.Flags |= NoScript
	}
	return e
}

// reference appends to Page.References an element that refers to an address, such as a or img. It
// ignores other elements. The parameter number is the element's index in Page.Elements.
func (r *reader) reference(name atom.Atom, number int32, a *attributes) {
	ref := Reference{Element: number, Alt: a.alt, Title: a.title, Rel: a.rel}
	switch name {
	case atom.A, atom.Area:
		if !a.hasHref {
			return
		}
		ref.Address = a.href
	case atom.Img, atom.Frame, atom.Iframe:
		if !a.hasSrc {
			return
		}
		ref.Address = a.src
		if n := len(r.links); name == atom.Img && n > 0 && r.page.References[r.links[n-1]].Image == "" {
			r.page.References[r.links[n-1]].Image = a.alt
		}
	default:
		return
	}
	if len(r.page.References) == MaxReferences {
		r.page.Cut.References++
		return
	}
	ref.Start = int32(len(r.page.Text))
	ref.End = ref.Start
	if name == atom.A {
		r.links = append(r.links, int32(len(r.page.References)))
	}
	r.page.References = append(r.page.References, ref)
}

// anchor appends to Page.Anchors an element that has an id, and an a element that has a name. It ignores
// other elements. It also ignores elements that browsers do not draw: no address leads to them. The
// parameter number is the element's index in Page.Elements.
func (r *reader) anchor(name atom.Atom, number int32, a *attributes) {
	anchor := Anchor{Element: number, Name: a.id}
	if anchor.Name == "" && name == atom.A {
		anchor.Name = a.name
	}
	switch {
	case anchor.Name == "", a.undrawn:
	case len(r.page.Anchors) == MaxAnchors, len(anchor.Name) > MaxAnchor:
		r.page.Cut.Anchors++
	default:
		r.page.Anchors = append(r.page.Anchors, anchor)
	}
}

// time appends to Page.Times an element with the attribute datetime. It ignores other elements. The
// parameter number is the element's index in Page.Elements.
func (r *reader) time(number int32, a *attributes) {
	switch {
	case a.datetime == "", len(a.datetime) > MaxTime:
	case len(r.page.Times) == MaxTimes:
		r.page.Cut.Times++
	default:
		r.page.Times = append(r.page.Times, Time{number, a.datetime})
	}
}

// metadata records in the page what a base, link or meta element says.
func (r *reader) metadata(name atom.Atom, a *attributes) {
	switch name {
	case atom.Base:
		if r.page.Base == "" {
			r.page.Base = a.href
		}
	case atom.Link:
		if len(r.page.Links) == MaxMetas {
			r.page.Cut.Metas++
			return
		}
		r.page.Links = append(r.page.Links, Link{a.rel, a.href, a.hreflang})
	case atom.Meta:
		if len(r.page.Metas) == MaxMetas {
			r.page.Cut.Metas++
			return
		}
		item := a.item
		if r.inBody {
			item = ""
		}
		r.page.Metas = append(r.page.Metas, Meta{a.name, a.property, item, a.pragma, a.content})
	}
}
