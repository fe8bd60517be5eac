package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maximum length in bytes of a word or pair; a longer one gets no term, but has a position in
	// the text
	maxWord = 128
	maxTerm = 255     // maximum length of a term in bytes
	maxMemo = 1 << 16 // maximum number of words whose terms an Analyzer caches
)

// Occurrence is one occurrence of a term in a text. The term stands for a word, or for a
// pair of neighbouring characters in a script without spaces. A word may have a second,
// looser term, which also matches similar words: C++ also has the term of C, and a
// Vietnamese word also that of its form without marks. A joined word (e-mail) comes after
// its last part, at the same position.
type Occurrence struct {
	Term       string // term as it is indexed: valid UTF-8, 1–255 bytes
	Word       string // the word in lower case and NFKC, for spelling; "" for pairs and looser terms
	Position   int    // number of the word in the text, from 1; a second, looser term of the word has the same number
	Start, End int    // range of the term's word or pair in the text, in bytes
	// offset in the text, in bytes, at which the first character of a pair ends; equal to End if the
	// term is not of a pair
	Half int
	// for the term of a pair of characters: the term of the first of them alone; "" for the term of
	// a word or of a single character
	First    string
	Parts    int  // number of parts of a joined word (see doc.go, Words); 0 for any other word
	Capitals bool // the word has at least two letters, all upper case

	TermNumber, WordNumber, FirstNumber uint32 // numbers of Term, Word and First in the analyzer's Vocabulary; 0: none
}

// Analyzer splits text of one language into terms, in the same way for documents, queries
// and snippets. It caches the terms of at most maxMemo words, and is not safe for
// concurrent use; creating one is cheap.
type Analyzer struct {
	language   *language
	vocabulary *Vocabulary // vocabulary that numbers the terms; nil: none
	memo       map[string]*forms
}

// For returns a new Analyzer of a language: an ISO 639-1 code, or a BCP 47 tag, of which only the
// language counts. If the language is unknown or "", the Analyzer does not stem words.
func For(name string) *Analyzer {
	return &Analyzer{language: languageOf(name), memo: map[string]*forms{}}
}

// Each calls yield with every term of the text, in the order of the text, until yield returns
// false. If a word has a second, looser term (see Occurrence), yield gets this term directly after
// the word's first one. Each returns the position of the last word that it has read. If it has read
// the whole text, this is the text's length in words.
func (a *Analyzer) Each(text string, yield func(Occurrence) bool) int {
	position := 0
	start, parts := 0, 0 // start of the word or of the joined word, and its number of parts so far
	for i := 0; i < len(text); {
		class, width := classAt(text, i)
		more := true
		switch class {
		case letter:
			end := wordEnd(text, i+width)
			position++
			if parts == 0 {
				start = i
			}
			parts++
			more = a.word(text, i, end, position, yield)
			i = end
			if joiner := Joiner(text, end); joiner > 0 {
				i += joiner
			} else {
				if more && parts > 1 {
					more = a.joined(text[start:end], Occurrence{Position: position, Start: start, End: end, Half: end, Parts: parts}, yield)
				}
				parts = 0
			}
		case unspaced:
			i, position, more = a.run(text, i, position, yield)
		default:
			i += width
		}
		if !more {
			break
		}
	}
	return position
}

// word calls yield with the terms of the word text[start:end]. It returns false if yield does.
func (a *Analyzer) word(text string, start, end, position int, yield func(Occurrence) bool) bool {
	f := a.forms(text[start:end], end-start)
	if f.term == "" {
		return true
	}
	o := Occurrence{
		Term: f.term, Word: f.word, Position: position, Start: start, End: end, Half: end, Capitals: f.capitals,
		TermNumber: f.termNumber, WordNumber: f.wordNumber,
	}
	if nameEnd := endOfName(text, start, end); nameEnd > end {
		name := a.forms(text[start:nameEnd], nameEnd-start)
		if !yield(Occurrence{
			Term: name.term, Word: name.word, Position: position, Start: start, End: nameEnd, Half: nameEnd,
			TermNumber: name.termNumber, WordNumber: name.wordNumber,
		}) {
			return false
		}
		o.Word, o.WordNumber = "", 0
	}
	if !yield(o) {
		return false
	}
	if f.loose != "" {
		o.Term, o.TermNumber, o.Word, o.WordNumber = f.loose, f.looseNumber, "", 0
		return yield(o)
	}
	return true
}

// Joiner returns the length in bytes of the hyphen or underscore at offset i if it joins two
// words, else 0. The caller must know that a word ends at i.
func Joiner(text string, i int) (width int) {
	switch rest := text[i:]; {
	case strings.HasPrefix(rest, "-"), strings.HasPrefix(rest, "_"):
		width = 1
	case strings.HasPrefix(rest, hyphen), strings.HasPrefix(rest, unbroken):
		width = len(hyphen)
	default:
		return 0
	}
	if class, _ := classAt(text, i+width); class != letter {
		return 0
	}
	return width
}

const (
	hyphen   = "\u2010"
	unbroken = "\u2011" // non-breaking hyphen
)

var withoutJoiners = strings.NewReplacer("-", "", "_", "", hyphen, "", unbroken, "")

