package search

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// beginnings are how the words of ASCII begin whose terms are known. Stemming
// changes the ends of words, with few exceptions: dying is die, German aepfel
// apfel, French ffent fent, and the Turkish I is no i.
type beginnings struct {
	seconds [characters]uint64 // sets of second characters by the first
	stems   []string           // what English words of the terms begin with
}

// changed is how many characters of an English stem may not be in the word:
// possibility is possibl, happier happi. Shorter ones may be irregular.
const changed, regular = 2, 5

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
// may, but for the first of punctuation.
var wordBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= utf8.RuneSelf && c != punctuation || characterOf[c] < characters
	}
	return is
}()

// punctuation is the first byte of dashes, quotation marks and apostrophes, U+2010
// to U+2027, and of other characters.
const punctuation = 0xE2

// wordEnd returns the end of what may be a word and begins at i, and bits that
// are below utf8.RuneSelf if all of it is ASCII. It is i if none begins there.
func wordEnd(text string, i int) (end int, bits byte) {
	for ; i < len(text); i++ {
		c := text[i]
		if !wordBytes[c] && (c != punctuation || len(text)-i > 2 && text[i+1] == 0x80 && 0x90 <= text[i+2] && text[i+2] <= 0xA7) {
			break
		}
		bits |= c
	}
	return i, bits
}

// add adds the words of a term.
func (b *beginnings) add(term string) {
	stem := ""
	if len(term) >= regular {
		stem = term[:len(term)-changed]
	}
	b.stems = append(b.stems, stem)
	first := characterOf[term[0]]
	if first == characters {
		if term[0] >= utf8.RuneSelf {
			b.seconds[characterOf['i']] = math.MaxUint64
		}
		return
	}
	if len(term) == 1 || characterOf[term[1]] == characters {
		b.seconds[first] = math.MaxUint64
		return
	}
	b.seconds[first] |= 1<<characterOf[term[1]] | 1<<first
	if term[1] == 'i' {
		b.seconds[first] |= 1 << characterOf['y']
	}
	switch term[0] {
	case 'a', 'o', 'u':
		b.seconds[first] |= 1 << characterOf['e']
	}
}

// may reports whether a word of ASCII letters and digits may have one of the
// terms.
func (b *beginnings) may(word string) bool {
	seconds := b.seconds[characterOf[word[0]]]
	return seconds != 0 && (len(word) == 1 || seconds>>characterOf[word[1]]&1 == 1)
}

// mayBeEnglish reports whether an English word of ASCII letters and digits may
// have one of the terms.
func (b *beginnings) mayBeEnglish(word string) bool {
	return slices.ContainsFunc(b.stems, func(stem string) bool {
		return len(word) >= len(stem) && strings.EqualFold(word[:len(stem)], stem)
	})
}
