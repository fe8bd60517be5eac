package translation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentences splits a text into sentences. A sentence ends
//
//	at the end of a line          because lines are blocks of the page, such as headings
//	after . ! ? … and the like    if white space follows, and the word before has at least two letters
//	after 。！？                   always: in scripts that use these, no space follows
//
// The parameter most is the greatest number of sentences to return. The result cut is the number of
// bytes of the text after these sentences.
func sentences(text string, most int) (all []string, cut int) {
	for rest := text; rest != ""; {
		line, behind, _ := strings.Cut(rest, "\n")
		for line != "" {
			end := sentenceEnd(line)
			if sentence := strings.TrimSpace(line[:end]); sentence != "" {
				if len(all) == most {
					return all, len(line) + len(behind)
				}
				all = append(all, sentence)
			}
			line = line[end:]
		}
		rest = behind
	}
	return all, 0
}

// sentenceEnd returns the offset of the end of the first sentence of a line.
func sentenceEnd(line string) int {
	letters := 0 // of the last word
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError:
			letters = 0
		case strings.ContainsRune("。！？", r):
			return end
		case strings.ContainsRune(".!?…।؟", r):
			next, _ := utf8.DecodeRuneInString(line[end:])
			if letters > 1 && unicode.IsSpace(next) {
				return end
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			letters++
		case unicode.IsSpace(r):
			letters = 0
		}
	}
	return len(line)
}
