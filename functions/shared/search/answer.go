package search

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// An Answer has a binary form, which a root decodes in a small part of the time of JSON. All numbers are big-endian.
// Candidates of another form need a media type of their own (see package leaf): other versions cannot decode them.
//
//	size of the JSON              u32
//	the answer without Best       JSON
//	number of elements of Best    u32; then of each element:
//	    Segment, Doc, Date        u32 each
//	    the six scores            f64 each: Score, Words, Newness, Titled, Defined, Near
//	    which of the next two     u8: the sum of hasIdentity and hasVector, one of them, or 0
//	    Identity                  16 bytes
//	    Vector                    segment.VectorSize bytes
//	    number of Phrases         u32; then of each one Freq (u32 each), Length (u8 each) and Share (f64)
const (
	hasIdentity = 1
	hasVector   = 2

	candidateSize  = 3*4 + 6*8 + 1 + 4                         // least size of an element of Best, in bytes
	occurrenceSize = 4*postings.Fields + postings.Fields*1 + 8 // size of an element of Phrases, in bytes
)

// AppendBinary implements encoding.BinaryAppender.
func (a *Answer) AppendBinary(b []byte) ([]byte, error) {
	others := *a
	others.Best = nil
	content, err := json.Marshal(&others)
	if err != nil {
		return nil, err
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(content)))
	b = append(b, content...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(a.Best)))
	for i := range a.Best {
		b = a.Best[i].append(b)
	}
	return b, nil
}

func (c *Candidate) append(b []byte) []byte {
	for _, n := range [...]uint32{uint32(c.Segment), c.Doc, uint32(c.Date)} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	for _, score := range c.scores() {
		b = appendFloat(b, *score)
	}
	has := len(b)
	b = append(b, 0)
	if c.Identity != nil {
		b[has] |= hasIdentity
		b = append(b, c.Identity[:]...)
	}
	if len(c.Vector) == segment.VectorSize {
		b[has] |= hasVector
		b = append(b, c.Vector...)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(c.Phrases)))
	for _, o := range c.Phrases {
		for _, n := range o.Freq {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		b = append(b, o.Length[:]...)
		b = appendFloat(b, o.Share)
	}
	return b
}

func (c *Candidate) scores() [6]*float64 {
	return [...]*float64{&c.Score, &c.Words, &c.Newness, &c.Titled, &c.Defined, &c.Near}
}

func appendFloat(b []byte, f float64) []byte {
	return binary.BigEndian.AppendUint64(b, math.Float64bits(f))
}

// errUnreadable is the error of bytes that are not those of an Answer.
var errUnreadable = errors.New("its answer is cut off or damaged")

// UnmarshalBinary implements encoding.BinaryUnmarshaler. The answer refers to parts of b, which must not be changed
// afterwards.
func (a *Answer) UnmarshalBinary(b []byte) error {
	r := answerReader{rest: b}
	content := r.take(r.count(1))
	if r.failed {
		return errUnreadable
	}
	*a = Answer{}
	if err := json.Unmarshal(content, a); err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	a.Best = nil
	if n := r.count(candidateSize); n > 0 {
		a.Best = make([]Candidate, n)
	}
	for i := range a.Best {
		r.candidate(&a.Best[i])
	}
	if r.failed || len(r.rest) > 0 {
		return errUnreadable
	}
	return nil
}

// answerReader reads what is in an answer. After a failure it reads zeros.
type answerReader struct {
	rest   []byte
	failed bool // whether bytes are missing, or a float is no number
}

func (r *answerReader) candidate(c *Candidate) {
	c.Segment, c.Doc, c.Date = int(int32(r.number())), r.number(), int(int32(r.number()))
	for _, score := range c.scores() {
		*score = r.float()
	}
	has := r.take(1)
	if r.failed {
		return
	}
	if has[0]&hasIdentity != 0 {
		c.Identity = new(layout.Identity)
		copy(c.Identity[:], r.take(len(c.Identity)))
	}
	if has[0]&hasVector != 0 {
		c.Vector = r.take(segment.VectorSize)
	}
	if n := r.count(occurrenceSize); n > 0 {
		c.Phrases = make([]Occurrence, n)
	}
	for i := range c.Phrases {
		o := &c.Phrases[i]
		for field := range o.Freq {
			o.Freq[field] = r.number()
		}
		copy(o.Length[:], r.take(len(o.Length)))
		o.Share = r.float()
	}
}

// take returns the next n bytes; nil if there are fewer.
func (r *answerReader) take(n int) []byte {
	if r.failed || len(r.rest) < n {
		r.failed = true
		return nil
	}
	taken := r.rest[:n:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *answerReader) number() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// count reads the number of elements that follow, of at least the given size in bytes. It fails if so many bytes are
// not left.
func (r *answerReader) count(size int) int {
	n := int64(r.number())
	if n*int64(size) > int64(len(r.rest)) {
		r.failed = true
		return 0
	}
	return int(n)
}

// float reads a number. It fails for infinity, and for what is not a number: no score is one.
func (r *answerReader) float() float64 {
	b := r.take(8)
	if b == nil {
		return 0
	}
	f := math.Float64frombits(binary.BigEndian.Uint64(b))
	if math.IsNaN(f) || math.IsInf(f, 0) {
		r.failed = true
		return 0
	}
	return f
}
