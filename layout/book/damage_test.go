package book

import (
	"bytes"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func TestTruncatedOrFlipped(t *testing.T) {
	content := mustEncode(t, example())
	for n := range content {
		if _, err := Decode(content[:n]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d of %d bytes: got %v, want damage", n, len(content), err)
		}
	}
	for i := range content {
		for bit := range 8 {
			damaged := bytes.Clone(content)
			damaged[i] ^= 1 << bit
			if _, err := Decode(damaged); !errors.Is(err, ErrDamaged) {
				t.Fatalf("bit %d of byte %d of %d flipped: got %v, want damage", bit, i, len(content), err)
			}
		}
	}
}

func TestDamagedObjects(t *testing.T) {
	content := mustEncode(t, site(8, 300))
	for name, damaged := range map[string][]byte{
		"empty":       {},
		"tiny":        content[len(content)-5:],
		"other file":  []byte("FF is not a book, but it is long enough"),
		"no front":    content[len(content)/2:],
		"no end":      content[:len(content)/2],
		"overwritten": slices.Concat(content[:5000], make([]byte, 100), content[5100:]),
	} {
		r, err := Open(t.Context(), stored(t, damaged), key)
		if err == nil {
			_, err = read(t.Context(), r, wholeSpace)
		}
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: got %v, want damage of %s", name, err, key)
		}
	}
}

// TestLies reads books whose checksums are right, but whose contents contradict themselves: each
// read fails with an error that says what is wrong.
func TestLies(t *testing.T) {
	content := mustEncode(t, site(4, 60))
	honest, err := parseDirectory(content)
	if err != nil {
		t.Fatal(err)
	}
	body := content[:honest.sourcesOffset+int64(honest.sources)*int64(identitySize)]
	for name, tc := range map[string]struct {
		lie  func(*directory)
		want string
	}{
		"more outcomes":    {func(d *directory) { d.outcomes[0].count++ }, "block of outcomes at byte 8: column 1: column ends too early"},
		"fewer outcomes":   {func(d *directory) { d.outcomes[0].count-- }, "block of outcomes at byte 8: column 0:"},
		"more links":       {func(d *directory) { d.links[0].count++ }, "block of links at byte"},
		"too many rows":    {func(d *directory) { d.links[0].count = 1 << 30 }, "which no book has"},
		"huge block":       {func(d *directory) { d.links[0].size = 1 << 30 }, "which no book has"},
		"longer block":     {func(d *directory) { d.outcomes[0].size++ }, "directory speaks of"},
		"more sources":     {func(d *directory) { d.sources = 1 << 31 }, "directory speaks of"},
		"wrong places":     {func(d *directory) { d.outcomes[0].first++ }, "outside of the block's range"},
		"reversed places":  {func(d *directory) { d.links[0].first = d.links[0].last + 1 }, "is not sorted"},
		"missing block":    {func(d *directory) { d.links = d.links[1:] }, "directory speaks of"},
		"outcomes as link": {func(d *directory) { d.links, d.outcomes = slices.Concat(d.outcomes, d.links), nil }, "directory of links: block 1 is not sorted"},
	} {
		lying := honest
		lying.outcomes, lying.links = slices.Clone(honest.outcomes), slices.Clone(honest.links)
		tc.lie(&lying)
		_, err := Decode(lying.appendTo(bytes.Clone(body)))
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want damage with %q", name, err, tc.want)
		}
	}
}

func TestBomb(t *testing.T) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	file := encoder.EncodeAll(make([]byte, 64<<20), []byte(version1.magic()))
	frame := file[magicSize:]
	b := block{last: 1<<64 - 1, count: 1, size: uint32(len(frame)), crc: crc32.Checksum(frame, castagnoli)}
	_, err = Decode(directory{version: version1, outcomes: []block{b}}.appendTo(file))
	if !errors.Is(err, ErrDamaged) || !errors.Is(err, zstd.ErrWindowSizeExceeded) {
		t.Errorf("got %v, want a refusal to inflate", err)
	}
}

