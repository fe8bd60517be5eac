package compat

import (
	"html"
	"slices"
	"strings"
	"unicode"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// maxTag is the greatest number of bytes of a tag that highlights words; a longer one is cut off.
const maxTag = 200

// highlighter writes a text with the tag pre before each matching word and the tag post behind it.
type highlighter struct {
	pre, post string
}

// asHTML reports whether texts are written as HTML. They are if the tags are HTML, such as <em>.
func (h highlighter) asHTML() bool { return strings.Contains(h.pre, "<") }

// plain returns a text without highlights. Like marked, it escapes the text if the tags are HTML.
func (h highlighter) plain(text []search.Fragment) string {
	var b strings.Builder
	for _, f := range text {
		b.WriteString(h.escape(f.Text))
	}
	return b.String()
}

// marked returns a text with highlights.
func (h highlighter) marked(text []search.Fragment) string {
	var b strings.Builder
	for _, f := range text {
		if f.Match {
			b.WriteString(h.pre + h.escape(f.Text) + h.post)
		} else {
			b.WriteString(h.escape(f.Text))
		}
	}
	return b.String()
}

func (h highlighter) escape(text string) string {
	if h.asHTML() {
		return html.EscapeString(text)
	}
	return text
}

// isWord reports whether a character belongs to a word.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// wordsIn returns the different words of a text in lower case.
func wordsIn(text string) map[string]bool {
	words := make(map[string]bool)
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isWord(r) }) {
		words[word] = true
	}
	return words
}

// matchesIn returns the texts of the matches among the fragments, in lower case and in their order, each
// once.
func matchesIn(text []search.Fragment) []string {
	words := []string{}
	for _, f := range text {
		if word := strings.ToLower(f.Text); f.Match && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// markWords splits a text into fragments, which are words and what stands between words. A word is marked as
// a match if it is, in lower case, among the given words.
func markWords(text string, words map[string]bool) (fragments []search.Fragment) {
	for start := 0; start < len(text); {
		inWord := false
		end := len(text)
		for i, r := range text[start:] {
			if i == 0 {
				inWord = isWord(r)
			} else if isWord(r) != inWord {
				end = start + i
				break
			}
		}
		fragments = append(fragments, search.Fragment{Text: text[start:end], Match: inWord && words[strings.ToLower(text[start:end])]})
		start = end
	}
	return fragments
}

// crop returns the part of a text around its first match, with at most as many words as the parameter most;
// 0 means the whole text. About a third of the words stand before the match. The marker, such as "…", stands
// where text was cut off.
func crop(text []search.Fragment, most int, marker string) []search.Fragment {
	type piece struct {
		search.Fragment
		ends bool // whether a word ends with the piece
	}
	var pieces []piece
	first, words := -1, 0
	for _, f := range text {
		for part := range strings.SplitAfterSeq(f.Text, " ") {
			if f.Match && first < 0 {
				first = len(pieces)
			}
			pieces = append(pieces, piece{search.Fragment{Text: part, Match: f.Match}, strings.HasSuffix(part, " ")})
			if strings.HasSuffix(part, " ") {
				words++
			}
		}
	}
	if most == 0 || words < most {
		return text
	}
	start := max(first, 0)
	for before := most / 3; start > 0; start-- { // a third of the words stand before the match
		if pieces[start-1].ends {
			if before == 0 {
				break
			}
			before--
		}
	}
	end := start
	for left := most; end < len(pieces) && left > 0; end++ {
		if pieces[end].ends {
			left--
		}
	}
	var cropped []search.Fragment
	if start > 0 {
		cropped = append(cropped, search.Fragment{Text: marker})
	}
	for _, p := range pieces[start:end] {
		cropped = append(cropped, p.Fragment)
	}
	if end < len(pieces) {
		last := &cropped[len(cropped)-1]
		last.Text = strings.TrimSuffix(last.Text, " ")
		cropped = append(cropped, search.Fragment{Text: marker})
	}
	return cropped
}
