package engine

import (
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/structured"
	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// Format is a form in which a stored page is shown.
type Format string

// The formats in which a stored page can be shown.
const (
	HTML     Format = "html"     // the page as it is stored: the same bytes and media type, even if it is no HTML
	Text     Format = "text"     // the main part of the page
	Markdown Format = "markdown" // the main part with headings, lists, links and tables
	JSON     Format = "json"     // the main part as a structured.Page
)

var formats = []Format{HTML, Text, Markdown, JSON}

// ParseFormat returns the format with the given name; "" means HTML. It fails for an unknown name.
func ParseFormat(name string) (Format, error) {
	if name == "" {
		return HTML, nil
	}
	if f := Format(name); slices.Contains(formats, f) {
		return f, nil
	}
	return "", literal.Wrong("format", name, "html, text, markdown or json")
}

// As returns a stored page in the format f, and the media type of the result. For a page without text, such
// as an image, the error is a NoText, unless the format is HTML.
func (f Format) As(page webobject.Object) (data []byte, media string, err error) {
	if f == HTML {
		return page.Data, page.MIME, nil
	}
	structure, err := Structured(page)
	if err != nil {
		return nil, "", err
	}
	switch f {
	case Text:
		return []byte(structure.Text()), "text/plain; charset=utf-8", nil
	case Markdown:
		return []byte(structure.Markdown()), "text/markdown; charset=utf-8", nil
	}
	data, err = reply.Marshal(structure, true)
	return data, "application/json", err
}

// Structured returns the main part of a stored page with its headings, lists, links and tables. For a
// page without text the error is a NoText.
func Structured(page webobject.Object) (structured.Page, error) {
	structure, err := document.Structure(page)
	if err != nil {
		return structured.Page{}, &NoText{URL: page.URL, Err: err}
	}
	structure.Fetched = page.Downloaded.UTC()
	return structure, nil
}

// NoText is the error that a stored page has no text that can be read.
type NoText struct {
	URL string
	Err error
}

// Error implements error.
func (n *NoText) Error() string {
	return fmt.Sprintf("%s has no text that can be read (%v); ask for it as html, which is as it is stored", n.URL, n.Err)
}

// Unwrap returns the reason.
func (n *NoText) Unwrap() error { return n.Err }
