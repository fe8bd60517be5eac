package fingerprint

import (
	"iter"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

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
