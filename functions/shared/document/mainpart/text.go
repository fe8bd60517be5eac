package mainpart

import (
	"bytes"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
)

// textCounts are the counts of one block's text.
type textCounts struct {
	words, bytes, linked int
	commas, stops        int
	digits, questions    int
	capitals, small      int  // words by their first letter
	ended                bool // with a sign that ends a sentence
	hash                 uint32
}

// countText counts a text. Two characters of a script without spaces are a word.
func countText(text []byte) (c textCounts) {
	inside, unspaced := false, false
	c.bytes, c.hash = len(text), hashSeed
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		i += size
		c.hash = (c.hash ^ uint32(r)) * hashFactor
		letter, capital := false, false
		switch {
		case 'a' <= r && r <= 'z':
			letter = true
		case 'A' <= r && r <= 'Z':
			letter, capital = true, true
		case '0' <= r && r <= '9':
			letter = true
			c.digits++
		case r < utf8.RuneSelf:
			next := byte(' ')
			if i < len(text) {
				next = text[i]
			}
			c.sign(r, next)
		case isUnspaced(r):
			if unicode.IsLetter(r) || unicode.IsMark(r) {
				if unspaced = !unspaced; unspaced {
					c.words++
				}
			} else {
				c.sign(r, ' ')
			}
			inside = false
			continue
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letter, capital = true, unicode.IsUpper(r)
		default:
			c.sign(r, ' ')
		}
		if letter && !inside {
			c.words++
			if capital {
				c.capitals++
			} else if r > '9' {
				c.small++
			}
		}
		inside = letter
	}
	c.ended = endsSentence(text)
	return c
}

func (c *textCounts) sign(r rune, next byte) {
	switch r {
	case ',', ';', '、', '，', '،', '؛':
		c.commas++
	case '.', '!', ':':
		if next <= ' ' || next == '"' || next == ')' {
			c.stops++
		}
	case '?', '？', '؟':
		c.questions++
		c.stops++
	case '。', '．', '！', '।', '…':
		c.stops++
	}
}

// isUnspaced reports whether a character is of a script without spaces between
// words, or a sign of such a script.
func isUnspaced(r rune) bool {
	return 0x2E80 <= r && r < 0xFB00 && !(0xAC00 <= r && r < 0xD7B0) || 0x0E00 <= r && r < 0x1000 || 0x1780 <= r && r < 0x1800 || 0xFF00 <= r && r < 0xFFEF
}

func endsSentence(text []byte) bool {
	text = bytes.TrimRight(text, " \"')]»”’")
	r, _ := utf8.DecodeLastRune(text)
	switch r {
	case '.', '!', '?', ':', '。', '．', '！', '？', '؟', '।', '…':
		return true
	}
	return false
}

// isProse reports whether a text looks like sentences.
func (c *textCounts) isProse() bool {
	return c.words >= 10 && 3*c.linked < c.bytes && (c.stops > 0 || c.commas > 0 || c.words > 30)
}

const (
	hashSeed   = 2166136261 // FNV-1a
	hashFactor = 16777619
)

// phrases is a set of runs of three words, in which a run that is not there is
// found with a small probability (Bloom 1970, with one hash).
type phrases struct {
	bits  []uint64 // a power of two of them
	empty bool
}

// newPhrases returns the phrases of texts.
func newPhrases(texts ...[]byte) phrases {
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	p := phrases{bits: make([]uint64, 1<<bits.Len(uint(max(size/16, 15)))), empty: true}
	for _, text := range texts {
		eachPhrase(text, func(hash uint32) {
			p.empty = false
			at := hash & uint32(64*len(p.bits)-1)
			p.bits[at/64] |= 1 << (at % 64)
		})
	}
	return p
}

func (p *phrases) has(hash uint32) bool {
	at := hash & uint32(64*len(p.bits)-1)
	return p.bits[at/64]>>(at%64)&1 == 1
}

// shares returns the shares of a text's phrases that are in each of the sets, in
// 255ths.
func shares(sets *[3]phrases, text []byte) (in [3]uint8) {
	all, found := 0, [3]int{}
	eachPhrase(text, func(hash uint32) {
		all++
		for i := range sets {
			if !sets[i].empty && sets[i].has(hash) {
				found[i]++
			}
		}
	})
	for i := range in {
		in[i] = share(found[i], all)
	}
	return in
}

// eachPhrase calls yield with the hash of every run of three words, or of a
// shorter text as a whole.
func eachPhrase(text []byte, yield func(hash uint32)) {
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
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		i += size
		letter := false
		switch {
		case 'A' <= r && r <= 'Z':
			r |= 0x20
			letter = true
		case r < utf8.RuneSelf:
			letter = 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
		default:
			letter = unicode.IsLetter(r) || unicode.IsMark(r)
		}
		switch {
		case letter:
			hash, inside = (hash^uint32(r))*hashFactor, true
			if isUnspaced(r) {
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

// level maps a count to 0 … 255 by its logarithm, 16 steps for each doubling.
func level(n int) uint8 {
	if n <= 0 {
		return 0
	}
	power := bits.Len(uint(n)) - 1
	return uint8(min(255, 1+16*power+n<<4>>power&15))
}

// share maps part/whole to 0 … 255.
func share(part, whole int) uint8 {
	if whole <= 0 {
		return 0
	}
	return uint8(min(255, max(0, 255*part/whole)))
}

// signed maps a difference to 0 … 255 around 128, by its logarithm.
func signed(n int) uint8 {
	if n < 0 {
		return 128 - level(-n)/2
	}
	return uint8(min(255, 128+int(level(n)/2)))
}

// says returns the groups of words in a short text.
func says(c *textCounts, text []byte) (w hypertext.Words) {
	if c.words <= 12 {
		w.Add(text)
	}
	return w
}
