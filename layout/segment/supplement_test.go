package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring"
	"github.com/google/go-cmp/cmp"
)

// supplemented returns the documents with dates and sections: some with both, some with one of
// them, some with none. Its documents are those of testdata/segment.v3.supplements.
func supplemented(docs []Document) []Document {
	docs = slices.Clone(docs)
	for i := range docs {
		d := &docs[i]
		if i%3 != 1 {
			d.Date = time.Date(2020, 2, 27+i, 0, 0, 0, 0, time.UTC)
		}
		for heading := range d.Headings {
			if i%4 < 3 && heading < len(d.Body) {
				d.Sections = append(d.Sections, Section{heading, heading * (len(d.Body) / len(d.Headings)), strings.Repeat("é", i%4+1)})
			}
		}
	}
	return docs
}

// withEntries returns copies of the documents with three entries each: one of the whole body, and two within it.
// Documents whose bodies are too short for these stay as they are.
func withEntries(docs []Document) []Document {
	docs = slices.Clone(docs)
	for i := range docs {
		d := &docs[i]
		if size := len(d.Body); size > 10 {
			d.Entries = []Entry{{0, 3, size, "über"}, {5, 1, 7, "a." + d.Body[5:6]}, {7, 2, size, "a.b"}}
		}
	}
	return docs
}

// TestSupplementsAreSkipped checks that programs that know nothing of supplements can decompress blocks with
// supplements: they must get the records and bodies alone.
func TestSupplementsAreSkipped(t *testing.T) {
	docs := generate(100, 1)
	content, plain := mustBuild(t, supplemented(docs), 0), mustBuild(t, docs, 0)
	s, bare := mustOpen(t, content), mustOpen(t, plain)
	for block := range s.tail.stored.ends {
		with, err := decompress(nil, cutSeal(content, s.tail.stored.at(block).Offset, s.tail.stored.at(block).Length))
		if err != nil {
			t.Fatal(err)
		}
		want, err := decompress(nil, cutSeal(plain, bare.tail.stored.at(block).Offset, bare.tail.stored.at(block).Length))
		if err != nil || !bytes.Equal(with, want) {
			t.Errorf("block %d: %d bytes, without supplements %d (%v)", block, len(with), len(want), err)
		}
	}
	if len(content) <= len(plain) {
		t.Errorf("%d bytes with supplements, %d without", len(content), len(plain))
	}
}

func cutSeal(content []byte, offset, length int64) []byte {
	return content[offset:][:length-sealSize]
}

// TestSupplements checks that dates, sections and entries are read as they were added, also after merges that
// copy whole blocks, and merges that write blocks anew.
func TestSupplements(t *testing.T) {
	docs := withEntries(supplemented(generate(300, 1)))
	whole := mustOpen(t, mustBuild(t, docs, 0))
	if d := cmp.Diff(stripped(docs), allStored(t, whole)); d != "" {
		t.Errorf("documents (-want +got)\n%s", d)
	}
	if n := len(whole.tail.stored.ends); n < 3 {
		t.Errorf("%d blocks are too few for this test", n)
	}
	few := supplemented(generate(3, 2))
	dead := roaring.BitmapOf(0, 299)
	merged := mustOpen(t, mustMerge(t, Input{Segment: mustOpen(t, mustBuild(t, few, 0))}, Input{Segment: whole, Dead: dead}))
	if d := cmp.Diff(stripped(append(few, without(docs, dead)...)), allStored(t, merged)); d != "" {
		t.Errorf("merged documents (-want +got)\n%s", d)
	}
}

