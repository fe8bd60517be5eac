package postings

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// model is a posting with its positions, as Encoder.Add takes them.
type model struct {
	Posting
	Positions []uint32
}

// encode encodes the list and positions of some documents.
func encode(documents []model) (list, positions []byte) {
	var e Encoder
	for _, d := range documents {
		e.Add(d.Posting, d.Positions)
	}
	return e.Append(nil, nil)
}

// encode2 encodes the list of some documents in version 2. It also returns their length codes, which this list lacks.
func encode2(documents []model) (list, positions []byte, lengths Lengths) {
	var e Encoder
	e.WithoutLengths()
	for _, d := range documents {
		e.Add(d.Posting, d.Positions)
		lengths = append(lengths, make(Lengths, int(d.Doc)+1-len(lengths))...)
		lengths[d.Doc] = d.Length
	}
	list, positions = e.Append(nil, nil)
	return list, positions, lengths
}

// dense returns the documents with the numbers from 0 on.
func dense(documents []model) (numbered []model) {
	for i, d := range documents {
		d.Doc = uint32(i)
		numbered = append(numbered, d)
	}
	return numbered
}

// open encodes a list of some documents, and opens it.
func open(t testing.TB, documents []model) (*List, []byte) {
	t.Helper()
	data, positions := encode(documents)
	l, err := Open(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	if int(l.Summary().Positions) != len(positions) {
		t.Fatalf("the summary says %d bytes of positions, there are %d", l.Summary().Positions, len(positions))
	}
	return l, positions
}

// walk returns all documents after the current one.
func walk(t testing.TB, it *Iterator, positions []byte) (documents []model) {
	t.Helper()
	for doc := it.Next(); doc != NoMore; doc = it.Next() {
		documents = append(documents, current(t, it, positions))
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	return documents
}

// current returns the current document with its payload and positions.
func current(t testing.TB, it *Iterator, positions []byte) model {
	t.Helper()
	freq, length, hits := it.Payload()
	offset, size := it.PositionBlock()
	d := model{Posting: Posting{Doc: it.Doc(), Freq: *freq, Length: *length, Hits: hits}}
	for field, n := range freq {
		if n == 0 {
			d.Length[field] = 0 // it has no meaning
		}
	}
	var err error
	if d.Positions, err = it.Positions(positions[offset:offset+size], nil); err != nil {
		t.Fatal(err)
	}
	return d
}

// difference describes how two lists of documents differ; "" if they are equal.
func difference(want, got []model) string {
	same := func(a, b model) bool { return a.Posting == b.Posting && slices.Equal(a.Positions, b.Positions) }
	if slices.EqualFunc(want, got, same) {
		return ""
	}
	return cmp.Diff(want, got)
}

// simple returns documents that have the term once in the body.
func simple(docs ...uint32) (documents []model) {
	for _, doc := range docs {
		documents = append(documents, model{
			Posting:   Posting{Doc: doc, Freq: [Fields]uint32{3: 1}, Length: [Fields]uint8{3: LengthCode(100)}},
			Positions: []uint32{doc % 100},
		})
	}
	return documents
}

// english returns n documents with random numbers; the mean distance between two numbers is about
// gap. The documents resemble documentation in English: the term is mostly in the body, and lengths
// follow a log-normal distribution.
func english(r *rand.Rand, n, gap int) (documents []model) {
	doc := uint32(0)
	for range n {
		doc += uint32(r.ExpFloat64() * float64(gap-1))
		d := model{Posting: Posting{Doc: doc}}
		for field, p := range [Fields]float64{.03, .07, .03, .98} {
			if r.Float64() > p {
				continue
			}
			length := 4 + uint32(r.IntN(10))
			if field == body {
				length = uint32(math.Exp(6.5 + r.NormFloat64()))
			}
			freq := min(1+uint32(r.ExpFloat64()*math.Sqrt(float64(length)/200)), length)
			d.Freq[field], d.Length[field] = freq, LengthCode(length)
			at := len(d.Positions)
			for range freq {
				d.Positions = append(d.Positions, r.Uint32N(length))
			}
			slices.Sort(d.Positions[at:])
		}
		if r.Float64() < .2 {
			d.Hits = Hits(r.IntN(8))
		}
		documents = append(documents, d)
		doc++
	}
	return documents
}
