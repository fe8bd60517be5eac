package document

import (
	"path"
	"strings"
)

// Content is what the index keeps of a page.
type Content struct {
	Title    string
	Headings []string
	Body     string // lines of text, at most MaxBody bytes
	Lang     string // primary subtag, or "" if the page does not tell
	Robots   Robots

	// Where the body stands out from the text around it (Brin, Page 1998,
	// 4.2.5): in order, at most MaxRanges each.
	Emphasis []Range // bold, italic, marked or underlined
	Large    []Range // headings and larger type
}

// Text returns the content of a page whose media type IsText. One without a
// title is called by the last part of its address.
func Text(body []byte, contentType, url string) Content {
	text, _ := Decode(body, contentType)
	var c Content
	if Sniff(body, contentType) == "text/plain" {
		c = plain(string(text))
	} else {
		c = Parse(text).Content()
	}
	url, _, _ = strings.Cut(url, "?")
	set(&c.Title, cut(path.Base(url), MaxTitle))
	return c
}

func plain(text string) Content {
	text = cut(strings.TrimSpace(text), MaxBody)
	first, _, _ := strings.Cut(text, "\n")
	return Content{Title: cut(fold(first), MaxTitle), Body: text, Lang: guess(text)}
}

// Content returns what the index keeps of the page.
func (d *Document) Content() Content {
	body := d.body()
	c := Content{
		Title: d.Title, Lang: d.Lang, Robots: d.Robots, Body: string(body.text),
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
	visible := d.flow.body()
	if len(visible.text)*10 < len(d.flow.text) {
		visible = d.flow.all()
	}
	body := d.flow.main()
	if !mostOf(visible, body) {
		body = visible.sub(between(visible.text, d.main()))
	}
	if !mostOf(visible, body) {
		body = visible
	}
	return body.trim(MaxBody)
}

// mostOf reports whether a part of a text is two fifths of it or more.
func mostOf(text, part passage) bool { return len(part.text)*5 >= len(text.text)*2 }
