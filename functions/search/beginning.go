package search

import (
	"math"
	"unicode/utf8"
)

// beginnings are how the words of ASCII begin whose terms are known, as sets of
// second characters by the first. Stemming changes the ends of words, with few
// exceptions: dying is die, German aepfel apfel, French ffent fent, and the
// Turkish I is no i.
type beginnings [characters]uint64

const characters = 36 // letters and digits

// characterOf numbers the letters, capitals as their small ones, and digits;
// other bytes are higher.
var characterOf = func() (numbers [256]uint8) {
	for c := range numbers {
		switch lower := byte(c | 0x20); {
		case '0' <= c && c <= '9':
			numbers[c] = uint8(c - '0')
		case c < utf8.RuneSelf && 'a' <= lower && lower <= 'z':
			numbers[c] = 10 + lower - 'a'
		default:
			numbers[c] = characters
		}
	}
	return numbers
}()

// wordBytes are the bytes that may be of a word: those that are not ASCII all
// may.
var wordBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= utf8.RuneSelf || characterOf[c] < characters
	}
	return is
}()

// add adds the words of a term.
func (b *beginnings) add(term string) {
	first := characterOf[term[0]]
	if first == characters {
		if term[0] >= utf8.RuneSelf {
			b[characterOf['i']] = math.MaxUint64
		}
		return
	}
	if len(term) == 1 || characterOf[term[1]] == characters {
		b[first] = math.MaxUint64
		return
	}
	b[first] |= 1<<characterOf[term[1]] | 1<<first
	if term[1] == 'i' {
		b[first] |= 1 << characterOf['y']
	}
	switch term[0] {
	case 'a', 'o', 'u':
		b[first] |= 1 << characterOf['e']
	}
}

// may reports whether a word of ASCII letters and digits may have one of the
// terms.
func (b *beginnings) may(word string) bool {
	seconds := b[characterOf[word[0]]]
	return seconds != 0 && (len(word) == 1 || seconds>>characterOf[word[1]]&1 == 1)
}
