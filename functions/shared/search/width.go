package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// columnsOf returns how many columns a character takes in a font of fixed width (Unicode Standard
// Annex #11): two for a wide character (such as a Chinese one), none for a character that is drawn
// together with its neighbour (such as an accent), and one for all others.
func columnsOf(r rune) int {
	if r < 0x300 { // Latin; with no more than this, the function is short enough to be inlined
		return 1
	}
	return columnsBeyondLatin(r)
}

func columnsBeyondLatin(r rune) int {
	switch {
	case 0x370 <= r && r <= 0x482: // Greek, Cyrillic
		return 1
	case 0x3400 <= r && r <= 0x9FFF || 0xAC00 <= r && r <= 0xD7A3: // Chinese characters, Korean syllables
		return 2
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// widthOf returns the width of a text in columns. If the width exceeds the parameter most, widthOf
// stops counting and returns some number above most.
func widthOf(text string, most int) (n int) {
	for _, r := range text {
		if n += columnsOf(r); n > most {
			break
		}
	}
	return n
}

// columnBytes limits the size of a text that is shown: it has at most this many bytes for each
// column of its width. This bounds the number of accents on a letter.
const columnBytes = 8

// ahead returns the end of the longest excerpt of a text that begins at a given offset and has at most n
// columns, and at most columnBytes·n bytes.
func ahead(text string, at, n int) int {
	for most := at + columnBytes*n; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if n -= columnsOf(r); n < 0 || at+size > most {
			break
		}
		at += size
	}
	return at
}

// startOf returns the start of the longest excerpt of a text that ends at a given offset and has at most n
// columns, and at most columnBytes·n bytes.
func startOf(text string, at, n int) int {
	for least := at - columnBytes*n; at > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if n -= columnsOf(r); n < 0 || at-size < least {
			break
		}
		at -= size
	}
	return at
}
