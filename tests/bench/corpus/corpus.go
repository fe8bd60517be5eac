// Package corpus turns the documentation that Debian ships into one file of
// extracted text, so that every engine indexes the same words and none pays
// for extraction, and chooses queries from it.
//
// The file holds for each page a line of JSON and as many bytes of body as it
// says:
//
//	{"url":"http://docs.test/…","title":"…","headings":["…"],…,"bytes":5}\n
//	hello\n
package corpus

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Page is a page and its text.
type Page struct {
	URL      string        `json:"url"`
	Title    string        `json:"title"`
	Headings []string      `json:"headings,omitempty"`
	Lang     string        `json:"lang,omitempty"`
	Emphasis []layout.Span `json:"emphasis,omitempty"`
	Large    []layout.Span `json:"large,omitempty"`
	Bytes    int           `json:"bytes"` // of the body
	Body     string        `json:"-"`
}

// Text is how many bytes of text an engine is given.
func (p *Page) Text() int {
	n := len(p.Title) + len(p.Body)
	for _, h := range p.Headings {
		n += len(h)
	}
	return n
}

// Write appends a page to a corpus.
func Write(w io.Writer, p *Page) error {
	p.Bytes = len(p.Body)
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n%s\n", line, p.Body)
	return err
}

// Read yields the pages of a corpus, and stops at the first error.
func Read(r io.Reader) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		lines := bufio.NewReaderSize(r, 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			if err == io.EOF {
				return
			}
			p := new(Page)
			if err == nil {
				err = json.Unmarshal(line, p)
			}
			body := make([]byte, p.Bytes+1)
			if err == nil {
				_, err = io.ReadFull(lines, body)
			}
			p.Body = string(body[:p.Bytes])
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}
