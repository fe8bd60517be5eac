package document

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Digest tells whether two versions of a page say the same to a reader: it is
// made of the title and of what the page shows outside of navigation, in order,
// without numbers and the words on either side of one in its line. So it stays
// the same where a visitor is counted, an hour has passed ("3 hours ago") or a
// date is today's ("Monday, 22 November 2026"). Case, markup and what stands
// between words do not count. It is 0 where nothing counts, as in a table of
// numbers, and then tells nothing.
func (d *Document) Digest() uint64 {
	hash := digest(0, []byte(d.Title))
	if d.plain != "" {
		return digest(hash, []byte(d.plain))
	}
	return digest(hash, d.visible().text)
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
