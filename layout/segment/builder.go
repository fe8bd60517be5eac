package segment

import (
	"context"
	"fmt"
	"iter"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// runText is the size of text, in bytes, after which a Builder encodes the terms in its memory as a
// run (see Builder).
const runText = 8 << 20

// Builder makes a segment from documents. It indexes them in memory. After every 8 MiB of text
// or so, it encodes the terms compactly as a run, and empties the index; Finish merges the
// runs. It takes at most some 24 MiB of memory, plus one and a half times the size of the
// segment. It is not safe for concurrent use.
type Builder struct {
	analysis map[string]uint32
	runText  int
	object   *objectWriter
	stored   storedWriter
	columns  columnWriter
	codes    [][postings.Fields]uint8 // length code of each field, for each document (see postings.LengthCode)
	index    *memoryIndex             // terms of the latest documents, which are not yet encoded as a run
	runs     []run                    // encoded terms of all earlier documents, the earliest first
	err      error                    // first error of Add
}

// NewBuilder returns a Builder without documents. analysis holds the version of each
// language's analyzer.
func NewBuilder(analysis map[string]uint32) *Builder {
	b := &Builder{analysis: analysis, runText: runText, index: newMemoryIndex(), object: newObjectWriter(nil)}
	b.stored.object = b.object
	return b
}

// Add adds the next document with its tokens; documents are numbered from 0. The tokens must be
// sorted by field, and within a field by position. After an error the Builder must not be used.
func (b *Builder) Add(d *Document, tokens iter.Seq[Token]) error {
	if b.err == nil {
		b.err = b.add(d, tokens)
	}
	return b.err
}

func (b *Builder) add(d *Document, tokens iter.Seq[Token]) error {
	if len(b.codes) >= MaxDocuments {
		return fmt.Errorf("cannot index %s: %w: more than %d documents", d.URL, ErrTooLarge, MaxDocuments)
	}
	if !sortedOnce(d.Collections) || d.Offset < 0 || d.Length < 0 {
		return fmt.Errorf("cannot index %s: its collections must be sorted, each once, and its place not negative", d.URL)
	}
	if !areSections(d) {
		return fmt.Errorf("cannot index %s: its sections must have fragments, and be in the order of its headings and its body", d.URL)
	}
	if !areEntries(d) {
		return fmt.Errorf("cannot index %s: its entries must have terms and fragments, and be in the order of its body", d.URL)
	}
	if err := b.stored.add(d); err != nil {
		return err
	}
	lengths, vector, err := b.index.add(uint32(len(b.codes)), hashOf(d.ID[:]), tokens)
	if err != nil {
		return fmt.Errorf("cannot index %s: %w", d.URL, err)
	}
	b.columns.add(d, &lengths, vector)
	var codes [postings.Fields]uint8
	for f, n := range lengths {
		codes[f] = postings.LengthCode(n)
	}
	b.codes = append(b.codes, codes)
	b.index.text += textSize(d)
	b.object.spill()
	if b.index.text >= b.runText || b.index.size() >= 4*b.runText {
		b.flush()
	}
	return nil
}

// sortedOnce reports whether the strings are sorted and all different.
func sortedOnce(s []string) bool {
	for i := 1; i < len(s); i++ {
		if s[i-1] >= s[i] {
			return false
		}
	}
	return true
}

// textSize returns the size of a document's text in bytes.
func textSize(d *Document) int {
	n := len(d.Title) + len(d.URL) + len(d.Body)
	for _, h := range d.Headings {
		n += len(h)
	}
	return n
}

// flush encodes the terms in b.index as a run, and empties b.index.
func (b *Builder) flush() {
	b.runs = append(b.runs, b.index.pack())
	b.index.reset()
}

// Finish returns the bytes of the segment with all documents that were added. The Builder must not
// be used afterwards.
func (b *Builder) Finish() ([]byte, error) {
	if b.err != nil {
		return nil, b.err
	}
	b.stored.flush()
	b.flush()
	b.index = nil
	var terms *termWriter
	var columns *objectWriter
	var group errgroup.Group
	group.Go(func() (err error) {
		terms, err = b.terms()
		return err
	})
	group.Go(func() (err error) {
		columns, err = b.writeColumns()
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	b.runs = nil
	b.object.finish(terms, columns)
	return b.object.joined()
}

// terms returns a writer with the terms of all documents, merged from all runs.
func (b *Builder) terms() (*termWriter, error) {
	cursors := make([]termCursor, len(b.runs))
	for i, r := range b.runs {
		cursors[i] = &runTerms{parser: parser{data: r.terms}, codes: b.codes}
	}
	names, of := b.columns.strings[languageColumn].languages()
	return mergeTerms(new(termWriter), cursors, of, len(names))
}

// writeColumns returns the part of the segment that holds the columns: the values of each document,
// and the words of all documents.
func (b *Builder) writeColumns() (*objectWriter, error) {
	words := make([]wordCursor, len(b.runs))
	for i, r := range b.runs {
		words[i] = &runWords{parser: parser{data: r.words}, documents: uint32(len(b.codes))}
	}
	return b.columns.object(context.Background(), nil, b.analysis, words, []suggestionCursor{&b.columns.collected})
}
