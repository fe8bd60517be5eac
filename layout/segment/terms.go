package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blugelabs/bluge/analysis"
	"github.com/blugelabs/bluge/analysis/token"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

const (
	maxTerm = 64      // bytes of a word; longer ones are counted but not indexed
	maxMemo = 1 << 16 // words whose terms are remembered
)

// occurrence is a term at a place in a text.
type occurrence struct {
	term       string
	position   int // from 1, one a word
	start, end int // bytes of the word in the text
}

// analyzer cuts text into terms, the same way for documents, queries and
// snippets. A word is a run of letters, digits and their marks; scripts that do
// not put spaces between words become pairs of neighbouring characters. It
// remembers the terms of words and is not safe for concurrent use.
type analyzer struct {
	memo    map[string]string
	filters []analysis.TokenFilter
	stemmer analysis.TokenFilter
}

func newAnalyzer() *analyzer {
	return &analyzer{
		memo: map[string]string{},
		filters: []analysis.TokenFilter{
			token.NewUnicodeNormalizeFilter(norm.NFKC),
			token.NewLowerCaseFilter(),
			foldFilter{},
		},
		stemmer: token.NewPorterStemmer(),
	}
}

// each calls yield with every term of the text in order, until it returns
// false. It returns the position of the last word.
func (a *analyzer) each(text string, yield func(occurrence) bool) int {
	position := 0
	emit := func(start, end int) bool {
		position++
		term := a.term(text[start:end])
		return term == "" || yield(occurrence{term: term, position: position, start: start, end: end})
	}
	for i := 0; i < len(text); {
		class, width := classAt(text, i)
		more := true
		switch class {
		case separator, mark:
			i += width
		case letter:
			end := runEnd(text, i+width, letter)
			more = emit(i, end)
			i = end
		case unspaced:
			i, more = pairs(text, i, emit)
		}
		if !more {
			break
		}
	}
	return position
}

// pairs emits the neighbouring pairs of a run of characters without spaces, or
// the character itself where it stands alone, and returns the run's end.
func pairs(text string, from int, emit func(start, end int) bool) (int, bool) {
	_, width := classAt(text, from)
	end := runEnd(text, from+width, mark)
	class, width := classAt(text, end)
	if class != unspaced {
		return end, emit(from, end)
	}
	for class == unspaced {
		next := runEnd(text, end+width, mark)
		if !emit(from, next) {
			return next, false
		}
		from, end = end, next
		class, width = classAt(text, end)
	}
	return end, true
}

// term returns the indexed form of a word, "" if it is not indexed.
func (a *analyzer) term(word string) string {
	if len(word) > maxTerm {
		return ""
	}
	if term, known := a.memo[word]; known {
		return term
	}
	stream := analysis.TokenStream{{Term: []byte(word), PositionIncr: 1}}
	for _, filter := range a.filters {
		stream = filter.Filter(stream)
	}
	if isASCII(stream[0].Term) {
		stream = a.stemmer.Filter(stream)
	}
	if len(a.memo) >= maxMemo {
		clear(a.memo)
	}
	term := string(stream[0].Term)
	a.memo[strings.Clone(word)] = term
	return term
}

// foldFilter takes the marks off Latin letters and drops invisible joiners.
type foldFilter struct{}

// Filter implements analysis.TokenFilter.
func (foldFilter) Filter(stream analysis.TokenStream) analysis.TokenStream {
	for _, t := range stream {
		if !isASCII(t.Term) {
			t.Term = fold(t.Term)
		}
	}
	return stream
}

func fold(term []byte) []byte {
	var folded []rune
	latin := false
	for _, r := range string(norm.NFD.Bytes(term)) {
		isMark := unicode.Is(unicode.M, r)
		if isJoiner(r) || isMark && latin {
			continue
		}
		if !isMark {
			latin = unicode.Is(unicode.Latin, r)
		}
		folded = append(folded, r)
	}
	return norm.NFC.Bytes([]byte(string(folded)))
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// The classes of characters. A mark belongs to the character before it.
type class int

const (
	separator class = iota
	mark
	letter
	unspaced
)

var (
	letters       = rangetable.Merge(unicode.L, unicode.N)
	unspacedChars = rangetable.Merge(unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
		rangetable.New('ー', 'ｰ'))
)

// classAt returns the class and the width of the character at i; the end of
// the text is a separator.
func classAt(text string, i int) (class, int) {
	if i >= len(text) {
		return separator, 0
	}
	if c := text[i]; c < utf8.RuneSelf {
		if 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' {
			return letter, 1
		}
		return separator, 1
	}
	r, width := utf8.DecodeRuneInString(text[i:])
	switch {
	case isJoiner(r) || unicode.Is(unicode.M, r):
		return mark, width
	case !unicode.Is(letters, r):
		return separator, width
	case unicode.Is(unspacedChars, r):
		return unspaced, width
	}
	return letter, width
}

// runEnd returns where characters of the class, and marks, end.
func runEnd(text string, i int, of class) int {
	for {
		class, width := classAt(text, i)
		if class != of && class != mark || width == 0 {
			return i
		}
		i += width
	}
}

// isJoiner reports whether r is a soft hyphen or a zero-width joiner.
func isJoiner(r rune) bool { return r == '\u00AD' || r == '\u200C' || r == '\u200D' }
