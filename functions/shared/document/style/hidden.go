package style

import (
	"bytes"
	"slices"
	"strings"
)

// Limits on what Hidden keeps of style sheets.
const (
	maxSheets = 256 << 10 // greatest size of all sheets together, in bytes
	maxNames  = 1000      // greatest number of selectors that hide elements, and of names in selectors that show some
)

// Hidden knows which elements the style sheets of a page hide. It understands selectors of a class
// (.note), of an id (#note), and of an element with a class (p.note), outside of @media and other
// at-rules. Rules with other selectors, or with rules inside of them, hide nothing.
//
// What a sheet hides may be shown again, after a click or when the window is wide:
//
//	.tab { display: none }      .tab.active { display: block }
//	.hidden { display: none }   @media (min-width: 768px) { .wide { display: block } }
//
// So an element is not hidden if any rule sets display or visibility to another value, and its selector
// has one of the element's classes or its id, or leads to elements of its name, such as ".menu li". No
// element is hidden if such a selector tells nothing of the elements (:target), if rules inside of others
// set these properties, or if a limit has cut off a part of the sheets. The zero Hidden hides nothing.
type Hidden struct {
	selectors map[string]bool // selectors that hide elements, such as "p.note", with the element in lower case
	shown     map[string]bool // classes, ids and elements that other rules show, such as ".note" and "li"
	size      int             // bytes of the sheets read so far
	unsure    bool            // whether any element may be shown, so that none is hidden
}

// Read adds the rules of a style sheet, in time linear in its size.
func (h *Hidden) Read(sheet []byte) {
	h.size += len(sheet)
	if h.unsure = h.unsure || h.size > maxSheets; h.unsure {
		return
	}
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
	if !bytes.Contains(flat, []byte("display:")) && !bytes.Contains(flat, []byte("visibility:")) {
		return
	}
	if bytes.IndexByte(flat, '{') >= 0 {
		h.unsure = true
		return
	}
	shown, hides := drawn(flat)
	for selector := range bytes.SplitSeq(selectors, []byte(",")) {
		selector = bytes.TrimSpace(selector)
		switch name := nameIn(selector); {
		case shown:
			h.show(selector)
		case hides && !conditional && name != "" && len(h.selectors) < maxNames:
			if h.selectors == nil {
				h.selectors = make(map[string]bool)
			}
			h.selectors[name] = true
		}
	}
}

// drawn reports whether flattened declarations set display or visibility to a value by which an element
// may be drawn, or hide it. Of several declarations of a property the last one counts.
func drawn(flat []byte) (shown, hides bool) {
	var display, visibility []byte
	for declaration := range bytes.SplitSeq(flat, []byte(";")) {
		property, value, _ := bytes.Cut(declaration, []byte(":"))
		value, _, _ = bytes.Cut(value, []byte("!"))
		switch string(property) {
		case "display":
			display = value
		case "visibility":
			visibility = value
		}
	}
	hides = string(display) == "none" || string(visibility) == "hidden"
	return !hides && len(display)+len(visibility) > 0, hides
}

// show notes which elements a selector may show: those with a class or id in it. If it ends with neither,
// as ".menu li" does, it is those with the name at its end.
func (h *Hidden) show(selector []byte) {
	for i := 0; i < len(selector); {
		if c := selector[i]; c != '.' && c != '#' {
			i++
			continue
		}
		name, end := identifier(selector, i+1)
		h.add(string(selector[i]) + name)
		i = end
	}
	last := selector[bytes.LastIndexAny(selector, " >+~")+1:]
	if bytes.ContainsAny(selector, ".#:[") && !bytes.ContainsAny(last, ".#") {
		name, _ := identifier(last, 0)
		h.add(strings.ToLower(name))
	}
}

// add adds a name to h.shown; "" stands for any element.
func (h *Hidden) add(name string) {
	if h.unsure = h.unsure || name == "" || len(h.shown) >= maxNames; h.unsure {
		return
	}
	if h.shown == nil {
		h.shown = make(map[string]bool)
	}
	h.shown[name] = true
}

// Hides reports whether the sheets hide an element with the given name in lower case, the value of its
// attribute class, and its id.
func (h *Hidden) Hides(element string, class []byte, id string) bool {
	if len(h.selectors) == 0 || h.unsure || h.shown[element] || h.shown["#"+id] {
		return false
	}
	hides := h.selectors["#"+id]
	for word := range bytes.FieldsSeq(class) {
		name := "." + string(word)
		if h.shown[name] {
			return false
		}
		hides = hides || h.selectors[name] || h.selectors[element+name]
	}
	return hides
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
