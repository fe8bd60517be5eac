package curation

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2"

	"github.com/bucketsearch/bucketsearch/strategy/literal/tables"
)

// Parse returns the curation that the content of a TOML file describes:
//
//	[[synonyms]]
//	words = ["postgres", "postgresql", "pg"]    # each finds the others
//
//	[[synonyms]]
//	words = ["k8s"]                             # one way: k8s finds kubernetes, too
//	also = ["kubernetes"]
//
//	[[synonyms]]
//	words = ["ha", "high availability"]         # several words that stand together
//
//	[[pins]]
//	queries = ["download", "get postgres"]      # whole queries; case and spaces do not matter
//	pages = ["https://example.org/download"]    # first, in this order, and marked as pinned
//
//	[[bans]]
//	pages = ["https://example.org/old/*"]       # hidden for all queries
//
//	[[bans]]
//	queries = ["install"]                       # hidden for these queries only
//	pages = ["https://example.org/install-8"]
//
// If the file has mistakes, the error lists them all, one a line, each with file, line and the expected
// value. The parameter name is the name of the file in these errors.
func Parse(name string, content []byte) (Document, error) {
	if len(content) > MaxBytes {
		return Document{}, fmt.Errorf("%s: %d bytes, more than %d", name, len(content), MaxBytes)
	}
	file, root, err := tables.Parse(name, content)
	if err != nil {
		return Document{}, err
	}
	var d Document
	for _, t := range root.Tables("synonyms") {
		var s Synonyms
		t.Texts("words", appendTo(&s.Words, "words", validWord))
		t.Texts("also", appendTo(&s.Also, "also", validWord))
		end(t, "synonyms", s.validate)
		d.Synonyms = append(d.Synonyms, s)
	}
	for _, t := range root.Tables("pins") {
		var p Pin
		t.Texts("queries", appendTo(&p.Queries, "queries", validQuery))
		t.Texts("pages", appendTo(&p.Pages, "pages", validPage))
		end(t, "pins", p.validate)
		d.Pins = append(d.Pins, p)
	}
	for _, t := range root.Tables("bans") {
		var b Ban
		t.Texts("queries", appendTo(&b.Queries, "queries", validQuery))
		t.Texts("pages", appendTo(&b.Pages, "pages", validBanned))
		if t.Has("queries") && len(b.Queries) == 0 { // else a list that somebody emptied would ban for all queries
			t.Wrong("queries", errors.New("queries: an empty list; leave it out to hide the pages for all queries"))
		}
		end(t, "bans", b.validate)
		d.Bans = append(d.Bans, b)
	}
	root.End()
	if err := file.Err(); err != nil {
		return Document{}, err
	}
	if err := d.Validate(); err != nil {
		return Document{}, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

// appendTo returns a function that appends a text to *list, and then checks the text with valid. Errors
// name the key under which the file has the list.
func appendTo(list *[]string, key string, valid func(string) error) func(string) error {
	return func(text string) error {
		*list = append(*list, text)
		if err := valid(text); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	}
}

// end finishes reading a table [[name]]. It records a mistake for each unknown key. If the file has no
// mistake so far, it also records the mistake that valid finds in the whole table; otherwise that could
// be a mistake already recorded.
func end(t *tables.Table, name string, valid func() error) {
	t.End()
	if !t.IsSound() {
		return
	}
	if err := valid(); err != nil {
		t.Wrong("", fmt.Errorf("[[%s]]: %w", name, err))
	}
}

// TOML returns the document as a file that Parse reads.
func (d Document) TOML() ([]byte, error) {
	var b bytes.Buffer
	err := toml.NewEncoder(&b).Encode(d)
	return b.Bytes(), err
}
