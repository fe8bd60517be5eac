package document

import (
	"path"
	"strings"
	"unicode"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Content is what the index keeps of a page.
type Content struct {
	Title    string
	Headings []string
	Body     string // lines of text, at most MaxBody bytes
	Lang     string // primary subtag, or "" if the page does not tell

	// Where the body stands out from the text around it (Brin, Page 1998,
	// 4.2.5): in order, at most MaxRanges each.
	Emphasis []layout.Span // bold, italic, marked or underlined
	Large    []layout.Span // headings and larger type
}

// NameOf returns the last part of an address, by which a page without a title is
// called.
func NameOf(url string) string {
	url, _, _ = strings.Cut(url, "?")
	return cut(path.Base(url), MaxTitle)
}

// Content returns what the index keeps of the page.
func (d *Document) Content() Content {
	if d.plain != "" {
		return Content{Title: d.Title, Body: d.plain, Lang: guess(d.plain)}
	}
	body := d.body()
	c := Content{
		Title: d.Title, Lang: d.Lang, Body: string(body.text),
		Emphasis: body.find(d.flow.emphasis.ranges), Large: body.find(d.flow.large.ranges),
	}
	for _, h := range d.flow.headings {
		if s := d.flow.heading(h); s != "" {
			c.Headings = append(c.Headings, s)
		}
	}
	set(&c.Lang, guess(c.Body))
	return c
}

// body returns the lines of the main part of the page: that which the page
// itself calls so, else what the extractor finds, which takes ten times as
// long as all the rest. Where there is none, or it is less than two fifths of
// what the page shows outside of navigation, that is the body; and where hardly
// anything is outside of navigation, all of the page is.
func (d *Document) body() passage {
	visible := d.visible()
	body := d.flow.main()
	if !mostOf(visible, body) {
		body = visible.sub(between(visible.text, d.main()))
	}
	if !mostOf(visible, body) {
		body = visible
	}
	return body.trim(MaxBody)
}

// visible returns what the page shows outside of navigation, or all of it where
// that is hardly anything.
func (d *Document) visible() passage {
	visible := d.flow.body()
	if len(visible.text)*10 < len(d.flow.text) {
		return d.flow.all()
	}
	return visible
}

// Visible returns the text that the page shows outside of navigation, of which
// Digest is made, or all of it where that is hardly anything.
func (d *Document) Visible() string {
	if d.plain != "" {
		return d.plain
	}
	return string(d.visible().text)
}

func mostOf(text, part passage) bool { return len(part.text)*5 >= len(text.text)*2 }

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

// scripts tells languages that have a script of their own, or nearly so.
// Earlier rows win: Japanese has Han letters too.
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

// guess returns the language that a text's script suggests, or "" where many
// languages share it. It looks at the first letters only.
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
