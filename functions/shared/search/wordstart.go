package search

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// beginnings tells by the first characters of a word whether analysis may reduce the word to a term of the
// query. So most ASCII words of a text need not be analysed. Nearly always a word begins as its term does,
// because stemming changes the ends of words. beginnings allows for the exceptions: dying becomes die, the
// German aepfel becomes apfel, the French ffent becomes fent, and a Turkish I becomes a letter other than i.
type beginnings struct {
	// The pairs of characters with which matching words may begin, as a bit for each pair. For example,
	// the bit for f and o is bit n of seconds[m], where m is the number of f and n that of o (see
	// characterOf).
	seconds [characters]uint64
	foreign bool // whether a term begins with a character that is not ASCII
	// The same pairs in another form, for the method next. The index is the first byte of a word, and the bit is
	// that of the class of the byte behind it (see classOf). The pairs also cover joined words (see setPairs).
	pairs [256]uint64
	terms []termBeginning // of each term, without duplicates; for the method mayBeStemmed
}

// termBeginning says how words begin that stemming may reduce to a term.
type termBeginning struct {
	first   uint8  // number of their first character (see characterOf)
	seconds uint64 // bits of the numbers that their second characters may have; all bits if any may follow
	// the term without its last two characters, which stemming may have changed: hap for happi. For a short
	// term it is "", because stemming may have changed any character of the word (see changed).
	stem string
}

// Stemming changes mostly the ends of words: happy becomes happi. A stem of at least 5 bytes (the constant
// regular) differs from its word in at most its last 2 characters (the constant changed). A shorter stem
// may differ from its word in any character: dying becomes die.
const changed, regular = 2, 5

const characters = 36 // number of ASCII letters and digits, without regard to case

// classOf gives each byte a class. It is the number that characterOf gives, except for the ASCII characters that
// can join the parts of a word: these have the class joining.
var classOf = func() (classes [256]uint8) {
	for c := range classes {
		if classes[c] = characterOf[c]; c < utf8.RuneSelf && mayJoin[c] {
			classes[c] = joining
		}
	}
	return classes
}()

// joining is the class of ASCII characters that can join the parts of a word such as e-mail.
const joining = characters + 1

// wordMayFollow is 1 for each byte behind which an ASCII word may begin, and 0 for the others.
var wordMayFollow = func() (may [256]uint64) {
	for c := range may {
		if !wordBytes[c] {
			may[c] = 1
		}
	}
	return may
}()

// next returns the first offset of text[from:end] at which a word may match, judged by the first two bytes of the
// word; end−1 if there is none. The offset from must not be inside of a word, but it may be the beginning of one.
// The result may also be inside of a word that is not ASCII, or at the beginning of a part of a joined word, such
// as e-mail.
//
// This loop reads the texts of all hits. It has no branch except at its end, because processors cannot predict
// where words begin.
func (b *beginnings) next(text string, from, end int) int {
	may, at := wordMayFollow[' '], text[from]
	for i, behind := range []byte(text[from+1 : min(len(text), end+1)]) {
		if b.pairs[at]>>(classOf[behind]&63)&may|uint64(at)>>7 != 0 {
			return from + i
		}
		may, at = wordMayFollow[at], behind
	}
	return end - 1
}

// setPairs sets b.pairs, which says by which bytes the first character of a matching word may be followed:
//
//	byte behind the first character     allowed if
//	a letter or digit                   a matching word may begin with these two characters
//	a hyphen or underscore              a matching word may begin with the first one, since its parts
//	                                    may be joined: e-mail may match email
//	any other byte                      the first character may be a whole matching word
//
// Words that go on with a character that is not ASCII need no pair: next stops at each such character.
func (b *beginnings) setPairs() {
	for c := range utf8.RuneSelf {
		first := characterOf[c]
		if first == characters {
			continue
		}
		b.pairs[c] = b.seconds[first] & (1<<characters - 1)
		if b.seconds[first] == math.MaxUint64 {
			b.pairs[c] |= 1 << characters
		}
		if b.seconds[first] != 0 {
			b.pairs[c] |= 1 << joining
		}
	}
}

// characterOf gives each byte a number: ASCII digits have 0–9, ASCII letters of either case 10–35,
// and all other bytes the number in the constant characters.
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

