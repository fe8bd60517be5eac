package fingerprint

import (
	"iter"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// wordHashes yields a hash of each word of a text, in lower case. A word is a run of letters, marks
// and digits, or one letter of a script without spaces between words.
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

// lowerASCII maps ASCII letters to lower case, digits to themselves, all else to 0.
var lowerASCII = func() (table [utf8.RuneSelf]byte) {
	for c := range byte(utf8.RuneSelf) {
		if r := rune(c); unicode.IsLetter(r) || unicode.IsDigit(r) {
			table[c] = byte(unicode.ToLower(r))
		}
	}
	return table
}()

// unspaced are the letters of scripts without spaces between words.
var unspaced = rangetable.Merge(unicode.Han, unicode.Hiragana, unicode.Katakana,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)

// lower returns a rune in lower case, or 0 if it cannot be in a word. The result alone is true if
// the rune is a whole word: a letter of a script without spaces between words, such as Chinese.
func lower(r rune) (_ rune, alone bool) {
	switch {
	case r >= '\u0E00' && unicode.Is(unspaced, r): // Thai has the lowest code points of these scripts
		return r, true
	case unicode.In(r, unicode.L, unicode.M, unicode.N):
		return unicode.ToLower(r), false
	}
	return 0, false
}
