package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Place says where in a suggestion a typed word begins. A lower Place is better.
type Place byte

const (
	AtStart  Place = iota // at the start of the suggestion, or behind nothing but numbers
	AtWord                // at the start of a later word
	InWord                // inside a word, at a capital letter: parser in xmlParser
	noPlaces              // number of Places
)

// maxTyped is the greatest number of keys of a typed text (see typedKeys) that are looked for.
const maxTyped = 16

// FoldSuggestion returns a text in the form in which suggestions are compared. This is NFKC in lower case, without
// the accents and other marks of Latin, Greek, Cyrillic, Arabic and Hebrew letters, and with each sequence of
// white space replaced by one space. Folding a folded text changes nothing.
func FoldSuggestion(text string) string {
	return strings.ToLower(plainLetters(strings.Join(strings.Fields(text), " ")))
}

// plainLetters returns a text in NFKC without the marks that FoldSuggestion leaves out.
func plainLetters(text string) string {
	ascii := true
	for i := 0; i < len(text) && ascii; i++ {
		ascii = text[i] < utf8.RuneSelf
	}
	if ascii {
		return text
	}
	drops := false // whether marks of the present letter are left out
	text = strings.Map(func(r rune) rune {
		if !unicode.Is(unicode.M, r) {
			drops = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew)
		} else if drops {
			return -1
		}
		return r
	}, norm.NFKD.String(text))
	return norm.NFC.String(text)
}

// suggestionKeys calls yield for each key under which a suggestion is found, with the place of the key in the text:
//
//	a word            the word, in lower case
//	a joined word     also the part of the word from each capital letter inside that follows no capital
//	                  letter or stands before a small one: both xmlParser and XMLParser have the keys
//	                  xmlparser and parser
//	a text in a       each two neighbouring characters, and the last character alone
//	script without
//	spaces
//
// A word is a sequence of letters, digits and marks.
func suggestionKeys(text string, yield func(key string, at Place)) {
	text = plainLetters(text)
	place := AtStart
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch {
		case isUnspaced(r):
			end := i + width
			if next, more := utf8.DecodeRuneInString(text[end:]); isUnspaced(next) {
				end += more
			}
			yield(text[i:end], place)
			place, i = AtWord, i+width
		case isWordRune(r):
			end := suggestionWordEnd(text, i)
			yield(strings.ToLower(text[i:end]), place)
			eachInside(text[i:end], func(rest string) { yield(strings.ToLower(rest), InWord) })
			if strings.ContainsFunc(text[i:end], unicode.IsLetter) { // so that "20.10. Vacuuming" starts with its word
				place = AtWord
			}
			i = end
		default:
			i += width
		}
	}
}

// typedKeys returns what the keys of suggestions must begin with to match a typed text: each word of the text and,
// in a script without spaces, each two neighbouring characters. A single character of such a script stands for
// itself. At most the first maxTyped keys are returned.
func typedKeys(text string) (keys []string) {
	text = FoldSuggestion(text)
	for i := 0; i < len(text) && len(keys) < maxTyped; {
		r, width := utf8.DecodeRuneInString(text[i:])
		end := i + width
		switch {
		case isUnspaced(r):
			next, more := utf8.DecodeRuneInString(text[end:])
			before, _ := utf8.DecodeLastRuneInString(text[:i])
			if isUnspaced(next) {
				keys = append(keys, text[i:end+more])
			} else if !isUnspaced(before) {
				keys = append(keys, text[i:end])
			}
		case isWordRune(r):
			end = suggestionWordEnd(text, i)
			keys = append(keys, text[i:end])
		}
		i = end
	}
	return keys
}

// suggestionWordEnd returns the end of the word that begins at an offset of a text.
func suggestionWordEnd(text string, start int) int {
	length := strings.IndexFunc(text[start:], func(r rune) bool { return isUnspaced(r) || !isWordRune(r) })
	if length < 0 {
		return len(text)
	}
	return start + length
}

// eachInside calls the function do with the part of a word from each capital letter inside it that does not follow
// a capital letter, or stands before a small letter: with Parser for xmlParser and for XMLParser.
func eachInside(word string, do func(rest string)) {
	var before rune
	for i, r := range word {
		if i > 0 && unicode.IsUpper(r) {
			after, _ := utf8.DecodeRuneInString(word[i+utf8.RuneLen(r):])
			if !unicode.IsUpper(before) || unicode.IsLower(after) {
				do(word[i:])
			}
		}
		before = r
	}
}

func isWordRune(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M) }

// isUnspaced reports whether a character belongs to a script whose words have no spaces between them.
func isUnspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
