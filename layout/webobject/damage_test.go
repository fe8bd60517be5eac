package webobject

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

func TestTruncated(t *testing.T) {
	spf, _ := build(t, smallPackage(t))
	for n := range spf {
		if err := verify(spf[:n]); err == nil {
			t.Errorf("no error for the first %d bytes of %d", n, len(spf))
		}
	}
	if err := verify(append(bytes.Clone(spf), 0)); err == nil {
		t.Error("no error for a byte too many")
	}
}

// One bit of a package is flipped, in each byte in turn. Either the package must be refused, or
// all its pages must have the same content as before: this is possible, because deflate ignores
// some bits.
func TestFlipped(t *testing.T) {
	spf, places := build(t, smallPackage(t))
	t.Run("whole", func(t *testing.T) { flip(t, spf) })
	t.Run("holes", func(t *testing.T) { flip(t, erasePlaces(t, spf, places[0], places[2])) })
}

func flip(t *testing.T, spf []byte) {
	want := contents(t, spf)
	silent := 0
	for i := range spf {
		flipped := bytes.Clone(spf)
		flipped[i] ^= 1 << (i % 8)
		if verify(flipped) != nil {
			continue
		}
		silent++
		if diff := cmp.Diff(want, contents(t, flipped), sameObject); diff != "" {
			t.Errorf("bit %d of byte %d (-want +got):\n%s", i%8, i, diff)
		}
	}
	if silent > 8 {
		t.Errorf("%d flipped bits were not noticed", silent)
	}
}

// Two of three pages of a package are damaged. Objects must report exactly these two. Then a byte
// outside of all pages is changed, too. Objects must also report this damage.
func TestObjectsGoOn(t *testing.T) {
	spf, places := build(t, smallPackage(t))
	for _, n := range []int{0, 2} {
		spf[places[n].Offset] ^= 0xFF
	}
	if got, unknown := damagedPlaces(t, spf); !slices.Equal(got, []Place{places[0], places[2]}) || unknown {
		t.Errorf("damaged are %v, and others: %v", got, unknown)
	}
	spf[0] ^= 1
	if got, unknown := damagedPlaces(t, spf); len(got) != 2 || !unknown {
		t.Errorf("damaged are %v, and others: %v", got, unknown)
	}
}