// joined calls yield with the term of a joined word, such as e-mail. The caller gives the word's
// text, and its occurrence o, in which only Term and TermNumber are missing. A joined word without
// letters, such as a date, has no term. joined returns false if yield does.
func (a *Analyzer) joined(text string, o Occurrence, yield func(Occurrence) bool) bool {
	if len(text) > maxWord {
		return true
	}
	f, known := a.memo[text]
	if !known {
		f = notIndexed
		if word := withoutJoiners.Replace(text); strings.ContainsFunc(word, unicode.IsLetter) {
			f = a.forms(word, len(word))
		}
		a.memo[strings.Clone(text)] = f
	}
	if o.Term, o.TermNumber = f.term, f.termNumber; o.Term == "" {
		return true
	}
	return yield(o)
}

// endOfName returns the end of a name, such as C++ or C#, that consists of the word text[start:end]
// and signs behind it. The word of such a name has only one letter. If there is no such name,
// endOfName returns end, the end of the word.
func endOfName(text string, start, end int) int {
	if end-start > 1 || text[start] < 'A' || end == len(text) {
		return end
	}
	rest, sign := text[end:], 0
	switch {
	case strings.HasPrefix(rest, "++"):
		sign = 2
	case rest[0] == '#':
		sign = 1
	}
	if class, _ := classAt(rest, sign); class == letter {
		return end
	}
	return end + sign
}

// run makes the terms of a sequence of characters of scripts without spaces, and passes them to the
// function yield. There is a term for each pair of neighbouring characters, and one for the last
// character alone. The sequence begins at text[start:], and is preceded by as many words as the
// parameter position says. run returns the offset of the sequence's end and the position of its
// last character. It stops and returns false if yield returns false.
func (a *Analyzer) run(text string, start, position int, yield func(Occurrence) bool) (int, int, bool) {
	half := clusterEnd(text, start)
	for {
		next := skip(text, half, link)
		end := half
		class, _ := classAt(text, next)
		if class == unspaced {
			end = clusterEnd(text, next)
		}
		position++
		if f := a.forms(text[start:end], half-start); f.term != "" {
			if !yield(Occurrence{
				Term: f.term, First: f.loose, Position: position, Start: start, End: end, Half: half,
				TermNumber: f.termNumber, FirstNumber: f.looseNumber,
			}) {
				return end, position, false
			}
		}
		if class != unspaced {
			return next, position, true
		}
		start, half = next, end
	}
}

// forms holds what the analyzer has computed for a word, or for a pair of neighbouring characters
// of a script without spaces, so that it need not be computed again.
type forms struct {
	term string // term that is indexed; "" if it would be too long
	// of a word: a second, looser term, which similar words also have, or ""; of a pair: the term
	// of its first character
	loose    string
	word     string // the word in lower case and NFKC; "" for a pair
	capitals bool   // the word has at least two letters, all upper case

	termNumber, looseNumber, wordNumber uint32 // numbers of term, loose and word in the Vocabulary; 0: none
}

var notIndexed = new(forms)

// forms returns the terms of text, which is a word, a name with its sign (C++), or a pair of
// characters of a script without spaces. The first character of a pair is text[:half].
func (a *Analyzer) forms(text string, half int) *forms {
	if len(text) > maxWord {
		return notIndexed
	}
	if f, known := a.memo[text]; known {
		return f
	}
	if len(a.memo) >= maxMemo {
		clear(a.memo)
	}
	text = strings.Clone(text)
	f := new(forms)
	class, _ := classAt(text, 0)
	switch {
	case class == unspaced:
		f.term, f.loose = pair(text, half)
	case text[len(text)-1] == '+', text[len(text)-1] == '#':
		f.word = strings.ToLower(text)
		f.term = f.word
	default:
		f.word = surface(text, a.language.turkic)
		if same := a.memo[f.word]; same != nil && same.word == f.word { // the terms of the word in lower case are cached
			*f = *same
		} else {
			f.term, f.loose = a.language.terms(f.word)
		}
		f.capitals = capitals(text)
	}
	if len(f.term) > maxTerm || len(f.word) > maxWord {
		f = notIndexed
	} else if f.termNumber == 0 {
		f.termNumber, f.looseNumber = a.vocabulary.Number(f.term), a.vocabulary.Number(f.loose)
		if f.wordNumber = f.termNumber; f.word != f.term {
			f.wordNumber = a.vocabulary.Number(f.word)
		}
	}
	a.memo[text] = f
	return f
}

// capitals reports whether a word has at least two letters, all upper case.
func capitals(word string) bool {
	upper := 0
	for _, r := range word {
		switch {
		case unicode.IsUpper(r):
			upper++
		case unicode.IsLetter(r):
			return false
		}
	}
	return upper >= 2
}

// pair returns the term of a pair of neighbouring characters in a script without spaces, and the
// term of its first character, text[:half], alone. A text of only one character has one term.
// Characters in terms are normalised.
//
//	text    term       first
//	日本    "日 本"    "日 "
//	日      "日 "      ""
func pair(text string, half int) (term, first string) {
	first, rest := character(text[:half])+" ", text[half:]
	if rest == "" {
		return first, ""
	}
	return first + character(rest[skip(rest, 0, link):]), first
}

// character returns the normal form of one character of a script without spaces.
func character(text string) string {
	if r, width := utf8.DecodeRuneInString(text); width == len(text) && isPlain(r) {
		return text
	}
	return fold(surface(text, false))
}
