package mainpart

import (
	"bytes"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/phrases"
)

// textCounts holds counts and properties of the text of one block. The field linked counts the
// bytes in links. The field commas also counts similar signs, such as semicolons. The field stops
// counts the signs that end sentences.
type textCounts struct {
	words, bytes, linked int
	commas, stops        int
	digits, questions    int
	capitals, small      int  // numbers of words that begin with a capital, and with a small letter
	ended                bool // whether the text ends with a sign that ends a sentence
	price                bool // whether the text has a number next to the sign of a currency
	hash                 uint32
}

// countText counts the words, characters and other properties of a text. Two characters of a
// script without spaces count as a word.
func countText(text []byte) (c textCounts) {
	inside, unspaced, money := false, false, false
	hash := uint32(hashSeed)
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if inside && 'a' <= r && r <= 'z' { // by far the most characters
			hash = (hash ^ uint32(r)) * hashFactor
			i++
			continue
		}
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		i += size
		hash = (hash ^ uint32(r)) * hashFactor
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
			money = money || r == '$'
		case phrases.IsUnspaced(r):
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
			money = money || r == '€' || r == '£' || r == '¥' || r == '₹' || r == '₽' || r == '₩'
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
	c.bytes, c.hash = len(text), hash
	c.ended = endsSentence(text)
	c.price = money && c.digits > 0 && c.words < 30
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

func endsSentence(text []byte) bool {
	text = bytes.TrimRight(text, " \"')]»”’")
	r, _ := utf8.DecodeLastRune(text)
	switch r {
	case '.', '!', '?', ':', '。', '．', '！', '？', '؟', '।', '…':
		return true
	}
	return false
}

// isProse reports whether a text looks like sentences: it has at least ten words, less than a third
// of it is links, and it has commas, ends of sentences or more than 30 words.
func (c *textCounts) isProse() bool {
	return c.words >= 10 && 3*c.linked < c.bytes && (c.stops > 0 || c.commas > 0 || c.words > 30)
}

const (
	hashSeed   = 2166136261 // initial value of the FNV-1a hash
	hashFactor = 16777619
)

// shares returns, for each of the five sets of phrases (see surroundings.repeated), the share of
// the text's phrases that are in the set: from 0 for none to 255 for all.
func shares(sets *[5]phrases.Set, text []byte) (in [5]uint8) {
	all, found := 0, [len(in)]int{}
	phrases.Each(text, func(phrase uint32) {
		all++
		for i := range sets {
			if sets[i].Has(phrase) {
				found[i]++
			}
		}
	})
	for i := range in {
		in[i] = share(found[i], all)
	}
	return in
}

// level maps a count to a feature from 0 to 255, in a logarithmic scale: if the count doubles, the
// feature grows by 16.
func level(n int) uint8 {
	if n <= 0 {
		return 0
	}
	power := bits.Len(uint(n)) - 1
	return uint8(min(255, 1+16*power+n<<4>>power&15))
}

// share returns part/whole as a number from 0 to 255.
func share(part, whole int) uint8 {
	if whole <= 0 {
		return 0
	}
	return uint8(min(255, max(0, 255*part/whole)))
}

// signed maps a difference to a feature from 0 to 255, in a logarithmic scale: 0 becomes 128, and
// negative differences become less than 128.
func signed(n int) uint8 {
	if n < 0 {
		return 128 - level(-n)/2
	}
	return uint8(min(255, 128+int(level(n)/2)))
}

// says returns the groups of words, such as those about comments (see hypertext.Words), that have a
// word in the text. It returns none for a text of more than 12 words.
func says(c *textCounts, text []byte) (w hypertext.Words) {
	if c.words <= 12 {
		w.Add(text)
	}
	return w
}
