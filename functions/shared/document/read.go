package document

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/feed"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/markup"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/office"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/ole"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/pdf"
)

// ErrPanic says that a parser broke down over a page, which is a fault of the
// parser.
var ErrPanic = errors.New("its parser panicked")

// maxHead is how much of a page its head is looked for in.
const maxHead = 64 << 10

// Head reads what stands before the body of a page that Read broke down over:
// its title, and what it asks of crawlers. Of one that is no markup, or of which
// even that cannot be read, only the last part of its address is known.
func Head(body []byte, contentType, url string) (d *Document) {
	defer func() {
		if recover() != nil {
			d = Parse(nil)
		}
		d.Title = cmp.Or(d.Title, NameOf(url))
	}()
	if !IsText(Sniff(body, contentType)) {
		return Parse(nil)
	}
	text, _, _ := Decode(body[:min(len(body), maxHead)], contentType)
	for _, end := range []string{"</head", "<body"} {
		if i := bytes.Index(bytes.ToLower(text), []byte(end)); i >= 0 {
			return Parse(text[:i])
		}
	}
	return Parse(nil)
}

// Read reads a page of any media type that IsReadable, as Sniff finds it. What
// is not HTML is read as the HTML that says the same, so that links, text and
// digest are had in the same way from all. Text and markup never fail; a
// document fails if it is broken, needs a password, exceeds the limits of its
// reader, or has none.
func Read(body []byte, contentType string) (d *Document, err error) {
	// No page, however broken, ends the program that reads it.
	defer func() {
		if reason := recover(); reason != nil {
			d, err = nil, fmt.Errorf("cannot read page: %w: %v", ErrPanic, reason)
		}
	}()
	media := Sniff(body, contentType)
	if !IsText(media) {
		page, err := convert(body, media)
		if err != nil {
			return nil, err
		}
		return document(page), nil
	}
	text, charset, refuted := Decode(body, contentType)
	switch {
	case media == "text/plain":
		d = plain(string(text))
	case media != "text/html" && feed.Is(text):
		page := feed.HTML(text[:min(len(text), hypertext.MaxBytes)])
		if n := len(text) - hypertext.MaxBytes; n > 0 {
			page.Omit(fmt.Sprintf("%d bytes of the feed beyond %d MiB", n, hypertext.MaxBytes>>20))
		}
		d = Parse(page.HTML)
		d.Omitted = append(d.Omitted, page.Omitted...)
	default:
		d = Parse(text)
	}
	d.charset = charset
	if refuted != "" {
		d.Recoded = "not " + refuted + " but " + charset
	}
	return d, nil
}

func convert(body []byte, media string) (markup.Page, error) {
	switch {
	case media == pdf.MediaType:
		return pdf.HTML(body)
	case office.Is(media):
		return office.HTML(body)
	case ole.Is(media):
		return ole.HTML(body)
	}
	return markup.Page{}, errors.New("cannot read page: nobody reads " + media)
}

// document reads the page that another format was made into. Without title or
// heading it is called by its first line.
func document(page markup.Page) *Document {
	d := Parse(page.HTML)
	d.Omitted = append(d.Omitted, page.Omitted...)
	d.converted = true
	first, _, _ := bytes.Cut(d.page.Text, []byte("\n"))
	set(&d.Title, cut(string(first), MaxTitle))
	return d
}

// plain reads text without markup. Its title is its first line.
func plain(text string) *Document {
	d := Parse(nil)
	text = strings.TrimSpace(text)
	if d.plain = cut(text, MaxBody); len(d.plain) < len(text) {
		d.Omitted = append(d.Omitted, fmt.Sprintf("%d of %d bytes of text", len(text)-len(d.plain), len(text)))
	}
	first, _, _ := strings.Cut(d.plain, "\n")
	d.Title = cut(fold(first), MaxTitle)
	return d
}
