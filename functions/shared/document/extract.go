package document

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/markusmobius/go-trafilatura"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/feed"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/office"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/ole"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/pdf"
)

// Limits beyond which no main part is looked for, because the cost of that
// grows as the square of the page: they keep it below half a second, where a
// page of ordinary size takes some milliseconds.
const (
	maxExtractedBytes = 512 << 10
	maxExtractedNodes = 10_000
)

// main returns the text of the page's main part as the extractor sees it, or
// "".
func (d *Document) main() (text string) {
	if d.size > maxExtractedBytes || d.nodes > maxExtractedNodes {
		return ""
	}
	// A page that breaks the extractor must not keep the rest of its package
	// from being indexed.
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	result, err := trafilatura.ExtractDocument(d.root, trafilatura.Options{ExcludeComments: true, HtmlDateMode: trafilatura.Disabled})
	if err != nil {
		return ""
	}
	return result.ContentText
}

// between returns where the lines of the page lie from that in which the main
// text begins to that in which it ends. The extractor finds the right place but
// drops headings and defined terms within it (of Django's documentation two
// thirds of them), and joins all lines.
func between(page []byte, main string) (from, to int) {
	const clue = 24 // bytes at either end of the main text that are looked for
	text, _ := squeeze([]byte(main))
	if len(text) < clue {
		return 0, 0
	}
	squeezed, positions := squeeze(page)
	first := bytes.Index(squeezed, text[:clue])
	last := bytes.LastIndex(squeezed, text[len(text)-clue:])
	if first < 0 || last < first {
		return 0, len(page)
	}
	from = bytes.LastIndexByte(page[:positions[first]], '\n') + 1
	to = positions[last+clue-1]
	if rest := bytes.IndexByte(page[to:], '\n'); rest >= 0 {
		return from, to + rest
	}
	return from, len(page)
}

// squeeze leaves out spaces and line feeds, which the extractor sets
// differently, and returns where each byte came from.
func squeeze(text []byte) (squeezed []byte, positions []int) {
	squeezed, positions = make([]byte, 0, len(text)), make([]int, 0, len(text))
	for i, c := range text {
		if c != ' ' && c != '\n' {
			squeezed, positions = append(squeezed, c), append(positions, i)
		}
	}
	return squeezed, positions
}

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
	text, _ := Decode(body[:min(len(body), maxHead)], contentType)
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
	text, _ := Decode(body, contentType)
	switch {
	case media == "text/plain":
		return plain(string(text)), nil
	case media != "text/html" && feed.Is(text):
		return Parse(feed.HTML(text[:min(len(text), MaxBytes)])), nil
	}
	return Parse(text), nil
}

func convert(body []byte, media string) ([]byte, error) {
	switch {
	case media == pdf.MediaType:
		return pdf.HTML(body)
	case office.Is(media):
		return office.HTML(body)
	case ole.Is(media):
		return ole.HTML(body)
	}
	return nil, errors.New("cannot read page: nobody reads " + media)
}

// document reads the page that another format was made into. Without title or
// heading it is called by its first line.
func document(page []byte) *Document {
	d := Parse(page)
	first, _, _ := bytes.Cut(d.flow.text, []byte("\n"))
	set(&d.Title, cut(string(first), MaxTitle))
	return d
}

// plain reads text without markup. Its title is its first line.
func plain(text string) *Document {
	d := Parse(nil)
	d.plain = cut(strings.TrimSpace(text), MaxBody)
	first, _, _ := strings.Cut(d.plain, "\n")
	d.Title = cut(fold(first), MaxTitle)
	return d
}
