package segment

import (
	"fmt"
	"iter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// batchSize is how many bytes of text a builder gathers before it packs them.
const batchSize = 8 << 20

// Builder makes a segment. At most it holds some 24 MiB and one and a half times
// as many bytes as the segment has. It is not safe for concurrent use.
type Builder struct {
	analysis  map[string]uint32
	batchSize int
	object    *object
	stored    storedWriter
	columns   columnWriter
	codes     [][postings.Fields]uint8 // of the lengths of each document's fields
	batch     *batch
	runs      []run
	err       error // of Add
}

// NewBuilder returns a builder of a segment without documents. It is told the
// version of each language's analyzer.
func NewBuilder(analysis map[string]uint32) *Builder {
	b := &Builder{analysis: analysis, batchSize: batchSize, batch: newBatch(), object: newObject(0)}
	b.stored.object = b.object
	return b
}

// Add takes the next document; documents are numbered as they come. Its tokens
// come field by field, in the order of the fields' numbers. After an error the
// builder is of no use.
func (b *Builder) Add(d *Document, tokens iter.Seq[Token]) error {
	if b.err == nil {
		b.err = b.add(d, tokens)
	}
	return b.err
}

func (b *Builder) add(d *Document, tokens iter.Seq[Token]) error {
	if len(b.codes) >= MaxDocuments {
		return fmt.Errorf("cannot index %s: a segment holds at most %d documents", d.URL, MaxDocuments)
	}
	if !sortedOnce(d.Collections) || d.Offset < 0 || d.Length < 0 {
		return fmt.Errorf("cannot index %s: its collections must be sorted, each once, and its place not negative", d.URL)
	}
	if err := b.stored.add(d); err != nil {
		return err
	}
	lengths, err := b.batch.add(uint32(len(b.codes)), hashOf(d.ID[:]), tokens)
	if err != nil {
		return fmt.Errorf("cannot index %s: %w", d.URL, err)
	}
	b.columns.add(d, &lengths)
	var codes [postings.Fields]uint8
	for f, n := range lengths {
		codes[f] = postings.LengthCode(n)
	}
	b.codes = append(b.codes, codes)
	b.batch.text += textSize(d)
	b.object.spill()
	if b.batch.text >= b.batchSize || b.batch.size() >= 4*b.batchSize {
		b.flush()
	}
	return nil
}

func sortedOnce(s []string) bool {
	for i := 1; i < len(s); i++ {
		if s[i-1] >= s[i] {
			return false
		}
	}
	return true
}

func textSize(d *Document) int {
	n := len(d.Title) + len(d.URL) + len(d.Body)
	for _, h := range d.Headings {
		n += len(h)
	}
	return n
}

func (b *Builder) flush() {
	b.runs = append(b.runs, b.batch.pack())
	b.batch.reset()
}

// Finish returns the whole object. The builder is of no use afterwards.
func (b *Builder) Finish() ([]byte, error) {
	if b.err != nil {
		return nil, b.err
	}
	b.stored.close()
	b.flush()
	b.batch = nil
	var terms *termWriter
	var columns *object
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
	return b.object.finish(terms, columns), nil
}

// terms merges the terms of all runs.
func (b *Builder) terms() (*termWriter, error) {
	cursors := make([]termCursor, len(b.runs))
	for i, r := range b.runs {
		cursors[i] = &runTerms{parser: parser{data: r.terms}, codes: b.codes}
	}
	return mergeTerms(cursors)
}

// writeColumns returns an object of the columns and words.
func (b *Builder) writeColumns() (*object, error) {
	o := new(object)
	words := make([]wordCursor, len(b.runs))
	for i, r := range b.runs {
		words[i] = &runWords{parser: parser{data: r.words}, documents: uint32(len(b.codes))}
	}
	b.columns.writeTo(o, b.analysis)
	return o, o.writeWords(words, b.columns.hashes())
}

// The fields of a document that are searched, in the order of their numbers.
const (
	Title = iota
	Headings
	Address
	Body
)

// Document is a page as it is indexed and as it is found again.
type Document struct {
	ID      layout.Identity // of URL
	Version layout.Version

	URL         string
	Site        string
	Title       string
	Headings    []string
	Body        string // text, without markup
	Lang        string
	MIME        string
	Collections []string // sorted, each once
	Fetched     time.Time

	// Place of the stored page: key of its package, and offset and length in it.
	Package        string
	Offset, Length int64

	// Fingerprints of title and text. They are kept in columns alone:
	// documents that are read back have none.
	TitleHash, TextHash, Simhash uint64
	Sketch                       [16]uint16
}

// Token is a term at a position of a field. Its strings are not kept: they
// need not outlive the call that hands them over.
type Token struct {
	Field    int
	Term     string // as it is searched, at most MaxTerm bytes
	Word     string // as it is written, for spelling; "" if it is not counted
	Position uint32 // in the field, never below that of the token before
	Hits     postings.Hits
}

// Caps of what a segment takes.
const (
	MaxTerm      = 255      // bytes of a term or word
	MaxRecord    = 32 << 20 // bytes of a document as it is stored, before compression
	MaxDocuments = 1 << 23  // in a segment
)

// Distinct returns another segment of the same documents as one that Finish or
// Merge returned. Every number makes bytes of their own, so that it can be
// stored under a content hash that was never used. Number 0 makes the segment
// as it was built.
func Distinct(content []byte, number uint64) []byte {
	s, err := OpenBytes(content)
	if err != nil {
		panic(err) // content is no segment
	}
	t := *s.tail
	t.copy = number
	end := t.end()
	return t.appendTo(append(make([]byte, 0, len(content)+16), content[:end]...))
}
