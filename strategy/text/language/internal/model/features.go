package model

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Reader reads a text and returns the hashes of its features, which are words and n-grams of
// letters. It reads only the letters of one script; any other character ends a word. It turns
// letters into lower case, and composes them with their accents (NFC).
type Reader struct {
	text    string
	script  Script
	words   bool
	letters *letters
	a, b, c rune   // the last three letters read of a word, c the latest; 0: the word has no such letter yet
	word    uint32 // hash of the word's letters so far
}

// NewReader returns a reader of the features of a text: words and n-grams of letters of the given
// script. Other letters end a word. If the parameter words is true, only whole words are features.
func NewReader(text string, script Script, words bool) Reader {
	return Reader{text: norm.NFC.String(text), script: script, words: words, letters: firstLetters(), c: end}
}

const (
	end   = ' '        // stands for what comes before the first letter of a word and after the last; counts as a letter
	prime = 0x9E3779B1 // factor in hashes, 2^32 / golden ratio: a multiplication by it spreads the low bits to the high ones
)

// Room is the maximum number of features that end at one letter. The slice for Next must have at
// least this length.
const Room = 4

// Next writes the hashes of the next features into the slice and returns their number, 0
// at the end of the text. The high bits of a hash are the most random ones. The slice
// must have a length of at least Room.
func (t *Reader) Next(hashes []uint32) int {
	n := 0
	for n+Room <= len(hashes) {
		r := t.letter()
		if r == end && t.c == end {
			if t.text == "" {
				break
			}
			continue
		}
		if !t.words {
			n += t.runs(r, hashes[n:])
		}
		if r != end {
			t.word = (t.word ^ uint32(r)) * prime
		} else if t.script != Han {
			hashes[n] = t.word
			n++
		}
		if t.a, t.b, t.c = t.b, t.c, r; r == end {
			t.a, t.b, t.word = 0, 0, 0
		}
	}
	return n
}

// runs writes the hashes of the n-grams that end with the letter r into the slice hashes, and
// returns their number.
func (t *Reader) runs(r rune, hashes []uint32) int {
	n := 0
	h := uint32(r) * prime
	if r != end {
		hashes[n] = h
		n++
	}
	h = (h ^ uint32(t.c)) * prime
	hashes[n] = h
	n++
	if t.b == 0 || t.script == Han {
		return n
	}
	h = (h ^ uint32(t.b)) * prime
	hashes[n] = h
	n++
	if t.a == 0 {
		return n
	}
	hashes[n] = (h ^ uint32(t.a)) * prime
	return n + 1
}

// letter reads the next character of the text. If the character is a letter of the reader's script,
// letter returns it in lower case. For any other character, and at the end of the text, it returns
// the constant end.
func (t *Reader) letter() rune {
	if t.text == "" {
		return end
	}
	r, size := rune(t.text[0]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRuneInString(t.text)
	}
	t.text = t.text[size:]
	if small, script := t.letters.letter(r); script == t.script {
		return small
	}
	return end
}
