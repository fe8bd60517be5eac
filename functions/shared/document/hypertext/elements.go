package hypertext

import "golang.org/x/net/html/atom"

// What the elements of HTML mean to the tree and to the flow of text (WHATWG
// HTML, 13.1.2.4 and 13.2.6).

func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Basefont, atom.Bgsound, atom.Br, atom.Col, atom.Embed,
		atom.Frame, atom.Hr, atom.Img, atom.Image, atom.Input, atom.Keygen, atom.Link,
		atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

func isForeign(a atom.Atom) bool { return a == atom.Svg || a == atom.Math }

func belongsToHead(a atom.Atom) bool {
	switch a {
	case atom.Base, atom.Link, atom.Meta, atom.Noscript, atom.Script, atom.Style, atom.Template, atom.Title:
		return true
	}
	return false
}

// isMetadata reports whether elements with this name hold metadata of the page: title, base, meta,
// link.
func isMetadata(a atom.Atom) bool {
	switch a {
	case atom.Base, atom.Link, atom.Meta, atom.Title:
		return true
	}
	return false
}

func isCell(a atom.Atom) bool { return a == atom.Td || a == atom.Th || a == atom.Caption }

func isTablePart(a atom.Atom) bool {
	switch a {
	case atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption:
		return true
	}
	return false
}

// endsAt reports whether a start tag ends an open element; the parameters are the names of both.
// Example: in <li>a<li>b the second start tag ends the first li.
func endsAt(start, open atom.Atom) bool {
	switch open {
	case atom.P:
		return isBlock(start) && start != atom.Td && start != atom.Th
	case atom.Li, atom.Option, atom.A, atom.Tr:
		if start == open {
			return true
		}
	case atom.Dt, atom.Dd:
		return start == atom.Dt || start == atom.Dd
	}
	switch start {
	case atom.Td, atom.Th, atom.Tr:
		return isCell(open)
	case atom.Thead, atom.Tbody, atom.Tfoot:
		return isTablePart(open) && open != atom.Table
	case atom.Optgroup:
		return open == atom.Option || open == atom.Optgroup
	}
	return false
}

// impliesEnds reports whether the start tag of an element may end open elements (see endsAt).
func impliesEnds(start atom.Atom) bool {
	return isBlock(start) || start == atom.A || start == atom.Optgroup
}

// isBarrier reports whether an open element is a barrier for a start tag: the tag does not end the
// elements around the barrier. Example: a td in an inner table does not end the td around that
// table, because the inner table is a barrier.
func isBarrier(start, open atom.Atom) bool {
	switch open {
	case atom.Table, atom.Template, atom.Object, atom.Button, atom.Svg, atom.Math:
		return true
	case atom.Td, atom.Th, atom.Caption:
		return !isTablePart(start)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dl:
		return start == atom.Li || start == atom.Dt || start == atom.Dd
	case atom.Tr, atom.Thead, atom.Tbody, atom.Tfoot:
		return !isTablePart(start)
	}
	return false
}

// isRawText reports whether the content of an element is plain text, in which only the element's
// own end tag counts as a tag, as in a script. The element noscript is not one of these, because
// pages are read as if scripts were off.
func isRawText(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Title, atom.Textarea, atom.Iframe, atom.Noembed, atom.Xmp, atom.Plaintext:
		return true
	}
	return false
}

// isBlock reports whether the text of an element begins and ends on lines of its own.
func isBlock(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption,
		atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2,
		atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Li,
		atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.Option, atom.P, atom.Pre, atom.Section,
		atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead,
		atom.Title, atom.Tr, atom.Ul, atom.Xmp:
		return true
	}
	return false
}

// IsHeading reports whether an element is h1 to h6.
func IsHeading(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

// isUnseen reports whether the content of an element is not text of the page. Browsers do not show
// such content (as in script), or show it only in a control (as in textarea).
func isUnseen(a atom.Atom) bool {
	switch a {
	case atom.Head, atom.Script, atom.Style, atom.Template, atom.Datalist, atom.Iframe, atom.Textarea, atom.Select:
		return true
	}
	return false
}
