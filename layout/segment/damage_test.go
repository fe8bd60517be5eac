package segment

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

// readAll reads whatever can be read of a segment and returns all errors.
func readAll(t testing.TB, s *Segment) error {
	ctx := t.Context()
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	terms, _, err := s.Prefix(ctx, "", 1000)
	note(err)
	names := []string{"absent"}
	for _, term := range terms {
		names = append(names, term.Text)
	}
	again, err := s.Terms(ctx, names, len(names)%2 == 0)
	note(err)
	for _, term := range again {
		if term == nil {
			continue
		}
		it := term.List.Iterator()
		for doc := it.Next(); doc != postings.NoMore; doc = it.Next() {
			it.Payload()
			offset, size := it.PositionBlock()
			blocks, err := s.ReadPositions(ctx, []Positions{{term, offset, size}})
			note(err)
			if err == nil {
				_, err = it.Positions(blocks[0], nil)
				note(err)
			}
		}
		note(it.Err())
	}
	for doc := range uint32(min(s.Documents(), 1000)) {
		_, err := s.Stored(ctx, []uint32{doc})
		note(err)
	}
	_, err = s.Identities(ctx)
	note(err)
	_, err = s.readFilter(ctx)
	note(err)
	_, err = s.column(ctx, orderColumn, orderKind)
	note(err)
	_, err = s.Sketches(ctx)
	note(err)
	if s.VectorsInPages() {
		vectors, err := s.Vectors(ctx, numbersBelow(min(s.Documents(), 1000)))
		note(err)
		for _, v := range vectors {
			v.Decode()
		}
	}
	for _, name := range numberColumns {
		_, err = s.Numbers(ctx, name)
		note(err)
	}
	for _, name := range stringColumns {
		c, err := s.Strings(ctx, name)
		note(err)
		if err == nil && len(c.Of) > 0 {
			c.Get(uint32(len(c.Of) - 1))
		}
	}
	walk, err := s.walkWords(ctx)
	note(err)
	for more := err == nil; more; {
		more, err = walk.next()
		note(err)
	}
	for _, set := range []WordSet{Beginning(""), newSet(beginning("", true, nil))} {
		words, err := s.Words(ctx, set)
		note(err)
		if err == nil {
			note(words.Each(set, func([]byte, uint64) bool { return true }))
		}
	}
	of, err := s.Suggestions(ctx, "na")
	note(err)
	if err == nil && of != nil {
		var numbers []uint32
		note(of.Find(ctx, "na", func(found Suggested) { numbers = append(numbers, found.Number) }))
		_, err = of.Get(ctx, numbers)
		note(err)
	}
	return errors.Join(errs...)
}

// TestEveryByteCounts changes every byte of a segment, one at a time. Check notices each
// change; no read panics, or returns wrong data without an error.
func TestEveryByteCounts(t *testing.T) {
	docs := generate(2, 1)
	for i := range docs {
		docs[i].Body, docs[i].Name = docs[i].Body[:50], "Name"
	}
	docs = supplemented(docs)
	content := mustBuild(t, docs, 0)
	sound := mustOpen(t, content)
	if err := readAll(t, sound); err != nil {
		t.Fatal(err)
	}
	of, err := sound.Suggestions(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	blocks, inner := sound.columnOf(suggestionBlocks, suggestionBlocksKind), of.blocks // inner has one block
	ref := Ref{Key: "segments/0000/a.seg", Bytes: int64(len(content)), Tail: sound.Ref().Tail}
	for i := 0; i < len(content); i += racetest.Rounds(1, 29) {
		changed := slices.Clone(content)
		changed[i] ^= 1 << (i % 8)
		err := Check(changed)
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) {
			t.Errorf("byte %d: %v", i, err)
		}
		s, err := Open(t.Context(), Bytes(changed), ref)
		if err == nil {
			err = readAll(t, s)
		}
		if err == nil { // only merges read the samples of words
			_, _, err = Merge(t.Context(), []Input{{Segment: s}}, 1<<30, t.TempDir())
		}
		// Only Check reads the first bytes, and those of the column of blocks that are around the blocks.
		at := int64(i)
		around := at >= blocks.offset && at < inner[0].Offset || at >= inner[0].Offset+inner[0].Length && at < blocks.end()
		if i >= len(magic) && !around && !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d: reading: %v", i, err)
		}
		if err != nil && !strings.Contains(err.Error(), ref.Key) {
			t.Errorf("byte %d: the error does not name the segment: %v", i, err)
		}
	}
}

// TestCheckLengths changes the length of a document in the tail, whose checksum is right. Check must find it.
func TestCheckLengths(t *testing.T) {
	content := mustBuild(t, generate(3, 1), 0)
	last := *mustOpen(t, content).tail
	last.lengths[2][Body]++
	if err := Check(last.appendTo(content[:last.end()], 0)); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "length code") {
		t.Errorf("another length: %v", err)
	}
}

func TestTruncated(t *testing.T) {
	content := mustBuild(t, generate(1, 1), 0)
	for size := range content {
		if err := Check(content[:size]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%d of %d bytes: %v", size, len(content), err)
		}
		for _, ref := range []Ref{{Bytes: int64(len(content)), Tail: 500}, {Bytes: int64(size), Tail: 30}, {Bytes: int64(size)}} {
			if _, err := Open(t.Context(), Bytes(content[:size]), ref); err == nil {
				t.Fatalf("%d of %d bytes were opened by %+v", size, len(content), ref)
			}
		}
	}
}

func TestVersions(t *testing.T) {
	content := mustBuild(t, generate(4, 1), 0)
	older, newer := slices.Clone(content), slices.Clone(content)
	older[5], newer[5] = 1, version+1
	for _, test := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"older", older, "segment is of version 1, which this program no longer reads: run bucketsearch reindex"},
		{"newer", newer, "segment is of version 5 and needs a reader of version 5, this one is of version 4: use a newer program"},
	} {
		_, err := Open(t.Context(), Bytes(test.content), Ref{Key: "k", Bytes: int64(len(content))})
		for _, err := range []error{err, Check(test.content)} {
			if !errors.Is(err, ErrVersion) || !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	}
	// A segment of a later version, whose tail says that this program can read it.
	last := *mustOpen(t, content).tail
	object := last.appendTo(slices.Clone(content[:last.end()]), 0)
	object[last.end()] = 9
	reseal(object)
	if err := Check(object); err != nil {
		t.Errorf("version 9 that a reader of version 4 can read: %v", err)
	}
	object[last.end()+1] = 9
	reseal(object)
	if err := Check(object); !errors.Is(err, ErrVersion) {
		t.Errorf("version 9 that only a reader of version 9 can read: %v", err)
	}
}
