package analysis

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// runeClass says whether a character belongs to a word or ends it.
type runeClass uint8

const (
	separator runeClass = iota // character that ends a word
	mark                       // mark such as an accent: it is a part of the character before it, and does not end a word
	link                       // zero-width space or tsheg (Tibetan): ends a word, but not a run of unspaced characters
	letter                     // letter or digit of a script with spaces
	unspaced                   // letter of a script without spaces between words
)

var (
	letters = rangetable.Merge(unicode.L, unicode.N)
	// unspacedScripts are the scripts without spaces between words. Hangul counts as one,
	// because its words are written together with their particles.
	unspacedScripts = rangetable.Merge(unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Bopomofo, unicode.Yi, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
		rangetable.New('ー', 'ｰ'))
	// ignorables are the characters that do not end a word, although they are no letters: marks,
	// such as accents, and invisible characters, such as the soft hyphen.
	ignorables = rangetable.Merge(unicode.M, unicode.Cf, unicode.Variation_Selector,
		rangetable.New('\uFF9E', '\uFF9F')) // the half-width marks for voiced and semi-voiced kana
)

// ascii holds the class of each ASCII character.
var ascii = func() (classes [utf8.RuneSelf]runeClass) {
	for c := range classes {
		if r := rune(c); 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' {
			classes[c] = letter
		}
	}
	return classes
}()

// classAt returns the class of the character at offset i and its length in bytes. The end
// of the text is a separator of length 0.
func classAt(text string, i int) (runeClass, int) {
	if i >= len(text) {
		return separator, 0
	}
	if c := text[i]; c < utf8.RuneSelf {
		return ascii[c], 1
	}
	r, width := utf8.DecodeRuneInString(text[i:])
	if r == zeroWidthNonJoiner && arabicAround(text, i, i+width) {
		return separator, width
	}
	return classOf(r), width
}

// classOf returns the class of a character. It tests the most frequent characters first.
func classOf(r rune) runeClass {
	switch {
	case isPlain(r):
		return unspaced
	case 0xC0 <= r && r < 0x250:
		if r == '×' || r == '÷' {
			return separator
		}
		return letter
	case 0x0400 <= r && r < 0x0482, 0x0620 <= r && r < 0x064B, 0x0905 <= r && r < 0x093A:
		return letter
	}
	return slowClassOf(r)
}

// slowClassOf returns the class of any character. classOf calls it for rare ones.
func slowClassOf(r rune) runeClass {
	switch {
	case r == zeroWidthSpace || r == tsheg || r == tsheg+1:
		return link
	case 0x1160 <= r && r < 0x1200 || 0xD7B0 <= r && r < 0xD800: // vowels and finals that join a Hangul syllable
		return mark
	case unicode.Is(ignorables, r):
		return mark
	case !unicode.Is(letters, r):
		return separator
	case unicode.Is(unspacedScripts, r) && !unicode.Is(unicode.Nd, r):
		return unspaced
	}
	return letter
}

// isPlain reports whether a character is a common Han, kana or Hangul character, which
// normalisation does not change.
func isPlain(r rune) bool {
	return 0x4E00 <= r && r < 0xA000 || 0xAC00 <= r && r < 0xD7A4 || 0x3041 <= r && r < 0x3097 || 0x30A1 <= r && r < 0x30FB
}

const (
	zeroWidthSpace     = '\u200B'
	zeroWidthNonJoiner = '\u200C'
	tsheg              = '\u0F0B' // mark at the end of a Tibetan syllable; U+0F0C is its form that forbids a line break
)

// arabicAround reports whether the zero-width non-joiner text[i:end] is between
// Arabic letters, where it separates the parts of a Persian word.
func arabicAround(text string, i, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return unicode.Is(unicode.Arabic, before) && unicode.Is(unicode.Arabic, after)
}

// wordEnd returns the end of the sequence of letters and marks that begins at offset i.
func wordEnd(text string, i int) int {
	for i < len(text) {
		if c := text[i]; c < utf8.RuneSelf {
			if ascii[c] != letter {
				break
			}
			i++
			continue
		}
		class, width := classAt(text, i)
		if class != letter && class != mark {
			break
		}
		i += width
	}
	return i
}

// skip returns the end of the sequence of characters of the given class that begins at offset i. If
// the character at i has another class, skip returns i.
func skip(text string, i int, of runeClass) int {
	for {
		class, width := classAt(text, i)
		if class != of || width == 0 {
			return i
		}
		i += width
	}
}
