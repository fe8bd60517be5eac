package segment

import (
	"bytes"
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring"
	api "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"
)

// gap is how many positions lie between the headings of a document, so that
// no phrase spans two of them.
const gap = 100

// posted is a document as ice indexes it: the terms of its fields.
type posted struct{ fields [fieldCount]postedField }

// newPosted analyses a document.
func newPosted(a *analyzer, d *Document) *posted {
	p := &posted{}
	var position [fieldCount]int
	for f := range p.fields {
		p.fields[f].name = fieldNames[f]
	}
	d.eachText(func(f int, text string) {
		field := &p.fields[f]
		last := a.each(text, func(o occurrence) bool {
			field.add(o.term, position[f]+o.position)
			return true
		})
		position[f] += last + gap
	})
	return p
}

// Analyze implements segment.Document.
func (*posted) Analyze() {}

// EachField implements segment.Document.
func (p *posted) EachField(visit api.VisitField) {
	for f := range p.fields {
		if p.fields[f].length > 0 {
			visit(&p.fields[f])
		}
	}
}

type postedField struct {
	name   string
	length int
	terms  []postedTerm
	number map[string]int // of a term in terms
}

func (f *postedField) add(term string, position int) {
	f.length++
	n, known := f.number[term]
	if !known {
		if f.number == nil {
			f.number = map[string]int{}
		}
		n = len(f.terms)
		f.number[term] = n
		f.terms = append(f.terms, postedTerm{term: term})
	}
	f.terms[n].positions = append(f.terms[n].positions, location(position))
}

func (f *postedField) Name() string         { return f.name }
func (f *postedField) Length() int          { return f.length }
func (f *postedField) Value() []byte        { return nil }
func (f *postedField) Index() bool          { return true }
func (f *postedField) Store() bool          { return false }
func (f *postedField) IndexDocValues() bool { return false }

func (f *postedField) EachTerm(visit api.VisitTerm) {
	for i := range f.terms {
		visit(&f.terms[i])
	}
}

type postedTerm struct {
	term      string
	positions []location
}

func (t *postedTerm) Term() []byte   { return []byte(t.term) }
func (t *postedTerm) Frequency() int { return len(t.positions) }

func (t *postedTerm) EachLocation(visit api.VisitLocation) {
	for _, at := range t.positions {
		visit(at)
	}
}

// location is a position; snippets find the bytes by analysing the text again.
type location int

func (location) Field() string { return "" } // the term's own
func (location) Start() int    { return 0 }
func (location) End() int      { return 0 }
func (l location) Pos() int    { return int(l) }
func (location) Size() int     { return 8 }

// normOf keeps a field's length as the bits of ice's norm; lengthOf reads it.
func normOf(_ string, length int) float32 { return math.Float32frombits(uint32(length)) }

func lengthOf(norm float64) float64 { return float64(math.Float32bits(float32(norm))) }

// newPostings indexes documents in memory, at some fifty times their text.
func newPostings(documents []api.Document) (api.Segment, error) {
	postings, _, err := ice.New(documents, normOf)
	if err != nil {
		return nil, fmt.Errorf("cannot index %d documents: %w", len(documents), err)
	}
	return postings, nil
}

// mergePostings writes the parts as one, documents in the order of the parts.
func mergePostings(parts []api.Segment) ([]byte, error) {
	var out bytes.Buffer
	var err error
	switch len(parts) {
	case 0:
	case 1:
		_, err = parts[0].WriteTo(&out, nil)
	default:
		_, err = ice.Merge(parts, make([]*roaring.Bitmap, len(parts)), 1<<16).WriteTo(&out, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot write postings of %d parts: %w", len(parts), err)
	}
	return out.Bytes(), nil
}

// loadPostings opens what mergePostings wrote. ice trusts its input and panics
// on what it did not write itself.
func loadPostings(content []byte) (postings api.Segment, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("cannot load postings: %v", cause)
		}
	}()
	postings, err = ice.Load(api.NewDataBytes(content))
	if err != nil {
		return nil, fmt.Errorf("cannot load postings: %w", err)
	}
	return postings, nil
}
