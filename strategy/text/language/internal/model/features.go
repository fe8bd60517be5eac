package model

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Reader walks a text's letters of one script and tells the hashes of its
// features: every run of one to four letters within a word, the word's ends
// counting as letters, and the whole word. Of Han, which has no words, runs of
// one and two. Capitals count as small letters, and an accent is the same
// whether it stands alone or not (NFC).
type Reader struct {
	text    string
	script  Script
	words   bool
	letters *letters
	a, b, c rune   // the letters before, c the last; 0 is before the word
	word    uint32 // hash of the word so far
}

// NewReader reads the features of a text's letters of a script, or the whole
// words only.
func NewReader(text string, script Script, words bool) Reader {
	return Reader{text: norm.NFC.String(text), script: script, words: words, letters: firstLetters(), c: end}
}

const (
	end   = ' '        // of a word, either
	prime = 0x9E3779B1 // 2^32 / golden ratio: multiplied by it, low bits spread to the high ones
)

// Room is how many features a letter has at most.
const Room = 4

// Next puts hashes of features into the slice and returns how many, 0 at the
// end of the text. Their high bits are the good ones. The slice must hold at
// least Room.
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

// runs puts the hashes of the runs that end with r and returns how many.
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

// letter returns the next letter of the script in its small form, or end for
// anything else.
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
