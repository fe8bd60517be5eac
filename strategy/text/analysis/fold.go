package analysis

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blugelabs/bluge/analysis"
	"github.com/blugelabs/bluge/analysis/lang/hi"
	"github.com/blugelabs/bluge/analysis/lang/in"
	"golang.org/x/text/unicode/norm"
)

// surface returns a word in lower case and NFKC, without invisible characters. If turkic is true,
// I becomes ı and İ becomes i. Applying surface twice changes nothing more.
func surface(word string, turkic bool) string {
	if isASCII(word) && !turkic {
		return strings.ToLower(word)
	}
	word = strings.Map(visible, word)
	if compatible := norm.NFKC.String(word); isWhole(compatible, word) {
		word = compatible
	}
	if turkic {
		word = strings.ToLowerSpecial(unicode.TurkishCase, word)
	} else {
		word = strings.ToLower(strings.ReplaceAll(word, "İ", "i"))
	}
	return norm.NFC.String(word)
}

// visible is a mapping for strings.Map: it returns -1 for a character that is invisible
// inside a word, and any other character unchanged.
func visible(r rune) rune {
	if r == zeroWidthSpace || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
		return -1
	}
	return r
}

// isWhole reports whether a word is still one word after its conversion to NFKC. The parameter
// compatible is the converted word. For example, ½ is no longer one word: it becomes 1⁄2, with a
// fraction slash, which separates words.
func isWhole(compatible, word string) bool {
	of, _ := classAt(word, 0)
	for i, r := range compatible {
		if class := classOf(r); class != of && (class != mark || i == 0) {
			return false
		}
	}
	return true
}

func isASCII[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldFilter is a token filter that applies fold to each word: letters that readers consider equal,
// such as é and e, become one letter. What it does depends on the letters alone, not on the
// language, because the language of a page may be mistaken.
type foldFilter struct{}

// Filter implements analysis.TokenFilter: it folds each word of the stream.
func (foldFilter) Filter(stream analysis.TokenStream) analysis.TokenStream {
	for _, t := range stream {
		if !isASCII(t.Term) {
			t.Term = []byte(fold(string(t.Term)))
		}
	}
	return stream
}

// fold replaces letters that readers consider equal by one of them, and returns the changed word:
//
//   - Latin, Greek, Hebrew and Arabic letters lose their marks: é becomes e.
//   - Cyrillic letters lose the stress, and ё becomes е.
//   - Variants of letters are replaced (see variants), and digits become ASCII digits.
//   - A word in an Indic script is normalised by bluge's filters.
//
// Other marks stay, because they are vowels and tones.
func fold(word string) string {
	if isASCII(word) {
		return word
	}
	var folded strings.Builder
	base := rune(0)
	for _, r := range norm.NFD.String(word) {
		if unicode.Is(unicode.M, r) {
			if dropsMark(base, r) {
				continue
			}
		} else {
			base = r
		}
		if to, varies := variants[r]; varies {
			folded.WriteString(to)
		} else {
			folded.WriteRune(digit(r))
		}
	}
	word = norm.NFC.String(folded.String())
	if base >= 0x0900 && base < 0x0E00 {
		word = foldIndic(word)
	}
	return word
}

// dropsMark reports whether the function fold drops a mark that follows a base letter.
func dropsMark(base, mark rune) bool {
	switch {
	case unicode.Is(unicode.Latin, base), unicode.Is(unicode.Greek, base),
		unicode.Is(unicode.Arabic, base), unicode.Is(unicode.Hebrew, base):
		return true
	case unicode.Is(unicode.Cyrillic, base):
		return mark == '\u0300' || mark == '\u0301' || mark == '\u0308' && base == 'е'
	}
	return false
}

// variants maps a letter to the letter or letters by which fold replaces it.
var variants = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'ł': "l", 'ħ': "h", 'þ': "th", 'ı': "i", 'ŧ': "t",
	'ς': "σ",
	'ٱ': "ا",                     // alef wasla
	'ى': "ي", 'ی': "ي", 'ے': "ي", // yeh without dots, Persian, Urdu
	'ې': "ي", 'ۍ': "ي", // Pashto
	'ک': "ك", 'ڪ': "ك", // kaf of Persian, Sindhi
	'ة': "ه", 'ہ': "ه", 'ە': "ه", 'ۃ': "ه", // heh of other forms, teh marbuta
	'ـ': "", // tatweel
}

// digit returns the ASCII digit for a decimal digit of any script, and any other
// character unchanged.
func digit(r rune) rune {
	if r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r) {
		return r
	}
	for _, tens := range unicode.Nd.R16 {
		if rune(tens.Lo) <= r && r <= rune(tens.Hi) {
			return '0' + (r-rune(tens.Lo))%10
		}
	}
	for _, tens := range unicode.Nd.R32 {
		if rune(tens.Lo) <= r && r <= rune(tens.Hi) {
			return '0' + (r-rune(tens.Lo))%10
		}
	}
	return r
}

var indic = []analysis.TokenFilter{in.NormalizeFilter(), hi.NormalizeFilter()}

// foldIndic returns a word in an Indic script after bluge's normalising filters.
func foldIndic(word string) string { return apply(indic, word) }

// streams is a pool of token streams, each for one word, which the function apply reuses.
var streams = sync.Pool{New: func() any { return new(wordStream) }}

type wordStream struct {
	stream [1]*analysis.Token
	token  analysis.Token
	term   []byte
}

// apply passes a word through filters of bluge, one after the other, and returns the
// result.
func apply(filters []analysis.TokenFilter, word string) string {
	w := streams.Get().(*wordStream)
	defer streams.Put(w)
	w.term = append(w.term[:0], word...)
	w.token = analysis.Token{Term: w.term, PositionIncr: 1}
	w.stream[0] = &w.token
	stream := analysis.TokenStream(w.stream[:])
	for _, filter := range filters {
		stream = filter.Filter(stream)
	}
	switch {
	case len(stream) == 0:
		return ""
	case string(stream[0].Term) == word: // the usual case: no filter has changed the word
		return word
	}
	return string(stream[0].Term)
}
