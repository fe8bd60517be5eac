package webobject

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/google/go-cmp/cmp"
)

func TestTruncated(t *testing.T) {
	spf, _ := build(t, smallPackage(t))
	for n := range spf {
		if err := Verify(spf[:n]); err == nil {
			t.Errorf("no error for the first %d bytes of %d", n, len(spf))
		}
	}
	if err := Verify(append(bytes.Clone(spf), 0)); err == nil {
		t.Error("no error for a byte too many")
	}
}

// A package with a bit flipped in any byte is refused, or holds what it held:
// deflate ignores some bits.
func TestFlipped(t *testing.T) {
	spf, _ := build(t, smallPackage(t))
	want := contents(t, spf)
	silent := 0
	for i := range spf {
		flipped := bytes.Clone(spf)
		flipped[i] ^= 1 << (i % 8)
		if Verify(flipped) != nil {
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

// A claim of much allocates nothing but for what is there.
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

// lie writes a package with one thing changed before the zip is made, so that
// the zip itself is sound.
func lie(t *testing.T, change func(webop, desc, table *member)) []byte {
	t.Helper()
	p := smallPackage(t)
	spf, _ := build(t, p)
	r, err := Open(spf)
	if err != nil {
		t.Fatal(err)
	}
	m := r.members
	change(&m[0], &m[1], &m[2])
	var out bytes.Buffer
	for i := 1; i < len(m); i++ {
		m[i] = storedMember(m[i].name, m[i].parts[0])
	}
	if err := writeZip(&out, p.Created, m); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestLying(t *testing.T) {
	replace := func(m *member, from, to string) {
		if !bytes.Contains(m.parts[0], []byte(from)) {
			t.Fatalf("%s has no %q", m.name, from)
		}
		m.parts[0] = bytes.Replace(m.parts[0], []byte(from), []byte(to), 1)
	}
	bomb := compress(t, Object{URL: "http://a/", Data: make([]byte, 16<<20)})[0].Compressed
	for _, test := range []struct {
		name   string
		change func(webop, desc, table *member)
		want   string
	}{
		{"other magic", func(w, d, m *member) { replace(w, "WOP", "WOO") }, "begin with the magic"},
		{"desc header", func(w, d, m *member) { replace(d, "WOPD", "WOPX") }, "package.webop.desc: it does not begin"},
		{"map header", func(w, d, m *member) { replace(m, "WOPM", "WOPX") }, "package.webop.map: it does not begin"},
		{"desc offset", func(w, d, m *member) { replace(d, "\n8:", "\n9:") }, "Web object 0 of package: package.webop.desc says"},
		{"desc number", func(w, d, m *member) { replace(d, "\n8:", "\n08:") }, "package.webop.desc at byte 28"},
		{"desc sign", func(w, d, m *member) { replace(d, "\n8:", "\n+8:") }, "offset:size:url"},
		{"desc size", func(w, d, m *member) { replace(d, ":55:", ":54:") }, "Web object 1 of package: \"http://a/\" at byte"},
		{"desc bomb", func(w, d, m *member) { replace(d, ":55:", ":9999999999999:") }, "at most 67108864"},
		{"desc URL", func(w, d, m *member) { replace(d, "http://a/", "http://b/") }, "URL is \"http://a/\""},
		{"desc without end", func(w, d, m *member) { d.parts[0] = d.parts[0][:len(d.parts[0])-1] }, "Web object 2 of package: package.webop.desc at byte"},
		{"desc with a line more", func(w, d, m *member) { d.parts[0] = append(bytes.Clone(d.parts[0]), "9:9:x\r\n"...) }, "Web object 3 of package: package.webop.map"},
		{"map offset", func(w, d, m *member) { replace(m, "\n56:", "\n57:") }, "Web object 0 of package: package.webop.map says"},
		{"map length", func(w, d, m *member) { replace(m, "\n56:", "\n56:9") }, "package.webop.map says"},
		{"map without lines", func(w, d, m *member) { m.parts[0] = []byte(mapMagic) }, "package.webop.map at byte 8"},
		{"no lines", func(w, d, m *member) { m.parts[0], d.parts[0] = []byte(mapMagic), d.parts[0][:descSize] }, "the last run ends at byte 13"},
		{"webop size", func(w, d, m *member) { w.size++ }, "the zip says"},
		{"webop CRC", func(w, d, m *member) { w.crc++ }, "package.webop: CRC-32"},
		{"bomb in a run", func(w, d, m *member) {
			w.parts[0] = append([]byte(magicRun), append(bytes.Clone(bomb), finalBlock...)...)
			d.parts[0] = append(bytes.Clone(d.parts[0][:descSize]), "8:55:http://a/\r\n"...)
			m.parts[0] = Place{56, int64(len(bomb))}.appendLine([]byte(mapMagic))
		}, "inflates to more than 55 bytes"},
		{"other name", func(w, d, m *member) { w.name = "x.webop" }, "member 0"},
	} {
		t.Run(test.name, func(t *testing.T) { wantError(t, Verify(lie(t, test.change)), test.want) })
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
	}
}

// The hash notices a changed page where the package's CRC is out of reach.
func TestReadChecksHash(t *testing.T) {
	raw := strings.Replace(fullBytes, "hi", "ho", 1)
	run := storedRun(fullExample.URL, raw[:len(raw)-2]+"ho")
	_, err := Read(t.Context(), &oneObject{content: run.Compressed}, "key", Place{0, int64(len(run.Compressed))})
	wantError(t, err, "not that of the hash")
}
