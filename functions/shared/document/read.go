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
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// ErrPanic is the cause of the error for a page whose parser panicked, which is a fault of the
// parser.
var ErrPanic = errors.New("its parser panicked")

// maxHead is the number of bytes of a page in which Head looks for the head element.
const maxHead = 64 << 10

// Head reads only the head element of a page, for its title and its robots directives. It is
// for pages for which Read fails with ErrPanic. If the page is not markup, or its head makes
// the parser panic, too, the Document has no text, and its title is the last part of the URL.
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

// Read parses a page. What it does depends on the media type that Sniff returns:
//
//	text or markup        it is parsed; this never fails
//	PDF, office formats   it is converted to HTML first; this fails if the file is damaged, needs a
//	                      password, or exceeds a limit of its reader
//	any other             Read fails
//
// If a parser panics, the error wraps ErrPanic.
func Read(body []byte, contentType string) (d *Document, err error) {
	defer unbroken(&d, &err)
	media := Sniff(body, contentType)
	if !IsText(media) {
		page, err := convert(body, media)
		if err != nil {
			return nil, err
		}
		d := document(page)
		if media == pdf.MediaType && len(page.HTML) <= webobject.MaxConversion {
			d.conversion = &webobject.Conversion{HTML: page.HTML, Omitted: page.Omitted, Reader: conversionVersion}
		}
		return d, nil
	}
	text, charset, refuted := Decode(body, contentType)
	switch {
	case isPlain(media):
		d = plain(string(text))
	case media != "text/html" && feed.Is(text):
		page := feed.HTML(text[:min(len(text), hypertext.MaxBytes)])
		if n := len(text) - hypertext.MaxBytes; n > 0 {
			page.Omit(fmt.Sprintf("%d bytes of the feed beyond %d MiB", n, hypertext.MaxBytes>>20))
		}
		d = Parse(page.HTML)
		d.page.Anchors = nil // those of its entries' markup: no address of the feed leads to them
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

// unbroken turns a panic of a parser into an error that wraps ErrPanic, so that a page cannot
// crash the program. Functions that call parsers defer it.
func unbroken(d **Document, err *error) {
	if reason := recover(); reason != nil {
		*d, *err = nil, fmt.Errorf("cannot read page: %w: %v", ErrPanic, reason)
	}
}

// conversionVersion is the version of the conversion of PDF files to HTML. A page that is stored
// with the conversion of a smaller version is converted again whenever it is read.
const conversionVersion = 1

// Conversion returns the conversion of a PDF file to HTML. It is stored with the file, so that
// Stored need not convert the file again. It is nil for all other formats, whose conversion
// takes milliseconds, and for a conversion of more than webobject.MaxConversion bytes.
func (d *Document) Conversion() *webobject.Conversion { return d.conversion }

// Stored reads a stored page as Read does. If the markup does not declare the language of the page,
// Stored takes it from the header Content-Language. If a PDF file is stored with its conversion,
// Stored reads the conversion, without PDFium.
func Stored(o webobject.Object) (d *Document, err error) {
	defer unbroken(&d, &err)
	defer func() {
		if err == nil {
			d.setLang(&o)
		}
	}()
	if o.Conversion == nil || o.Conversion.Reader < conversionVersion {
		return Read(o.Data, o.MIME)
	}
	d = document(markup.Page{HTML: o.Conversion.HTML, Omitted: o.Conversion.Omitted})
	d.conversion = o.Conversion
	return d, nil
}

// convert converts a PDF file or an office document of the given media type to HTML. It fails for
// any other media type.
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

// document parses the HTML that was converted from another format. If it has neither a title nor
// a heading of the first level, its first line becomes its title.
func document(page markup.Page) *Document {
	d := Parse(page.HTML)
	d.Omitted = append(d.Omitted, page.Omitted...)
	d.converted = true
	first, _, _ := bytes.Cut(d.page.Text, []byte("\n"))
	set(&d.Title, cut(string(first), MaxTitle))
	return d
}

// plain reads text without markup. The first line of the text becomes the title of the Document.
func plain(text string) *Document {
	d := Parse(nil)
	text = strings.TrimSpace(text)
	if d.plain = cut(text, MaxBody); len(d.plain) < len(text) {
		d.Omitted = append(d.Omitted, fmt.Sprintf("%d of %d bytes of text", len(text)-len(d.plain), len(text)))
	}
	first, _, _ := strings.Cut(d.plain, "\n")
	if marks, heading, found := strings.Cut(first, " "); found && strings.Trim(marks, "#") == "" { // a heading in Markdown
		first = heading
	}
	d.Title = cut(joinWords(first), MaxTitle)
	return d
}