func TestRowsThatNobodyWrites(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(w *linkWriter)
		want string
	}{
		"kind":            {func(w *linkWriter) { w.columns[linkKind] = []byte{'?'} }, "unknown kind 63"},
		"region":          {func(w *linkWriter) { w.columns[linkRegion] = []byte{'?'} }, "unknown region 63"},
		"source":          {func(w *linkWriter) { w.columns[linkSources] = []byte{1} }, "source 1 of 1"},
		"no source":       {func(w *linkWriter) { w.columns[linkCount] = []byte{0} }, "without a source"},
		"more sources":    {func(w *linkWriter) { w.columns[linkCount] = []byte{2} }, "at most 1 allowed"},
		"no target":       {func(w *linkWriter) { w.columns[linkSame] = []byte{1} }, "first row has no target"},
		"shares too much": {func(w *linkWriter) { w.columns[linkShared] = []byte{1} }, "at most 0 allowed"},
		"unknown word":    {func(w *linkWriter) { w.columns[linkRel] = []byte{9} }, "column 7: value 9"},
		"left over":       {func(w *linkWriter) { w.columns[linkDepth] = []byte{1, 1} }, "1 bytes left over"},
		"deep":            {func(w *linkWriter) { w.columns[linkDepth] = []byte{0xff, 0xff, 0x7f} }, "at most 65535 allowed"},
		"short":           {func(w *linkWriter) { w.columns[textColumn] = nil }, "column ends too early"},
	} {
		w := newLinkWriter(version2)
		place, _ := placeIn(0, "http://a/")
		w.add(row{Link{Target: "http://a/", Place: place, Kind: Anchor, Region: Text}, []uint32{0}})
		tc.edit(w)
		if err := readLinks(w.appendTo(nil), 1, allFields); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

// readLinks reads decompressed bytes as a block of links, in a book with so many sources.
func readLinks(raw []byte, sources int, wanted linkFields) (err error) {
	b := openRaw(raw, "links", 1, sources)
	for _, failed := range b.links(wanted, wholeSpace) {
		err = failed
	}
	return err
}

// readOutcomes reads decompressed bytes as a block of outcomes.
func readOutcomes(raw []byte, count uint32) (err error) {
	for _, failed := range openRaw(raw, "outcomes", count, 0).outcomes(wholeSpace) {
		err = failed
	}
	return err
}

func openRaw(raw []byte, section string, count uint32, sources int) openBlock {
	r := &Reader{name: "book"}
	decoder, err := r.decoder()
	if err != nil {
		panic(err) // the options are valid
	}
	return openBlock{
		block: block{last: 1<<64 - 1, count: count}, section: section, bytes: encoder.EncodeAll(raw, nil), reader: r,
		rows: &blockReader{decoder: decoder, links: linkReader{table: sources}},
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(mustEncode(f, Book{}))
	f.Add(mustEncode(f, example()))
	f.Add([]byte(version1.magic()))
	f.Fuzz(func(t *testing.T, content []byte) {
		b, err := Decode(content)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("got %v, want damage", err)
			}
			return
		}
		if _, err := Encode(b); err != nil {
			t.Fatalf("decoded what cannot be encoded: %v", err)
		}
	})
}

// FuzzRows decodes arbitrary bytes as a block of outcomes or links: decoding succeeds, or its error
// wraps ErrDamaged.
func FuzzRows(f *testing.F) {
	outcomes, links := newOutcomeWriter(version2), newLinkWriter(version2)
	for _, o := range example().Outcomes {
		outcomes.add(o)
	}
	for _, l := range example().Links {
		links.add(row{l, []uint32{0, 1}})
	}
	f.Add(outcomes.appendTo(nil), uint32(3))
	f.Add(links.appendTo(nil), uint32(0))
	f.Fuzz(func(t *testing.T, raw []byte, count uint32) {
		whole, votes, brief := readLinks(raw, 5, allFields), readLinks(raw, 5, voteFields), readLinks(raw, 5, targetFields)
		if whole == nil && (votes != nil || brief != nil) {
			t.Fatalf("%v, but only where words are not wanted", brief)
		}
		for _, err := range []error{readOutcomes(raw, min(count, 100)), whole, votes, brief} {
			if err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatalf("got %v, want damage", err)
			}
		}
	})
}
