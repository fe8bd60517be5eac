package segment_test

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// words yields the words of a document's body, each at its position.
func words(d *segment.Document) iter.Seq[segment.Token] {
	return func(yield func(segment.Token) bool) {
		for position, word := range strings.Fields(d.Body) {
			if !yield(segment.Token{Field: segment.Body, Term: word, Word: word, Position: uint32(position)}) {
				return
			}
		}
	}
}

// Example builds a segment from documents and their tokens, and looks up terms in it.
func Example() {
	builder := segment.NewBuilder(nil)
	for _, body := range []string{"a bucket of words", "words in a row"} {
		url := "http://example.org/" + strings.Fields(body)[0]
		document := &segment.Document{ID: layout.IdentityOf(url), URL: url, Body: body}
		if err := builder.Add(document, words(document)); err != nil {
			fmt.Println(err)
			return
		}
	}
	content, err := builder.Finish()
	if err != nil {
		fmt.Println(err)
		return
	}

	s, err := segment.OpenBytes(content)
	if err != nil {
		fmt.Println(err)
		return
	}
	terms, err := s.Terms(context.Background(), []string{"bucket", "words", "absent"}, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, term := range terms {
		if term != nil {
			fmt.Println(term.Text, "is in", term.Summary.Documents, "of", s.Documents(), "documents")
		}
	}
	// Output:
	// bucket is in 1 of 2 documents
	// words is in 2 of 2 documents
}