// TestLaterSupplement checks that bytes after the entries, which a later program may add, are ignored.
func TestLaterSupplement(t *testing.T) {
	d := withEntries(supplemented(generate(1, 1)))[0]
	got := Document{Headings: d.Headings, Body: d.Body}
	if err := parseSupplement(append(appendSupplement(nil, &d), 7, 0xFF), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Date.Equal(d.Date) || !slices.Equal(got.Sections, d.Sections) || !slices.Equal(got.Entries, d.Entries) {
		t.Errorf("%v, %v, %v", got.Date, got.Sections, got.Entries)
	}
}

func TestWrongEntries(t *testing.T) {
	d := Document{URL: "https://a.example/", Body: "One Two"}
	for name, wrong := range map[string][]Entry{
		"starts out of turn":  {{4, 3, 7, "a"}, {0, 3, 7, "b"}},
		"start twice":         {{0, 3, 7, "a"}, {0, 3, 7, "b"}},
		"no term":             {{0, 0, 7, "a"}},
		"term beyond the end": {{0, 4, 3, "a"}},
		"beyond the body":     {{0, 3, 8, "a"}},
		"negative":            {{-1, 3, 7, "a"}},
		"no fragment":         {{0, 3, 7, ""}},
		"long fragment":       {{0, 3, 7, strings.Repeat("a", MaxFragment+1)}},
	} {
		d.Entries = wrong
		if err := NewBuilder(nil).Add(&d, tokensOf(&d)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	d.Entries = nil
	for name, supplement := range map[string][]byte{
		"fewer entries":       {1, 0, 2, 0, 3, 8, 0, 1, 'a', 0},
		"start twice":         {1, 0, 2, 0, 3, 8, 0, 1, 'a', 0, 0, 3, 8, 0, 1, 'b', 0},
		"term beyond the end": {1, 0, 1, 0, 4, 4, 0, 1, 'a', 0},
		"beyond the body":     {1, 0, 1, 5, 1, 4, 0, 1, 'a', 0},
		"beyond the term":     {1, 0, 1, 0, 3, 8, 0, 1, 'a', 3, 1},
		"beyond the fragment": {1, 0, 2, 0, 3, 8, 0, 1, 'a', 0, 4, 3, 4, 2, 1, 'b', 0},
		"no fragment":         {1, 0, 1, 0, 3, 8, 0, 0, 0},
	} {
		got := d
		if err := parseSupplement(supplement, &got); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWrongSections(t *testing.T) {
	d := Document{URL: "https://a.example/", Headings: []string{"One", "Two"}, Body: "One Two"}
	for name, wrong := range map[string][]Section{
		"heading twice":        {{0, 0, "a"}, {0, 4, "b"}},
		"headings out of turn": {{1, 0, "a"}, {0, 4, "b"}},
		"starts out of turn":   {{0, 4, "a"}, {1, 0, "b"}},
		"unknown heading":      {{2, 0, "a"}},
		"beyond the body":      {{0, 8, "a"}},
		"negative":             {{-1, 0, "a"}},
		"no fragment":          {{0, 0, ""}},
	} {
		d.Sections = wrong
		if err := NewBuilder(nil).Add(&d, tokensOf(&d)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	d.Sections = nil
	for name, supplement := range map[string][]byte{
		"date of the year 10000": binary.AppendUvarint(nil, maxDay+1),
		"no sections":            {1},
		"fewer sections":         {1, 2, 0, 0, 1, 'a'},
		"no fragment":            {1, 1, 0, 0, 0, 0},
		"heading twice":          {1, 2, 0, 0, 1, 'a', 0, 1, 1, 'b'},
		"beyond the body":        {1, 1, 0, 8, 1, 'a'},
	} {
		got := d
		if err := parseSupplement(supplement, &got); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEntriesAreSmall checks how many bytes encoded entries take, with terms and fragments that are usual in
// manuals.
func TestEntriesAreSmall(t *testing.T) {
	body := "json.dump(obj)\nWrites.\nclass json.Coder\nCodes.\ncode(o)\nDoes it."
	d := Document{Body: body, Entries: []Entry{{0, 14, 22, "json.dump"}, {23, 16, len(body), "json.Coder"}, {47, 7, len(body), "json.Coder.code"}}}
	got := Document{Body: body}
	supplement := appendSupplement(nil, &d)
	if err := parseSupplement(supplement, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.Entries, got.Entries); diff != "" {
		t.Errorf("entries (-want +got)\n%s", diff)
	}
	if n := len(supplement); n > 36 {
		t.Errorf("%d bytes for three entries: % x", n, supplement)
	}
}

func TestDays(t *testing.T) {
	for _, c := range []struct {
		date time.Time
		day  uint64
		back string
	}{
		{time.Time{}, 0, "0001-01-01"},
		{time.Unix(-1, 0), 0, "0001-01-01"},
		{time.Unix(0, 0), 1, "1970-01-01"},
		{time.Date(2026, 11, 26, 23, 59, 59, 0, time.UTC), 20784, "2026-11-26"},
		{time.Date(9999, 12, 31, 12, 0, 0, 0, time.UTC), maxDay, "9999-12-31"},
		{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), 0, "0001-01-01"},
	} {
		day := dayOf(c.date)
		if back := dateOf(day).Format(time.DateOnly); day != c.day || back != c.back {
			t.Errorf("%v: day %d, %s; want %d, %s", c.date, day, back, c.day, c.back)
		}
	}
}

func FuzzSupplement(f *testing.F) {
	for _, d := range withEntries(supplemented(generate(4, 1))) {
		f.Add(appendSupplement(nil, &d))
	}
	f.Fuzz(func(t *testing.T, supplement []byte) {
		d := Document{Headings: []string{"One", "Two", "Three"}, Body: strings.Repeat("x", 300)}
		if err := parseSupplement(supplement, &d); err != nil {
			return
		}
		again := Document{Headings: d.Headings, Body: d.Body}
		if err := parseSupplement(appendSupplement(nil, &d), &again); err != nil || cmp.Diff(d, again) != "" {
			t.Errorf("%+v reads as %+v, %v", d, again, err)
		}
	})
}

func FuzzSupplementFrame(f *testing.F) {
	f.Add(appendFrame(nil, []byte{0, 1, 5}), 2)
	f.Add([]byte{0x50, 0x2A, 0x4D, 0x18, 1, 0, 0, 0}, 1)
	f.Fuzz(func(t *testing.T, block []byte, documents int) {
		if documents < 0 || documents > 1000 {
			return
		}
		frame, rest, err := cutFrame(block)
		if err != nil {
			return
		}
		if len(frame)+len(rest) > len(block) {
			t.Errorf("%d and %d bytes of %d", len(frame), len(rest), len(block))
		}
		if supplements, err := openFrame(frame, documents); err == nil && len(supplements) != documents {
			t.Errorf("%d supplements of %d documents", len(supplements), documents)
		}
	})
}
