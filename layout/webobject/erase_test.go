package webobject

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// erasePlaces returns a package without the pages at the given places.
func erasePlaces(t testing.TB, spf []byte, places ...Place) []byte {
	t.Helper()
	rest, n, err := Erase(spf, func(l Listed) bool { return slices.Contains(places, l.Place) })
	if err != nil || n != len(places) {
		t.Fatalf("erased %d pages of %d, error %v", n, len(places), err)
	}
	return rest
}

// The test erases each subset of five pages from a package: in one call of Erase, and page
// by page. Both ways must give the same bytes, and the remaining pages must be unchanged.
func TestErase(t *testing.T) {
	var pages []Object
	for n := range 5 {
		pages = append(pages, page(n, 300+n))
		pages[n].URL = fmt.Sprintf("http://example.org/secret%d", n)
		pages[n].Data = append(pages[n].Data, fmt.Sprintf("word%d", n)...)
	}
	p := smallPackage(t)
	p.Runs = compress(t, pages...)
	for n := range p.Runs { // so that words can be searched for
		p.Runs[n] = storedRun(pages[n].URL, string(encode(t, pages[n])))
	}
	spf, places := build(t, p)
	whole := contents(t, spf)
	for set := range 1 << len(places) {
		var gone []Place
		var want []Entry
		got, steps := spf, spf
		for n, place := range places {
			if set>>n&1 == 0 {
				want = append(want, whole[n])
				continue
			}
			gone = append(gone, place)
			steps = erasePlaces(t, steps, place)
		}
		got = erasePlaces(t, spf, gone...)
		if !bytes.Equal(got, steps) {
			t.Errorf("set %05b: one after the other gives other bytes than at once", set)
		}
		if diff := cmp.Diff(want, contents(t, got), sameObject); diff != "" {
			t.Errorf("set %05b: pages (-want +got):\n%s", set, diff)
		}
		for n := range places {
			for _, word := range []string{fmt.Sprintf("secret%d", n), fmt.Sprintf("word%d", n)} {
				if left := bytes.Contains(got, []byte(word)); left != (set>>n&1 == 0) {
					t.Errorf("set %05b: %q is left: %v", set, word, left)
				}
			}
		}
		before, after := header(t, spf), header(t, got)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("set %05b: header (-want +got):\n%s", set, diff)
		}
	}
}

func header(t *testing.T, spf []byte) Package {
	t.Helper()
	r, err := Open(spf)
	if err != nil {
		t.Fatal(err)
	}
	return r.tail.header
}

func TestEraseAsksOfEachPage(t *testing.T) {
	p := smallPackage(t)
	spf, places := build(t, p)
	var got, want []Listed
	rest, n, err := Erase(spf, func(l Listed) bool { got = append(got, l); return false })
	if err != nil || n != 0 || &rest[0] != &spf[0] {
		t.Errorf("%d pages erased, error %v, want the same package", n, err)
	}
	for i, run := range p.Runs {
		want = append(want, Listed{URL: run.URL, Place: places[i], Size: run.Size})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("asked of (-want +got):\n%s", diff)
	}
}

// The test makes many damaged copies of a package: in each, one bit of one byte is flipped. At most
// one page of a copy may be damaged. If this page is erased, all other pages must remain.
func TestEraseSaves(t *testing.T) {
	p := smallPackage(t)
	p.Runs = compress(t, fullExample, example, fullExample) // with CRCs of their own
	spf, places := build(t, p)
	spf = erasePlaces(t, spf, places[0])
	places = places[1:]
	whole := contents(t, spf)
	end, err := openTail(spf)
	if err != nil {
		t.Fatal(err)
	}
	for i := range end.offset(1) {
		flipped := bytes.Clone(spf)
		flipped[i] ^= 1 << (i % 8)
		damaged, unknown := damagedPlaces(t, flipped)
		if len(damaged) > 0 && (unknown || len(damaged) > 1 || i < damaged[0].Offset || i >= damaged[0].Offset+damaged[0].Length) {
			t.Errorf("byte %d: damaged are %v, and others: %v", i, damaged, unknown)
		}
		if len(damaged) > 0 {
			if _, _, err := Erase(flipped, func(Listed) bool { return false }); !errors.Is(err, ErrDamaged) {
				t.Errorf("byte %d: the damaged page was kept, error %v", i, err)
			}
		}
		saved := erasePlaces(t, flipped, damaged...)
		var want []Entry
		for n, entry := range whole {
			if !slices.Contains(damaged, places[n]) {
				want = append(want, entry)
			}
		}
		if diff := cmp.Diff(want, contents(t, saved), sameObject); diff != "" {
			t.Errorf("byte %d: saved (-want +got):\n%s", i, diff)
		}
	}
}

// damagedPlaces returns the places of the pages that cannot be read, and whether anything
// else is damaged.
func damagedPlaces(t *testing.T, spf []byte) (places []Place, unknown bool) {
	t.Helper()
	r, err := Open(spf)
	if err != nil {
		t.Fatal(err)
	}
	for entry, err := range r.Objects() {
		switch {
		case err == nil:
		case !errors.Is(err, ErrDamaged):
			t.Errorf("error %v does not wrap ErrDamaged", err)
		case entry.URL != "":
			places = append(places, entry.Place)
		default:
			unknown = true
		}
	}
	return places, unknown
}

func TestEraseRefuses(t *testing.T) {
	never := func(Listed) bool { return false }
	p := piecesOf(t, smallPackage(t))
	p.webop.crc++
	_, _, err := Erase(p.assemble(t), never)
	wantError(t, err, "cannot erase from package: stored bytes are damaged: package.webop: CRC-32")
	_, _, err = Erase(nil, never)
	wantError(t, err, "0 bytes are too few")

	empty := Object{MIME: "ab", Downloaded: time.UnixMilli(0), Expires: time.UnixMilli(0)}
	short, err := NewCompressor(9).compress("", encodeV1(t, empty), nil)
	if err != nil {
		t.Fatal(err)
	}
	spf, _ := build(t, Package{Runs: []Run{short}})
	_, _, err = Erase(spf, func(Listed) bool { return true })
	wantError(t, err, fmt.Sprintf("byte 56: no hole has %d bytes", len(short.Compressed)))
	if errors.Is(err, ErrDamaged) {
		t.Errorf("error %v wraps ErrDamaged", err)
	}
}
