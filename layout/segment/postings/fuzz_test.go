package postings

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzOpen opens arbitrary bytes as a list of postings of either version. If Open accepts them, every method of the
// list can be called.
func FuzzOpen(f *testing.F) {
	r := rand.New(rand.NewPCG(12, 13))
	for _, documents := range [][]model{simple(7), simple(0, 1, 2), english(r, 40, 3), english(r, 300, 3), anything(r, 260)} {
		list, positions := encode(documents)
		f.Add(list, positions, false)
		list, positions, _ = encode2(documents)
		f.Add(list, positions, true)
	}
	f.Add([]byte{0x10, 0x80, 0x80}, []byte{}, false)
	f.Add([]byte{}, []byte{}, false)
	f.Fuzz(func(t *testing.T, data, positions []byte, two bool) {
		var lengths Lengths
		if two {
			lengths = make(Lengths, 5000)
		}
		l, err := Open(data, lengths)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("not marked as damage: %v", err)
			}
			return
		}
		docs := everything(t, l, positions)
		it := l.Iterator()
		for it.Next() != NoMore {
		}
		if it.Err() == nil && (len(docs) != int(l.Summary().Documents) || docs[len(docs)-1] != l.Summary().Last) {
			t.Fatalf("%d documents of %+v", len(docs), l.Summary())
		}
		it.Reset(l)
		for i := 0; i < len(docs); i += 1 + i/3 {
			if got := it.Advance(docs[i]); got != docs[i] {
				t.Fatalf("advanced to %d, want %d", got, docs[i])
			}
		}
	})
}

// everything walks a list, calls every method of the iterator at each document, and returns the
// documents.
func everything(t *testing.T, l *List, positions []byte) (docs []uint32) {
	it, next := l.Iterator(), uint32(0)
	var dst []uint32
	for doc := it.Next(); doc != NoMore; doc = it.Next() {
		if doc < next || doc > l.Summary().Last {
			t.Fatalf("document %d where %d to %d are due", doc, next, l.Summary().Last)
		}
		next = doc + 1
		docs = append(docs, doc)
		if last := it.Shallow(doc); last < doc {
			t.Fatalf("the block of %d ends at %d", doc, last)
		}
		freq, _, _ := it.Payload()
		total := uint64(0)
		for _, n := range freq {
			total += uint64(n)
		}
		for i, impact := range it.BlockImpacts() {
			if impact.Field >= Fields || i > Fields*256 {
				t.Fatalf("impact %d: %+v", i, impact)
			}
		}
		offset, size := it.PositionBlock()
		if uint64(offset)+uint64(size) > uint64(l.Summary().Positions) {
			t.Fatalf("positions at %d, %d bytes, of %d", offset, size, l.Summary().Positions)
		}
		block := positions[min(int(offset), len(positions)):]
		var err error
		dst, err = it.Positions(block[:min(int(size), len(block))], dst[:0])
		if err == nil && uint64(len(dst)) != total || len(dst) > 8*len(block) {
			t.Fatalf("%d positions of %d in %d bytes", len(dst), total, len(block))
		}
	}
	return docs
}

// FuzzRoundTrip makes documents from arbitrary bytes, encodes them, and decodes them again.
func FuzzRoundTrip(f *testing.F) {
	r := rand.New(rand.NewPCG(14, 15))
	for _, n := range []int{0, 1, 20, 4000} {
		seed := make([]byte, n)
		for i := range seed {
			seed[i] = byte(r.Uint32() >> r.IntN(30))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		number := func() (v uint32) {
			n := min(len(data), 1+len(data)%4)
			var whole [4]byte
			copy(whole[:], data[:n])
			data = data[n:]
			return binary.LittleEndian.Uint32(whole[:])
		}
		var want []model
		for doc := uint64(0); len(data) > 0; doc++ {
			if doc += uint64(number()); doc >= NoMore {
				break
			}
			d := model{Posting: Posting{Doc: uint32(doc), Hits: Hits(number() & 7)}}
			for field := range Fields {
				if d.Freq[field] = number() % 7 * (number() & 1); d.Freq[field] == 0 {
					continue
				}
				d.Length[field] = uint8(number())
				from := len(d.Positions)
				for range d.Freq[field] {
					d.Positions = append(d.Positions, number())
				}
				slices.Sort(d.Positions[from:])
			}
			want = append(want, d)
		}
		if len(want) == 0 {
			return
		}
		l, positions := open(t, want)
		if diff := difference(want, walk(t, l.Iterator(), positions)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(pareto(want), l.Summary().Impacts); diff != "" {
			t.Error(diff)
		}
	})
}