// wordBytes marks the bytes that always belong to a word: ASCII letters and digits, and all bytes
// above ASCII except the constant punctuation, which may also begin a dash or quotation mark.
var wordBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= utf8.RuneSelf && c != punctuation || characterOf[c] < characters
	}
	return is
}()

// punctuation is the first byte, in UTF-8, of dashes, quotation marks and apostrophes (U+2010 to
// U+2027), but also of other characters, which may belong to words.
const punctuation = 0xE2

// punctuationSize is the number of bytes of such a dash, quotation mark or apostrophe.
const punctuationSize = 3

// wordEnd returns the end of the word that begins at the offset i, or i if no word begins there. A word
// ends before the first byte that is not a word byte (see wordBytes), and before a dash or quotation
// mark (see punctuation). The result bits is the OR of all bytes of the word. If it is below
// utf8.RuneSelf, the word is ASCII.
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

// add adds a term of the query to b. From then on, b's other methods return true for each word that
// analysis may reduce to this term. They look only at the beginning of a word, so they also return true
// for some other words.
func (b *beginnings) add(term string) {
	t := termBeginning{first: characterOf[term[0]]}
	if len(term) >= regular {
		t.stem = term[:len(term)-changed]
	}
	switch {
	case term[0] >= utf8.RuneSelf:
		b.foreign = true
		t.first, t.seconds = characterOf['i'], math.MaxUint64
	case t.first == characters:
		return
	case len(term) == 1 || characterOf[term[1]] == characters:
		t.seconds = math.MaxUint64
	default:
		t.seconds = 1<<characterOf[term[1]] | 1<<t.first
		if term[1] == 'i' {
			t.seconds |= 1 << characterOf['y']
		}
		if strings.IndexByte("aou", term[0]) >= 0 {
			t.seconds |= 1 << characterOf['e']
		}
	}
	b.seconds[t.first] |= t.seconds
	if !slices.Contains(b.terms, t) {
		b.terms = append(b.terms, t)
	}
}

// may reports whether analysis may reduce a word to one of the terms that were added to b. It
// decides by the word's first two characters. The word must consist of ASCII letters and digits.
func (b *beginnings) may(word string) bool {
	seconds := b.seconds[characterOf[word[0]]]
	if len(word) == 1 {
		return seconds == math.MaxUint64
	}
	return seconds>>characterOf[word[1]]&1 == 1
}

// mayBeFolded reports whether analysis may reduce a word that is not ASCII to one of the terms that
// were added to b. It decides by the word's first character:
//
//	ASCII letter or digit                       true if a term may begin with it, or if a term begins with a
//	                                            character that is not ASCII: 10个 has the terms 10 and 个
//	Greek, Cyrillic, Armenian, Hebrew letter    true if a term begins with a character that is not ASCII
//	any other character                         true, since analysis may fold it to ASCII, as é to e
func (b *beginnings) mayBeFolded(word string) bool {
	if first := characterOf[word[0]]; first != characters {
		return b.foreign || b.seconds[first] != 0
	}
	r, _ := utf8.DecodeRuneInString(word)
	return b.foreign || r < 0x370 || r > 0x5FF
}

// mayBeStemmed reports whether a stemmer that changes only the ends of words may reduce an ASCII word
// to one of the terms that were added to b. It compares the beginnings. Example: for the term happi it
// returns true if the word begins with hap, because stemming may change the last two characters. For a
// term that is shorter than the constant regular it looks only at the word's first two characters.
func (b *beginnings) mayBeStemmed(word string) bool {
	first, second := characterOf[word[0]], uint64(math.MaxUint64)
	if len(word) > 1 {
		second = 1 << characterOf[word[1]]
	}
	for i := range b.terms {
		if t := &b.terms[i]; t.first == first && t.seconds&second != 0 && beginsWith(word, t.stem) {
			return true
		}
	}
	return false
}

// beginsWith reports whether an ASCII word of letters and digits begins with a text in lower case, without regard to
// the word's case.
func beginsWith(word, lower string) bool {
	if len(word) < len(lower) {
		return false
	}
	for i := range len(lower) {
		if word[i]|0x20 != lower[i] { // the bit 20 makes a small letter of a capital one, and is set in digits
			return false
		}
	}
	return true
}
