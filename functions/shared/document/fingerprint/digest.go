package fingerprint

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// Digest holds two hashes of what a page shows to a reader, by which two versions of the page are
// compared.
//
// Text differs if any character of the title, or of the text outside of navigation, differs.
// Markup, and the kind and amount of white space, do not count. Text is 0 for a page without text.
//
// Words is the hash of the words in lower case, without punctuation. Numbers do not count. Neither
// does the word directly before or after a number in the same line. So Words stays the same when only
// a counter ("17 visitors"), an age ("3 hours ago") or today's date ("Monday, 22 November 2026")
// changes. It serves to estimate how often a page changes, not to detect every change: "99 dollars"
// and "79 euros" have the same Words. On a page where no word counts, such as a table of numbers,
// Words is 0, and does not show changes.
type Digest struct{ Text, Words uint64 }

// DigestOf returns the digest of a page's title and of the text that it shows. The text is given in
// pieces of one line or several.
func DigestOf(title []byte, pieces iter.Seq[[]byte]) Digest {
	sum, t, b := Digest{Words: digest(0, title)}, characters(0, title), uint64(0)
	for piece := range pieces {
		sum.Words, b = digest(sum.Words, piece), characters(b, piece)
	}
	if t != 0 || b != 0 {
		sum.Text = mix(t, b+1)
	}
	return sum
}

// characters mixes all characters of a text into a hash, and returns the new hash. It ignores the kind
// and amount of white space between words. If the text has no words, it returns the hash as it is.
func characters(hash uint64, text []byte) uint64 {
	for len(text) > 0 {
		if c, size := utf8.DecodeRune(text); unicode.IsSpace(c) {
			text = text[size:]
		} else {
			hash, text = wordCharacters(hash, text)
		}
	}
	return hash
}

// wordCharacters mixes the characters of the first word of a text into a hash. The text must begin with
// a word. It returns the new hash, and the text after the word.
func wordCharacters(hash uint64, text []byte) (mixed uint64, rest []byte) {
	const each = 0x01_01_01_01_01_01_01_01
	for len(text) >= 8 {
		eight := binary.LittleEndian.Uint64(text)
		// The lowest bit that is set belongs to the first byte that is no printable character of ASCII.
		other := ((eight-'!'*each)&^eight | eight) & (0x80 * each)
		if other == 0 {
			hash, text = mix(hash, eight), text[8:]
			continue
		}
		n := bits.TrailingZeros64(other) / 8
		if c := text[n]; c >= utf8.RuneSelf || !unicode.IsSpace(rune(c)) {
			break
		}
		return mix(hash, eight&(1<<(8*n)-1)|uint64(n)<<56), text[n:]
	}
	end := bytes.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		end = len(text)
	}
	word, rest := text[:end], text[end:]
	for ; len(word) >= 8; word = word[8:] {
		hash = mix(hash, binary.LittleEndian.Uint64(word))
	}
	var last [8]byte // up to seven bytes, and how many they are
	last[7] = byte(copy(last[:7], word))
	return mix(hash, binary.LittleEndian.Uint64(last[:])), rest
}

// digest mixes the words of a text into a hash, and returns the new hash. It leaves out words with
// a digit. It also leaves out the words directly before and after them in the same line.
func digest(hash uint64, text []byte) uint64 {
	for line := range bytes.Lines(text) {
		var held uint64 // hash of the word before, which counts unless a number follows
		after := false  // the word before was a number
		for len(line) > 0 {
			var word uint64
			var number bool
			word, number, line = nextWord(line)
			switch {
			case word == 0:
			case number:
				held, after = 0, true
			default:
				if held != 0 {
					hash = mix(hash, held)
				}
				held = word
				if after {
					held, after = 0, false
				}
			}
		}
		if held != 0 {
			hash = mix(hash, held)
		}
	}
	return hash
}

// nextWord finds the first word of a text: a run of letters, marks and digits, or one letter of a
// script without spaces between words. The result hash is the hash of the word in lower case, or 0
// if there is no word; number is true if the word has a digit in it; rest is the text after the
// word.
func nextWord(text []byte) (hash uint64, number bool, rest []byte) {
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if 'a' <= r && r <= 'z' { // by far the most characters
			hash = mix(hash+1, uint64(r))
			i++
			continue
		}
		if r < utf8.RuneSelf {
			number = number || '0' <= r && r <= '9'
			r = rune(lowerASCII[r])
		} else {
			r, size = utf8.DecodeRune(text[i:])
			var alone bool
			if r, alone = lower(r); alone && hash != 0 {
				return hash, number, text[i:]
			} else if alone {
				return uint64(r), false, text[i+size:]
			}
			number = number || unicode.IsNumber(r)
		}
		i += size
		if r == 0 && hash != 0 {
			return hash, number, text[i:]
		}
		if r != 0 {
			hash = mix(hash+1, uint64(r))
		}
	}
	return hash, number, nil
}
