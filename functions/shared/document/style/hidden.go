package style

import (
	"bytes"
	"slices"
)

// Limits on what Hidden keeps of style sheets.
const (
	maxSheets = 256 << 10 // greatest size of all sheets together, in bytes; the rest is not read
	maxNames  = 1000      // greatest number of selectors that hide elements, and of names in other selectors
)

// Hidden knows which elements the style sheets of a page hide. It understands selectors of a class
// (.note), of an id (#note), and of an element with a class (p.note), outside of @media and other
// at-rules. Rules with other selectors hide nothing.
//
// What a sheet hides may be shown again, after a click or when the window is wide:
//
//	.tab { display: none }   .tab.active { display: block }
//
// So an element is not hidden by its class or id if the sheets set display or visibility to another
// value in any rule whose selector has this class or id. The zero Hidden hides nothing.
type Hidden struct {
	selectors map[string]bool // selectors that hide elements, such as "p.note", with the element in lower case
	shown     map[string]bool // classes and ids that other rules show, such as ".note"
	size      int             // bytes of the sheets read so far
}

// Read adds the rules of a style sheet, in time linear in its size.
func (h *Hidden) Read(sheet []byte) {
	sheet = sheet[:min(len(sheet), maxSheets-h.size)]
	h.size += len(sheet)
	groups := 0 // number of open blocks of at-rules
	start := 0  // of the selector that is being read
	for i := 0; i < len(sheet); {
		switch c := sheet[i]; c {
		case '{':
			selector := bytes.TrimSpace(withoutComments(sheet[start:i]))
			if bytes.HasPrefix(selector, []byte("@")) {
				groups++
				i++
			} else {
				end := endOfBlock(sheet, i+1)
				h.rule(selector, sheet[i+1:end], groups > 0)
				i = min(end+1, len(sheet))
			}
			start = i
		case '}':
			groups = max(0, groups-1)
			i++
			start = i
		case ';':
			i++
			start = i
		default:
			i = next(sheet, i)
		}
	}
}

// rule adds one rule to h. The parameter conditional says whether it is in the block of an at-rule, such
// as @media.
func (h *Hidden) rule(selectors, declarations []byte, conditional bool) {
	flat := flattened(withoutComments(declarations))
	hides := hasDeclaration(flat, "display:none") || hasDeclaration(flat, "visibility:hidden")
	if !hides && !hasDeclaration(flat, "display:") && !hasDeclaration(flat, "visibility:") {
		return
	}
	for selector := range bytes.SplitSeq(selectors, []byte(",")) {
		selector = bytes.TrimSpace(selector)
		name := nameIn(selector)
		switch {
		case hides && !conditional && name != "" && len(h.selectors) < maxNames:
			if h.selectors == nil {
				h.selectors = make(map[string]bool)
			}
			h.selectors[name] = true
		case !hides:
			h.show(selector)
		}
	}
}

// show notes the classes and ids in a selector, whose elements may be shown.
func (h *Hidden) show(selector []byte) {
	if h.shown == nil {
		h.shown = make(map[string]bool)
	}
	for i := 0; i < len(selector); i++ {
		if c := selector[i]; c != '.' && c != '#' {
			continue
		}
		if _, end := identifier(selector, i+1); len(h.shown) < maxNames {
			h.shown[string(selector[i:end])] = true
		} else {
			h.selectors = nil // which of them are shown is not known any more
		}
	}
}

// Hides reports whether the sheets hide an element with the given name in lower case, the value of its
// attribute class, and its id.
func (h *Hidden) Hides(element string, class []byte, id string) bool {
	if len(h.selectors) == 0 {
		return false
	}
	hides := func(before, name string) bool { return h.selectors[before+name] && !h.shown[name] }
	if id != "" && hides("", "#"+id) {
		return true
	}
	for word := range bytes.FieldsSeq(class) {
		if name := "." + string(word); hides("", name) || hides(element, name) {
			return true
		}
	}
	return false
}

// nameIn returns a selector as in Hidden.selectors; "" if it is none that Hidden understands.
func nameIn(selector []byte) string {
	at := bytes.IndexAny(selector, ".#")
	if at < 0 || at > 0 && selector[at] == '#' {
		return ""
	}
	if slices.ContainsFunc(selector[:at], func(c byte) bool { return !isName(c) }) || at+1 == len(selector) ||
		slices.ContainsFunc(selector[at+1:], func(c byte) bool { return !isName(c) }) {
		return ""
	}
	return string(bytes.ToLower(selector[:at])) + string(selector[at:])
}

// endOfBlock returns the offset of the } that ends the block in which the offset i is; len(sheet) if
// there is none.
func endOfBlock(sheet []byte, i int) int {
	for depth := 0; i < len(sheet); i = next(sheet, i) {
		switch sheet[i] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return len(sheet)
}

// next returns the offset after the comment, string, escape or other byte at offset i.
func next(sheet []byte, i int) int {
	switch c := sheet[i]; {
	case c == '"' || c == '\'':
		_, end := quoted(sheet, i)
		return max(end, i+1)
	case c == '\\':
		return min(i+2, len(sheet))
	case c == '/' && i+1 < len(sheet) && sheet[i+1] == '*':
		end := bytes.Index(sheet[i+2:], []byte("*/"))
		if end < 0 {
			return len(sheet)
		}
		return i + end + 4
	}
	return i + 1
}

// withoutComments returns a piece of a sheet without its comments.
func withoutComments(piece []byte) []byte {
	if !bytes.Contains(piece, []byte("/*")) {
		return piece
	}
	var rest []byte
	for i := 0; i < len(piece); {
		end := next(piece, i)
		if piece[i] != '/' || end == i+1 {
			rest = append(rest, piece[i:end]...)
		}
		i = end
	}
	return rest
}

// flattened returns declarations in lower case and without white space.
func flattened(declarations []byte) []byte {
	flat := make([]byte, 0, len(declarations))
	for _, c := range declarations {
		if c > ' ' {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			flat = append(flat, c)
		}
	}
	return flat
}

// hasDeclaration reports whether flattened declarations have one that begins with the given text.
func hasDeclaration(flat []byte, text string) bool {
	return bytes.HasPrefix(flat, []byte(text)) || bytes.Contains(flat, []byte(";"+text))
}
