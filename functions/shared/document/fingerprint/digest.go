package fingerprint

import (
	"bytes"
	"encoding/binary"
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

// DigestOf returns the digest of a page's title and of the text that it shows.
func DigestOf(title, text []byte) Digest {
	sum := Digest{Words: digest(digest(0, title), text)}
	if t, b := characters(title), characters(text); t != 0 || b != 0 {
		sum.Text = mix(t, b+1)
	}
	return sum
}

// characters returns a hash of all characters of a text, except that it ignores the kind and amount
// of white space between words. It is 0 if the text has no words.
func characters(text []byte) (hash uint64) {
	for word := range bytes.FieldsSeq(text) {
		for ; len(word) >= 8; word = word[8:] {
			hash = mix(hash, binary.LittleEndian.Uint64(word))
		}
		var last [8]byte // up to seven bytes, and how many they are
		last[7] = byte(copy(last[:7], word))
		hash = mix(hash, binary.LittleEndian.Uint64(last[:]))
	}
	return hash
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
