package postings

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lists returns the documents of posting lists of many shapes. The key is the name of the shape.
func lists() map[string][]model {
	r := rand.New(rand.NewPCG(1, 2))
	until := func(n int) (docs []uint32) {
		for doc := range uint32(n) {
			docs = append(docs, doc)
		}
		return docs
	}
	numbers := map[string][]model{
		"document 0":         simple(0),
		"last document":      simple(NoMore - 1),
		"first and last":     simple(0, NoMore-1),
		"nowhere":            {{Posting: Posting{Doc: 7}}},
		"nowhere, often":     nil,
		"only the title":     {{Posting: Posting{Doc: 9, Freq: [Fields]uint32{2}, Length: [Fields]uint8{5}}, Positions: []uint32{0, 4}}},
		"far positions":      {{Posting: Posting{Doc: 9, Freq: [Fields]uint32{3: 3}, Length: [Fields]uint8{3: 3}}, Positions: []uint32{0, math.MaxUint32, math.MaxUint32}}},
		"often":              {{Posting: Posting{Doc: 1, Freq: [Fields]uint32{3: 20_000}, Length: [Fields]uint8{3: 255}}, Positions: until(20_000)}},
		"often in one place": {{Posting: Posting{Doc: 1, Freq: [Fields]uint32{1: 300}, Length: [Fields]uint8{1: 1}}, Positions: make([]uint32, 300)}},
		"all fields and hits": {{
			Posting:   Posting{Doc: 3, Freq: [Fields]uint32{1, 2, 1, 3}, Length: [Fields]uint8{1, 0, 30, 200}, Hits: Capitals | Large | Emphasis},
			Positions: []uint32{0, 1, 1, 17, 0, 40, 2000},
		}},
	}
	for doc := range uint32(300) {
		numbers["nowhere, often"] = append(numbers["nowhere, often"], model{Posting: Posting{Doc: doc * 3}})
	}
	spread := simple(0)
	for range 40 {
		spread = append(spread, simple(spread[len(spread)-1].Doc+uint32(1<<r.IntN(20)))...)
	}
	numbers["spread"] = spread
	for _, n := range []int{1, 2, 3, 4, 5, 8, 9, 16, 17, 127, 128, 129, 255, 256, 257, 1000} {
		name := strconv.Itoa(n)
		numbers[name+" documents in a row"] = simple(until(n)...)
		numbers[name+" of English"] = english(r, n, 5)
		numbers[name+" of anything"] = anything(r, n)
		high := simple(until(n)...)
		for i := range high {
			high[i].Doc += NoMore - uint32(n)
		}
		numbers[name+" of the highest"] = high
	}
	return numbers
}

// anything returns n documents with random numbers, frequencies, lengths and hits.
func anything(r *rand.Rand, n int) (documents []model) {
	doc := uint32(0)
	for range n {
		doc += uint32(1)<<r.IntN(21) + r.Uint32N(3)
		d := model{Posting: Posting{Doc: doc, Hits: Hits(r.IntN(8))}}
		for field := range Fields {
			if r.IntN(2) == 0 {
				continue
			}
			d.Freq[field], d.Length[field] = 1+r.Uint32N(1<<r.IntN(6)), uint8(r.IntN(256))
			from := len(d.Positions)
			for range d.Freq[field] {
				d.Positions = append(d.Positions, r.Uint32()>>r.IntN(32))
			}
			slices.Sort(d.Positions[from:])
		}
		documents = append(documents, d)
	}
	return documents
}

func TestRoundTrip(t *testing.T) {
	var it Iterator // used again
	for name, want := range lists() {
		t.Run(name, func(t *testing.T) {
			l, positions := open(t, want)
			if diff := difference(want, walk(t, l.Iterator(), positions)); diff != "" {
				t.Fatal(diff)
			}
			it.Reset(l)
			if diff := difference(want, walk(t, &it, positions)); diff != "" {
				t.Fatalf("used again: %s", diff)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	for name, documents := range lists() {
		l, positions := open(t, documents)
		want := Summary{
			Documents: uint32(len(documents)),
			Last:      documents[len(documents)-1].Doc,
			Impacts:   pareto(documents),
			Positions: uint32(len(positions)),
		}
		for _, d := range documents {
			for field, n := range d.Freq {
				want.FieldDocuments[field] += min(n, 1)
			}
		}
		if diff := cmp.Diff(want, *l.Summary()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestBlockImpacts(t *testing.T) {
	for name, documents := range lists() {
		l, _ := open(t, documents)
		ahead, moved := l.Iterator(), l.Iterator()
		for block := range slices.Chunk(documents, BlockSize) {
			want, end := pareto(block), block[len(block)-1].Doc
			for i, d := range block {
				if last := ahead.Shallow(d.Doc); last != end {
					t.Fatalf("%s: the block of %d ends at %d, want %d", name, d.Doc, last, end)
				}
				if moved.Next(); i > 0 && i < len(block)-1 {
					continue
				}
				if diff := cmp.Diff(want, ahead.BlockImpacts()); diff != "" {
					t.Fatalf("%s: of Shallow's block: %s", name, diff)
				}
				if diff := cmp.Diff(want, moved.BlockImpacts()); diff != "" {
					t.Fatalf("%s: of the current block: %s", name, diff)
				}
			}
		}
		if last := ahead.Shallow(l.Summary().Last + 1); last != NoMore || ahead.BlockImpacts() != nil {
			t.Errorf("%s: behind the last: %d, %v", name, last, ahead.BlockImpacts())
		}
	}
}

// pareto returns the impacts that no other impact dominates (see impactSet), by comparing all pairs.
func pareto(documents []model) (impacts []Impact) {
	for field := range Fields {
		var every []Impact
		for _, d := range documents {
			if d.Freq[field] > 0 {
				every = append(every, Impact{uint8(field), d.Freq[field], d.Length[field]})
			}
		}
		slices.SortFunc(every, func(a, b Impact) int {
			if a.Freq != b.Freq {
				return int(int64(a.Freq) - int64(b.Freq))
			}
			return int(a.Length) - int(b.Length)
		})
		every = slices.Compact(every)
		for _, a := range every {
			if !slices.ContainsFunc(every, func(b Impact) bool {
				return a != b && b.Freq >= a.Freq && b.Length <= a.Length
			}) {
				impacts = append(impacts, a)
			}
		}
	}
	return impacts
}
