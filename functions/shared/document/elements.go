package document

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
	"golang.org/x/text/unicode/rangetable"
)

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

// isMetadata reports whether an element may say something of the page.
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

// endsAt reports whether the start tag of one element ends an open other.
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

// isBarrier reports whether a start tag ends nothing beyond an open element.
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

// isBlock reports whether an element begins and ends a line of text.
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

func isHeading(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

// isUnseen reports whether a browser shows nothing of an element's contents.
func isUnseen(a atom.Atom) bool {
	switch a {
	case atom.Head, atom.Script, atom.Style, atom.Template, atom.Datalist, atom.Iframe, atom.Textarea, atom.Select:
		return true
	}
	return false
}

// fold joins the words of a text by one space.
func fold(s string) string {
	if isFolded(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// isFolded reports whether a text is ASCII without white space but for one
// space between words, as most are.
func isFolded(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == ' ' && last == ' ' {
			return false
		}
		last = s[i]
	}
	return s == "" || last != ' '
}

// cut returns the first n bytes of a text, fewer where a rune would be split.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimSpace(s[:n])
}

// wordHashes yields the hash of each word of a text in lower case: a run of
// letters, marks and digits, or one letter of a script that sets no spaces
// between words.
func wordHashes(text string) iter.Seq[uint64] {
	const offset, prime = 0xCBF29CE484222325, 0x100000001B3 // FNV-1a
	return func(yield func(uint64) bool) {
		hash := uint64(offset)
		for _, r := range text {
			alone := false
			if r < utf8.RuneSelf {
				r = rune(lowerASCII[r])
			} else {
				r, alone = lower(r)
			}
			if r != 0 && !alone {
				hash = (hash ^ uint64(r)) * prime
				continue
			}
			if hash != offset && !yield(hash) || alone && !yield((offset^uint64(r))*prime) {
				return
			}
			hash = offset
		}
		if hash != offset {
			yield(hash)
		}
	}
}

// lowerASCII holds letters in lower case and digits, and 0 for all else.
var lowerASCII = func() (table [utf8.RuneSelf]byte) {
	for c := range byte(utf8.RuneSelf) {
		if r := rune(c); unicode.IsLetter(r) || unicode.IsDigit(r) {
			table[c] = byte(unicode.ToLower(r))
		}
	}
	return table
}()

// unspaced are the scripts that set no spaces between words.
var unspaced = rangetable.Merge(unicode.Han, unicode.Hiragana, unicode.Katakana,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)

// lower returns a rune in lower case, 0 if it is no part of a word, and
// whether it is a word of its own.
func lower(r rune) (_ rune, alone bool) {
	switch {
	case r >= '\u0E00' && unicode.Is(unspaced, r): // Thai is the first of them
		return r, true
	case unicode.In(r, unicode.L, unicode.M, unicode.N):
		return unicode.ToLower(r), false
	}
	return 0, false
}
