package document

import (
	"strings"
	"unicode"
)

// primary returns the primary subtag of a language tag (RFC 5646) in lower
// case, or "".
func primary(tag string) string {
	tag = strings.TrimSpace(tag)
	if i := strings.IndexAny(tag, "-_,; "); i >= 0 {
		tag = tag[:i]
	}
	if len(tag) < 2 || len(tag) > 3 {
		return ""
	}
	tag = strings.ToLower(tag)
	for i := range len(tag) {
		if tag[i] < 'a' || tag[i] > 'z' {
			return ""
		}
	}
	return tag
}

// scripts lists scripts that are used for (nearly) one language, with that language. guess looks
// at them in this order, so that a text in Kana and Han is Japanese and not Chinese.
var scripts = []struct {
	table *unicode.RangeTable
	lang  string
}{
	{unicode.Hiragana, "ja"}, {unicode.Katakana, "ja"}, {unicode.Hangul, "ko"}, {unicode.Han, "zh"},
	{unicode.Cyrillic, "ru"}, {unicode.Greek, "el"}, {unicode.Arabic, "ar"}, {unicode.Hebrew, "he"},
	{unicode.Thai, "th"}, {unicode.Lao, "lo"}, {unicode.Myanmar, "my"}, {unicode.Khmer, "km"},
	{unicode.Tibetan, "bo"}, {unicode.Devanagari, "hi"}, {unicode.Bengali, "bn"}, {unicode.Tamil, "ta"},
	{unicode.Telugu, "te"}, {unicode.Georgian, "ka"}, {unicode.Armenian, "hy"}, {unicode.Ethiopic, "am"},
}

// guess returns the language of the script (see scripts) in which more than a third of a
// text's first 2000 letters are, or "" if there is none, as in Latin script.
func guess(text string) string {
	const letters = 2000
	counts := map[string]int{}
	total := 0
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		if total++; total > letters {
			break
		}
		if r < unicode.MaxLatin1 {
			continue
		}
		for _, s := range scripts {
			if unicode.Is(s.table, r) {
				counts[s.lang]++
				break
			}
		}
	}
	if kana := counts["ja"]; kana > 0 && kana*10 > counts["zh"] {
		counts["ja"] += counts["zh"]
		counts["zh"] = 0
	}
	for _, s := range scripts {
		if counts[s.lang]*3 > total {
			return s.lang
		}
	}
	return ""
}
