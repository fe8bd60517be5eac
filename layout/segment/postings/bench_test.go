package postings

import (
	"math/rand/v2"
	"testing"
)

// sample returns 50,000 random documents with a term that is in one of eight pages, and the encoded
// list of these documents.
func sample(b *testing.B) (documents []model, l *List, positions []byte) {
	documents = english(rand.New(rand.NewPCG(7, 7)), 50_000, 8)
	l, positions = open(b, documents)
	b.ReportAllocs()
	return documents, l, positions
}

// occurrences returns the number of positions in all documents.
func occurrences(documents []model) (n int) {
	for _, d := range documents {
		n += len(d.Positions)
	}
	return n
}

// rate reports how many items were handled per second. The parameter n is the number of items in one
// iteration of the benchmark.
func rate(b *testing.B, n int, unit string) {
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "M"+unit+"/s")
}

func BenchmarkEncode(b *testing.B) {
	documents, _, _ := sample(b)
	var e Encoder
	var list, positions []byte
	for b.Loop() {
		e.Reset()
		for i := range documents {
			e.Add(documents[i].Posting, documents[i].Positions)
		}
		list, positions = e.Append(list[:0], positions[:0])
	}
	rate(b, len(documents), "postings")
	b.ReportMetric(float64(len(list))/float64(len(documents)), "B/posting")
	b.ReportMetric(float64(len(positions))/float64(occurrences(documents)), "B/position")
}

func BenchmarkOpen(b *testing.B) {
	_, l, _ := sample(b)
	for b.Loop() {
		if _, err := Open(l.data, nil); err != nil {
			b.Fatal(err)
		}
	}
	rate(b, len(l.blocks), "blocks")
}

func BenchmarkOpenSmall(b *testing.B) {
	data, _ := encode(simple(70_000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(data, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	documents, l, _ := sample(b)
	var it Iterator
	for b.Loop() {
		it.Reset(l)
		for it.Next() != NoMore {
		}
	}
	rate(b, len(documents), "docs")
}

func BenchmarkPayload(b *testing.B) {
	documents, l, _ := sample(b)
	var it Iterator
	total := uint32(0)
	for b.Loop() {
		it.Reset(l)
		for it.Next() != NoMore {
			freq, _, _ := it.Payload()
			total += freq[body]
		}
	}
	rate(b, len(documents), "postings")
}

func BenchmarkAdvance(b *testing.B) {
	_, l, _ := sample(b)
	var it Iterator
	moves := 0
	for b.Loop() {
		it.Reset(l)
		moves = 0
		for doc := it.Advance(0); doc != NoMore; doc = it.Advance(doc + 97) {
			moves++
		}
	}
	rate(b, moves, "moves")
}

func BenchmarkImpacts(b *testing.B) {
	_, l, _ := sample(b)
	var it Iterator
	for b.Loop() {
		it.Reset(l)
		for last := it.Shallow(0); last != NoMore; last = it.Shallow(last + 1) {
			it.BlockImpacts()
		}
	}
	rate(b, len(l.blocks)-1, "blocks")
}

func BenchmarkPositions(b *testing.B) {
	documents, l, positions := sample(b)
	var it Iterator
	var dst []uint32
	for b.Loop() {
		it.Reset(l)
		for it.Next() != NoMore {
			offset, size := it.PositionBlock()
			dst, _ = it.Positions(positions[offset:offset+size], dst[:0])
		}
	}
	rate(b, occurrences(documents), "positions")
}
