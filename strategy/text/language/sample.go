package language

import (
	"strings"
	"unicode/utf8"
)

const (
	windows = 4       // number of pieces in the sample of a long text
	window  = 1 << 10 // length of one piece of the sample, in bytes
)

// sample returns the part of a text by which its language is identified. This is all of a
// short text. Of a long text it is some pieces at equal distances, because a page may
// begin with a notice or a menu in another language.
func sample(text string) string {
	if len(text) <= windows*window {
		return text
	}
	var b strings.Builder
	b.Grow(windows * (window + 1))
	for i := range windows {
		from := (len(text) - window) / (windows - 1) * i
		to := from + window
		for from < to && !utf8.RuneStart(text[from]) {
			from++
		}
		for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
			to--
		}
		b.WriteString(text[from:to])
		b.WriteByte(' ')
	}
	return b.String()
}
