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

// highlighter writes texts with the words that match between two tags.
type highlighter struct {
	pre, post string
}

// asHTML reports whether texts are written as HTML: if the tags are HTML.
func (h highlighter) asHTML() bool { return strings.Contains(h.pre, "<") }

// plain returns a text that a front end shows without highlights.
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

// matchesIn returns the different words of a text that match, in lower case and in their order.
func matchesIn(text []search.Fragment) []string {
	words := []string{}
	for _, f := range text {
		if word := strings.ToLower(f.Text); f.Match && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// markWords splits a text in fragments. Those are matches whose words, in lower case, are among the given ones.
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

// crop returns the part of a text that has at most the given number of words, with the first match near
// its beginning. The marker stands where text was cut off. The number 0 means the whole text.
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
