package webobject

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte(exampleBytes))
	f.Add([]byte(fullBytes))
	f.Add([]byte(convertedBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, n, err := decode(b)
		if err != nil {
			return
		}
		if n > len(b) {
			t.Fatalf("read %d bytes of %d", n, len(b))
		}
		o.Hash = [32]byte{} // the hash of other data would be refused
		head, err := o.appendHead(nil)
		if err != nil {
			return // replacing bytes that are not UTF-8 made a string too long
		}
		first, err := decodeWhole(slices.Concat(head, o.Data, o.tail()))
		if err != nil {
			t.Fatalf("what was appended cannot be read: %v", err)
		}
		second, err := decodeWhole(encode(t, first))
		if diff := cmp.Diff(first, second, sameObject); err != nil || diff != "" {
			t.Fatalf("error %v, object (-want +got):\n%s", err, diff)
		}
	})
}

func FuzzOpen(f *testing.F) {
	spf, _ := build(f, smallPackage(f))
	f.Add(spf)
	empty, _ := build(f, Package{})
	f.Add(empty)
	f.Fuzz(func(t *testing.T, b []byte) {
		if verify(b) == nil {
			contents(t, b)
		}
	})
}

// FuzzPieces makes packages that are valid zips whose members hold arbitrary bytes. (FuzzOpen takes
// arbitrary bytes as the whole package, which are rarely a zip.) List and Open must accept the same
// packages. If a package has no damage, it must have as many pages as List returns. After some of
// them are erased, the others must be readable.
func FuzzPieces(f *testing.F) {
	p := piecesOf(f, smallPackage(f))
	f.Add(p.stream, p.desc, p.table, p.webop.size, p.webop.crc, uint8(5))
	erased, _, err := Erase(p.assemble(f), func(l Listed) bool { return l.Offset == p.pages[1].Offset })
	if err != nil {
		f.Fatal(err)
	}
	t, err := openTail(erased)
	if err != nil {
		f.Fatal(err)
	}
	p.pages = slices.Delete(p.pages, 1, 2)
	p.relist()
	f.Add(erased[webopStart:t.offset(1)], p.desc, p.table, p.webop.size, t.members[0].crc, uint8(2))
	f.Fuzz(func(t *testing.T, stream, desc, table []byte, size int64, crc uint32, gone uint8) {
		if size < 0 || size >= math.MaxUint32 || len(desc) < descSize {
			return
		}
		h, _, err := parseDesc(desc)
		if err != nil {
			return
		}
		webop := member{name: webopName, method: methodDeflate, crc: crc, size: size}
		spf := pieces{header: h, webop: webop, stream: stream, desc: desc, table: table}.assemble(t)
		listed, err := List(t.Context(), &oneObject{content: spf}, "key")
		if (err == nil) != (opens(spf) == nil) {
			t.Fatalf("List: %v, Open: %v", err, opens(spf))
		}
		if verify(spf) != nil {
			return
		}
		if n := len(contents(t, spf)); n != len(listed) {
			t.Fatalf("%d pages are listed, %d are there", len(listed), n)
		}
		i := -1
		rest, n, err := Erase(spf, func(Listed) bool { i++; return gone>>(i%8)&1 == 1 })
		switch {
		case errors.Is(err, ErrDamaged):
			t.Fatal(err)
		case err != nil: // a run is too short for a hole
		case n == 0 && &rest[0] != &spf[0]:
			t.Fatal("nothing was erased, and the package is another")
		case n+len(contents(t, rest)) != len(listed):
			t.Fatalf("%d of %d pages were erased, %d are left", n, len(listed), len(contents(t, rest)))
		}
	})
}

func opens(spf []byte) error {
	_, err := Open(spf)
	return err
}

func FuzzDesc(f *testing.F) {
	f.Add(piecesOf(f, smallPackage(f)).desc)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, rest, err := parseDesc(b)
		if err != nil {
			return
		}
		again := p.appendDesc(nil)
		for len(rest) > 0 {
			var line descLine
			if line, rest, err = cutDescLine(rest); err != nil {
				return
			}
			again = line.append(again)
		}
		if diff := cmp.Diff(b, again); diff != "" {
			t.Fatalf("description (-want +got):\n%s", diff)
		}
	})
}

func FuzzMap(f *testing.F) {
	f.Add([]byte(mapMagic + "56:120\r\n176:9\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		rest, err := parseMap(b)
		if err != nil {
			return
		}
		again := []byte(mapMagic)
		for len(rest) > 0 {
			var place Place
			if place, rest, err = cutMapLine(rest); err != nil {
				return
			}
			again = place.appendLine(again)
		}
		if diff := cmp.Diff(b, again); diff != "" {
			t.Fatalf("map (-want +got):\n%s", diff)
		}
	})
}
