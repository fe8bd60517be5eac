// Package phrases finds out how much of one text occurs in another. It compares phrases: runs of
// three words.
package phrases

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// Set is a set of phrases: runs of three words (see Each). Has is true for every phrase in the set
// and, with a small probability, for a phrase that is not in it (Bloom 1970, with one hash).
type Set struct {
	bits []uint64 // for each phrase in the set, the bit with the number hash % (number of bits) is set; nil if empty
}

// Of returns the set of all phrases of the texts.
func Of(texts ...[]byte) (s Set) {
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if size == 0 {
		return s
	}
	filter, empty := make([]uint64, 1<<bits.Len(uint(max(size/16, 15)))), true
	for _, text := range texts {
		Each(text, func(phrase uint32) {
			empty = false
			at := phrase & uint32(64*len(filter)-1)
			filter[at/64] |= 1 << (at % 64)
		})
	}
	if !empty {
		s.bits = filter
	}
	return s
}

// IsEmpty reports whether the set has no phrase.
func (s *Set) IsEmpty() bool { return len(s.bits) == 0 }

// Has reports whether a phrase, given by its hash, is in the set.
func (s *Set) Has(phrase uint32) bool {
	if len(s.bits) == 0 {
		return false
	}
	at := phrase & uint32(64*len(s.bits)-1)
	return s.bits[at/64]>>(at%64)&1 == 1
}

// Share returns how many of a text's phrases are in the set, and how many phrases the text has.
func (s *Set) Share(text []byte) (in, all int) {
	Each(text, func(phrase uint32) {
		if all++; s.Has(phrase) {
			in++
		}
	})
	return in, all
}

const (
	hashSeed   = 2166136261 // initial value of the FNV-1a hash
	hashFactor = 16777619
)

// small holds each ASCII letter in lower case, each ASCII digit as it is, and 0 for all other bytes.
var small = func() (table [256]uint8) {
	for c := range uint8(utf8.RuneSelf) {
		if lower := c | 0x20; 'a' <= lower && lower <= 'z' {
			table[c] = lower
		} else if '0' <= c && c <= '9' {
			table[c] = c
		}
	}
	return table
}()

// Each calls the function yield with the hash of each phrase of a text: every run of three words,
// or the whole text if it has fewer. A character of a script without spaces is a word.
func Each(text []byte, yield func(hash uint32)) {
	var before, last uint32
	n := 0
	word := func(hash uint32) {
		if n++; n >= 3 {
			yield(mixed(before*961 + last*31 + hash))
		}
		before, last = last, hash
	}
	hash, inside := uint32(hashSeed), false
	for i := 0; i < len(text); {
		r, size := rune(small[text[i]]), 1
		if r != 0 { // by far the most characters
			hash, inside = (hash^uint32(r))*hashFactor, true
			i++
			continue
		}
		if text[i] >= utf8.RuneSelf {
			if r, size = utf8.DecodeRune(text[i:]); !unicode.IsLetter(r) && !unicode.IsMark(r) {
				r = 0
			}
		}
		i += size
		switch {
		case r != 0:
			hash, inside = (hash^uint32(r))*hashFactor, true
			if IsUnspaced(r) {
				word(hash)
				hash, inside = hashSeed, false
			}
		case inside:
			word(hash)
			hash, inside = hashSeed, false
		}
	}
	if inside {
		word(hash)
	}
	if n == 1 || n == 2 {
		yield(mixed(before*6727 + last*31))
	}
}

func mixed(hash uint32) uint32 {
	hash ^= hash >> 15
	hash *= 0x2C1B3C6D
	return hash ^ hash>>13
}

// IsUnspaced reports whether a character belongs to a script that has no spaces between words, such
// as Chinese or Thai. This includes the punctuation of the script.
func IsUnspaced(r rune) bool {
	return r >= 0x0E00 && (0x2E80 <= r && r < 0xFB00 && !(0xAC00 <= r && r < 0xD7B0) || 0x0E00 <= r && r < 0x1000 || 0x1780 <= r && r < 0x1800 || 0xFF00 <= r && r < 0xFFEF)
}
