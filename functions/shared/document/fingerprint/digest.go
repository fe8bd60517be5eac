package fingerprint

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// Digest tells whether two versions of a page say the same to a reader.
//
// Text is made of all characters of the title and of what the page shows outside
// of navigation, in order; only markup and the kind and amount of white space do
// not count. It is 0 where the page shows none.
//
// Words leaves out numbers and the words on either side of one in its line, case,
// and what stands between words. So it stays the same where a visitor is counted,
// an hour has passed ("3 hours ago") or a date is today's ("Monday, 22 November
// 2026"): it tells how fast a page changes, not whether it did ("99 dollars", "79
// euros"). It is 0 where nothing counts, as in a table of numbers, and then tells
// nothing.
type Digest struct{ Text, Words uint64 }

// DigestOf returns the digest of a page's title and of the text that it shows.
func DigestOf(title, text []byte) Digest {
	sum := Digest{Words: digest(digest(0, title), text)}
	if t, b := characters(title), characters(text); t != 0 || b != 0 {
		sum.Text = mix(t, b+1)
	}
	return sum
}

// characters returns the hash of all characters of a text and of where its words end,
// so that only the kind and amount of white space do not count; 0 if it has no words.
func characters(text []byte) (hash uint64) {
	for word := range bytes.FieldsSeq(text) {
		for ; len(word) >= 8; word = word[8:] {
			hash = mix(hash, binary.LittleEndian.Uint64(word))
		}
		var last [8]byte // of seven bytes and their number
		last[7] = byte(copy(last[:7], word))
		hash = mix(hash, binary.LittleEndian.Uint64(last[:]))
	}
	return hash
}

// digest adds the words of a text to a hash.
func digest(hash uint64, text []byte) uint64 {
	for line := range bytes.Lines(text) {
		var held uint64 // the word before, which counts unless a number follows
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

// nextWord returns the hash of the first word of a text in lower case, or 0 if
// there is none, whether a number is in it, and the rest of the text. A word is
// a run of letters, marks and digits.
func nextWord(text []byte) (hash uint64, number bool, rest []byte) {
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
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
