package webobject

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

// manyPages returns a package with so many pages that its description is larger than the
// first request of List.
func manyPages(t testing.TB) Package {
	p := smallPackage(t)
	for n := range 300 {
		o := fullExample
		o.URL = fmt.Sprintf("http://example.org/%d/%s", n, strings.Repeat("x", 250))
		p.Runs = append(p.Runs, storedRun(o.URL, string(encode(t, o))))
	}
	return p
}

func TestUncompressed(t *testing.T) {
	spf, _ := build(t, manyPages(t))
	store := &oneObject{content: spf}
	size, err := Uncompressed(t.Context(), store, "key")
	if err != nil {
		t.Fatal(err)
	}
	want := int64(len(webopMagic))
	pages, err := List(t.Context(), store, "key")
	if err != nil {
		t.Fatal(err)
	}
	for _, listed := range pages {
		want += listed.Size
	}
	if size != want {
		t.Errorf("%d bytes, want %d", size, want)
	}
	spf[len(spf)-100] ^= 0xFF
	if _, err := Uncompressed(t.Context(), store, "key"); !errors.Is(err, ErrDamaged) {
		t.Errorf("of a damaged package: %v", err)
	}
}

func TestList(t *testing.T) {
	small, _ := build(t, smallPackage(t))
	none, _ := build(t, Package{})
	many, places := build(t, manyPages(t))
	first := blob.Range{Offset: -suffix}
	end, err := openTail(many)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		spf    []byte
		ranges []blob.Range
	}{
		{"empty package", none, []blob.Range{first}},
		{"small package", small, []blob.Range{first}},
		{"large end", many, []blob.Range{first, {Offset: -end.tailSize()}}},
		{"with holes", erasePlaces(t, many, places[2:302]...), []blob.Range{first}},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := &oneObject{content: test.spf}
			got, err := List(t.Context(), store, "key")
			if err != nil {
				t.Fatal(err)
			}
			want, err := openTail(test.spf)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.pages, got); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.ranges, store.ranges); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// The test makes damaged copies of a package. In some copies one bit of one byte is changed. If Open
// fails for such a copy, List must fail; if Open accepts it, List must, too. Other copies lack bytes
// at their beginning or end: for these, List must always fail.
func TestListFlipped(t *testing.T) {
	spf, places := build(t, smallPackage(t))
	spf = erasePlaces(t, spf, places[1])
	for i := range spf {
		flipped := bytes.Clone(spf)
		flipped[i] ^= 1 << (i % 8)
		_, err := List(t.Context(), &oneObject{content: flipped}, "key")
		if (err == nil) != (opens(flipped) == nil) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("bit %d of byte %d: List says %v, Open %v", i%8, i, err, opens(flipped))
		}
	}
	for n := range spf {
		for _, part := range [][]byte{spf[:n], spf[n+1:]} {
			if _, err := List(t.Context(), &oneObject{content: part}, "key"); !errors.Is(err, ErrDamaged) {
				t.Errorf("%d bytes of %d: error %v", len(part), len(spf), err)
			}
		}
	}
}

func TestListRefuses(t *testing.T) {
	many, _ := build(t, manyPages(t))
	_, err := List(t.Context(), memblob.New(), "packages/x.spf")
	if !errors.Is(err, blob.ErrAbsent) || errors.Is(err, ErrDamaged) {
		t.Errorf("absent package: error %v", err)
	}
	wantError(t, err, "cannot list package packages/x.spf")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := List(ctx, memblob.New(), "key"); !errors.Is(err, context.Canceled) || errors.Is(err, ErrDamaged) {
		t.Errorf("cancelled: error %v", err)
	}
	end, err := openTail(many)
	if err != nil {
		t.Fatal(err)
	}
	end.members[1].length, end.members[1].size = maxTail, maxTail
	_, err = List(t.Context(), &oneObject{content: end.appendDirectory(nil)}, "key")
	wantError(t, err, "at most 67108864 are read")
	if !errors.Is(err, ErrDamaged) {
		t.Errorf("error %v does not wrap ErrDamaged", err)
	}
	_, err = List(t.Context(), &oneObject{content: many[len(many)-suffix-5:]}, "key")
	wantError(t, err, "the directory is of a package of")
}

// TestIsErasedFrom compares the descriptions of two packages. IsErasedFrom must be true if the
// first package is the second with some pages erased, or is the second itself. It must be false if
// the first has a page that the second lacks, or was built otherwise than by erasing.
func TestIsErasedFrom(t *testing.T) {
	p := smallPackage(t)
	p.Runs = compress(t, page(0, 300), page(1, 301), page(2, 302))
	whole, places := build(t, p)
	less, other, later := p, p, p
	less.Runs = p.Runs[:2]
	other.Runs = compress(t, page(0, 300), page(1, 301), page(2, 302))
	other.Runs[2] = compress(t, page(3, 302))[0]
	later.Created = later.Created.Add(time.Second)
	content := func(p Package) []byte { spf, _ := build(t, p); return spf }
	describe := func(spf []byte) Description {
		d, err := Describe(t.Context(), &oneObject{content: spf}, "key")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	first := erasePlaces(t, whole, places[0])
	for name, test := range map[string]struct {
		left, of []byte
		want     bool
	}{
		"nothing":                     {whole, whole, true},
		"one page":                    {first, whole, true},
		"two pages":                   {erasePlaces(t, whole, places[0], places[2]), whole, true},
		"another page":                {erasePlaces(t, first, places[1]), first, true},
		"a page that it still has":    {first, erasePlaces(t, first, places[1]), false},
		"none, it was a part of it":   {content(less), whole, false},
		"none, it has another page":   {content(other), whole, false},
		"none, it is of another time": {content(later), whole, false},
	} {
		if got := describe(test.left).IsErasedFrom(describe(test.of)); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Holes are filler in place of erased pages. appendHole must be able to make a hole of every length
// from 20 bytes. A hole before or after a compressed page must inflate to nothing.
func TestHoles(t *testing.T) {
	run := compress(t, fullExample)[0]
	want := encode(t, fullExample)
	for n := range 200 {
		hole, err := appendHole([]byte("kept"), int64(n))
		if err != nil {
			if n >= 20 {
				t.Error(err)
			}
			continue
		}
		hole = hole[len("kept"):]
		if len(hole) != n || !isHole(hole) {
			t.Errorf("the hole of %d bytes is %q", n, hole)
		}
		stream := bytes.Join([][]byte{hole, run.Compressed, hole, []byte(finalBlock)}, nil)
		got, err := io.ReadAll(flate.NewReader(bytes.NewReader(stream)))
		if err != nil || !bytes.Equal(want, got) {
			t.Errorf("a run between holes of %d bytes: inflated to %d bytes of %d, error %v", n, len(got), len(want), err)
		}
	}
}

func TestNoHoles(t *testing.T) {
	for _, b := range []string{
		"\x00", finalBlock, syncFlush, emptyStored[:4], emptyFixed[1:] + "\x00",
		emptyStored + emptyFixed, // the other way round
		emptyStored + emptyStored + emptyStored + emptyStored + emptyStored + emptyStored + "\x00", // 31 bytes
		magicRun,
	} {
		if isHole([]byte(b)) {
			t.Errorf("%q is called a hole", b)
		}
	}
}
