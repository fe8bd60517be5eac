// Package corpus prepares the input of benchmarks. It extracts the text of Debian's documentation
// packages, writes it to one file (the corpus), and chooses queries from it. So every engine
// indexes the same words, and extraction is not part of the measured time.
//
// For each page the file has a line of JSON, then the body of the page, then a line feed. The
// length of the body is the member "bytes" of the JSON:
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

// Page is one page of a corpus, with its text.
type Page struct {
	URL      string        `json:"url"`
	Title    string        `json:"title"`
	Headings []string      `json:"headings,omitempty"`
	Lang     string        `json:"lang,omitempty"`
	Emphasis []layout.Span `json:"emphasis,omitempty"`
	Large    []layout.Span `json:"large,omitempty"`
	Bytes    int           `json:"bytes"` // length of Body in bytes
	Body     string        `json:"-"`
}

// Text returns the length of the page's text in bytes: title, headings and body.
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