// A Run whose field Size is far above the size of its content does not cause a large allocation.
func TestClaimsAllocateLittle(t *testing.T) {
	run := storedRun(example.URL, exampleBytes)
	run.Size = MaxSize
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := run.Object()
	runtime.ReadMemStats(&after)
	wantError(t, err, "inflates to 55 bytes, want 67108864")
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

func contents(t *testing.T, spf []byte) []Entry {
	t.Helper()
	r, err := Open(spf)
	if err != nil {
		t.Fatal(err)
	}
	var entries []Entry
	for entry, err := range r.Objects() {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	return entries
}

func TestLying(t *testing.T) {
	replace := func(b *[]byte, from, to string) {
		if !bytes.Contains(*b, []byte(from)) {
			t.Fatalf("%q has no %q", *b, from)
		}
		*b = bytes.Replace(*b, []byte(from), []byte(to), 1)
	}
	bomb := compress(t, Object{URL: "http://a/", Data: make([]byte, 16<<20)})[0].Compressed
	for _, test := range []struct {
		name   string
		change func(p *pieces)
		want   string
	}{
		{"other magic", func(p *pieces) { replace(&p.stream, "WOP", "WOO") }, "begin with local header and magic"},
		{"no final block", func(p *pieces) { p.stream[len(p.stream)-1]++ }, "does not end with an empty block at byte"},
		{"no stream", func(p *pieces) { p.pages, p.stream = nil, p.stream[:14]; p.relist() }, "14 bytes are too few"},
		{"other date", func(p *pieces) { p.desc[13]++ }, "the directory says"},
		{"desc header", func(p *pieces) { replace(&p.desc, "WOPD", "WOPX") }, "package.webop.desc: it does not begin"},
		{"desc offset", func(p *pieces) { replace(&p.desc, "\n8:", "\n9:") }, "package.webop.desc says that \"http://a/\" has"},
		{"desc number", func(p *pieces) { replace(&p.desc, "\n8:", "\n08:") }, "package.webop.desc, Web object 0: want a line offset:size:url"},
		{"desc sign", func(p *pieces) { replace(&p.desc, "\n8:", "\n+8:") }, "offset:size:url"},
		{"desc size", func(p *pieces) { replace(&p.desc, ":55:", ":54:") }, "package.webop.desc says"},
		{"desc bomb", func(p *pieces) { replace(&p.desc, ":55:", ":9999999999999:") }, "has 9999999999999 bytes"},
		{"desc without end", func(p *pieces) { p.desc = p.desc[:len(p.desc)-1] }, "package.webop.desc, Web object 2"},
		{"desc with a line more", func(p *pieces) { p.desc = fmt.Appendf(p.desc, "%d:0:x\r\n", p.webop.size) }, "package.webop.map, Web object 3"},
		{"map header", func(p *pieces) { replace(&p.table, "WOPM", "WOPX") }, "package.webop.map: it does not begin"},
		{"map without lines", func(p *pieces) { p.table = []byte(mapMagic) }, "package.webop.map, Web object 0"},
		{"map with a line more", func(p *pieces) { p.table = append(p.table, "999:9\r\n"...) }, "package.webop.desc, Web object 3"},
		{"sizes", func(p *pieces) { p.pages[0].Size--; p.pages[1].Size++; p.relist() }, "\"http://a/\" at byte 56: the run inflates to more than"},
		{"size of a giant", func(p *pieces) { p.pages[0].Size = MaxSize + 1; p.relist() }, "at most 67108864 are read"},
		{"URL", func(p *pieces) { p.pages[1].URL = "http://b/"; p.relist() }, "URL is \"http://a/\""},
		{"place before", func(p *pieces) { p.pages[0].Offset--; p.relist() }, "package.webop.map says"},
		{"place behind", func(p *pieces) { p.pages[2].Offset++; p.relist() }, "package.webop.map says"},
		{"place far behind", func(p *pieces) { p.pages[2].Offset += 1 << 40; p.relist() }, "package.webop.map says"},
		{"long place", func(p *pieces) { p.pages[2].Length = math.MaxInt64; p.relist() }, "package.webop.map says"},
		{"places overlap", func(p *pieces) { p.pages[0].Length++; p.relist() }, "package.webop.map says"},
		{"place of nothing", func(p *pieces) { p.pages[0].Length = 0; p.relist() }, "\"http://a/\" at byte 56: the run does not end"},
		{"gap in a run", func(p *pieces) { p.pages[0].Offset++; p.pages[0].Length--; p.relist() }, "\"http://a/\" at byte 57: the run"},
		{"page left out", func(p *pieces) { p.pages = p.pages[1:]; p.relist() }, "the bytes from 56 to"},
		{"no pages", func(p *pieces) { p.pages = nil; p.relist() }, "the bytes from 56 to"},
		{"webop size", func(p *pieces) { p.webop.size++ }, "the zip says"},
		{"webop CRC", func(p *pieces) { p.webop.crc++ }, "package.webop: CRC-32"},
		{"bomb in a run", func(p *pieces) {
			p.stream = append([]byte(magicRun), append(bytes.Clone(bomb), finalBlock...)...)
			p.pages = []Listed{{URL: "http://a/", Size: 55, Place: Place{56, int64(len(bomb))}}}
			p.relist()
		}, "inflates to more than 55 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := piecesOf(t, smallPackage(t))
			test.change(&p)
			err := verify(p.assemble(t))
			wantError(t, err, test.want)
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("error %v does not wrap ErrDamaged", err)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	p := smallPackage(t)
	spf, places := build(t, p)
	last := places[2]
	flipped := bytes.Clone(spf)
	flipped[places[1].Offset+3] ^= 0x40
	for _, test := range []struct {
		name    string
		content []byte
		place   Place
		want    string
	}{
		{"no length", spf, Place{Offset: last.Offset}, "no place"},
		{"negative", spf, Place{Offset: -1, Length: 5}, "no place"},
		{"huge", spf, Place{Offset: 1, Length: 1 << 40}, "no place"},
		{"cut short", spf[:last.Offset+9], last, "the store returned 9 bytes"},
		{"not there", spf[:last.Offset], last, blob.ErrRange.Error()},
		{"beside", spf, Place{Offset: last.Offset - 1, Length: last.Length}, "sync flush"},
		{"two at once", spf, Place{Offset: places[1].Offset, Length: places[1].Length + last.Length}, "it ends at byte 55 of"},
		{"damaged", flipped, places[1], "at byte"},
	} {
		_, err := Read(t.Context(), &oneObject{content: test.content}, "packages/x.spf", test.place)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "packages/x.spf") {
			t.Errorf("%s: error %v, want one with %q and the key", test.name, err, test.want)
		}
		if place := test.want == "no place"; errors.Is(err, ErrDamaged) == place {
			t.Errorf("%s: error %v; wrapping ErrDamaged is wrong: %v", test.name, err, !place)
		}
	}
}

// Read gets the bytes of one page only, so that it cannot check the CRC of the package. It must
// notice a changed page by the hash that the page contains.
func TestReadChecksHash(t *testing.T) {
	raw := strings.Replace(fullBytes, "hi", "ho", 1)
	run := storedRun(fullExample.URL, raw[:len(raw)-2]+"ho")
	_, err := Read(t.Context(), &oneObject{content: run.Compressed}, "key", Place{0, int64(len(run.Compressed))})
	wantError(t, err, "not that of the hash")
}
