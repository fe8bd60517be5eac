package api

import (
	"html"
	"strings"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

// Marks says where the words of a query are in the title and the snippet of a result. Each element is a pair
// of offsets in characters (see the package comment): of the first character of a match, and of the first
// character behind it. Example: in the snippet "The quiet harbour", the match "quiet" is [4, 9].
type Marks struct {
	Title   [][2]int `json:"title"`
	Snippet [][2]int `json:"snippet"`
}

// spans returns the offsets in characters of the matches among the fragments of a text.
func spans(text []search.Fragment) (matches [][2]int) {
	at := 0
	for _, f := range text {
		end := at + utf8.RuneCountInString(f.Text)
		if f.Match {
			matches = append(matches, [2]int{at, end})
		}
		at = end
	}
	return matches
}

// marked returns the fragments of a text as HTML, with each match in an element mark.
func marked(text []search.Fragment) string {
	var b strings.Builder
	for _, f := range text {
		if f.Match {
			b.WriteString("<mark>" + html.EscapeString(f.Text) + "</mark>")
		} else {
			b.WriteString(html.EscapeString(f.Text))
		}
	}
	return b.String()
}
