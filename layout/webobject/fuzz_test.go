package webobject

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte(exampleBytes))
	f.Add([]byte(fullBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, n, err := Decode(b)
		if err != nil {
			return
		}
		if n > len(b) {
			t.Fatalf("read %d bytes of %d", n, len(b))
		}
		o.Hash = [32]byte{} // that of other data is refused
		again, err := o.Append(nil)
		if err != nil {
			return // mending a string made it too long
		}
		first, err := decodeWhole(again)
		if err != nil {
			t.Fatalf("what was appended cannot be read: %v", err)
		}
		again, err = first.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		second, err := decodeWhole(again)
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
		if Verify(b) == nil {
			contents(t, b)
		}
	})
}

// FuzzMembers puts what it is given into a sound zip, which FuzzOpen seldom
// comes by.
func FuzzMembers(f *testing.F) {
	spf, _ := build(f, smallPackage(f))
	r, err := Open(spf)
	if err != nil {
		f.Fatal(err)
	}
	m := r.members
	f.Add(m[0].parts[0], m[1].parts[0], m[2].parts[0], m[0].size, m[0].crc)
	f.Fuzz(func(t *testing.T, webop, desc, table []byte, size int64, crc uint32) {
		var out bytes.Buffer
		members := []member{
			{name: webopName, method: methodDeflate, crc: crc, size: size, parts: [][]byte{webop}},
			storedMember(descName, desc),
			storedMember(mapName, table),
		}
		if err := writeZip(&out, r.Created, members); err != nil {
			t.Fatal(err)
		}
		if Verify(out.Bytes()) == nil {
			contents(t, out.Bytes())
		}
	})
}

func FuzzDesc(f *testing.F) {
	spf, _ := build(f, smallPackage(f))
	r, err := Open(spf)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(r.members[1].parts[0])
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
