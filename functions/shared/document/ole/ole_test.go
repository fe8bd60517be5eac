package ole

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

const (
	free       = 0xFFFFFFFF
	endOfChain = 0xFFFFFFFE
	tableItem  = 0xFFFFFFFD
)

func u16(n ...uint16) (b []byte) {
	for _, n := range n {
		b = little.AppendUint16(b, n)
	}
	return b
}

func u32(n ...uint32) (b []byte) {
	for _, n := range n {
		b = little.AppendUint32(b, n)
	}
	return b
}

func utf16le(s string) []byte { return u16(utf16.Encode([]rune(s))...) }

type stream struct {
	name    string
	content []byte
}

// compoundOf returns a compound file with the streams, in sectors of 512 bytes. It can hold at most
// 7 MB. Streams below smallStream bytes lie in small sectors, which are the content of the root
// entry of the directory.
func compoundOf(streams ...stream) []byte {
	var sectors []byte
	var next []uint32
	add := func(content []byte) uint32 { // a chain
		first := uint32(len(next))
		for len(content) > 0 {
			sector := make([]byte, 512)
			content = content[copy(sector, content):]
			sectors = append(sectors, sector...)
			next = append(next, uint32(len(next)+1))
		}
		next[len(next)-1] = endOfChain
		return first
	}
	entryOf := func(name string, kind byte, first uint32, size int) []byte {
		e := make([]byte, entrySize)
		n := copy(e, utf16le(name))
		copy(e[64:], u16(uint16(n+2)))
		e[66] = kind
		copy(e[116:], u32(first, uint32(size)))
		return e
	}
	var small, entries []byte
	var nextSmall []uint32
	for _, s := range streams {
		if len(s.content) >= smallStream {
			entries = append(entries, entryOf(s.name, 2, add(s.content), len(s.content))...)
			continue
		}
		entries = append(entries, entryOf(s.name, 2, uint32(len(nextSmall)), len(s.content))...)
		for at := 0; at < len(s.content); at += smallSector {
			sector := make([]byte, smallSector)
			copy(sector, s.content[at:])
			small = append(small, sector...)
			nextSmall = append(nextSmall, uint32(len(nextSmall)+1))
		}
		nextSmall[len(nextSmall)-1] = endOfChain
	}
	root, smallTable := uint32(endOfChain), uint32(endOfChain)
	if len(small) > 0 {
		root, smallTable = add(small), add(u32(nextSmall...))
	}
	directory := add(append(entryOf("Root Entry", 5, root, len(small)), entries...))
	table := uint32(len(next))
	tables := len(next)/127 + 1 // enough for themselves, too
	for range tables {
		next = append(next, tableItem)
	}
	for len(next) < 128*tables {
		next = append(next, free)
	}
	header := make([]byte, headerSize)
	copy(header, Magic)
	copy(header[30:], u16(9, 6))
	copy(header[48:], u32(directory))
	copy(header[60:], u32(smallTable))
	copy(header[68:], u32(endOfChain))
	for i := range 109 {
		copy(header[76+4*i:], u32(free))
	}
	for i := range tables {
		copy(header[76+4*i:], u32(table+uint32(i)))
	}
	return bytes.Join([][]byte{header, sectors, u32(next...)}, nil)
}

// doc returns a Word file whose text is stored in two pieces: the first with one byte for each
// character, the second in UTF-16.
func doc(flags uint16, first, second string) []byte {
	file := make([]byte, wordHeaderSize)
	copy(file, u16(0xA5EC))
	copy(file[wordFlags:], u16(flags))
	narrow, wide := []byte(first), utf16le(second)
	all := uint32(len(first) + len(wide)/2)
	copy(file[wordTextLength:], u32(all))
	pieces := bytes.Join([][]byte{
		u32(0, uint32(len(first)), all),
		u16(0), u32(uint32(wordHeaderSize*2) | 1<<30), u16(0),
		u16(0), u32(uint32(wordHeaderSize + len(first))), u16(0),
	}, nil)
	list := bytes.Join([][]byte{{1}, u16(3), []byte("xyz"), {2}, u32(uint32(len(pieces))), pieces}, nil)
	copy(file[wordPieces:], u32(5, uint32(len(list))))
	file = bytes.Join([][]byte{file, narrow, wide, make([]byte, smallStream)}, nil)
	return compoundOf(stream{"WordDocument", file}, stream{"1Table", append([]byte("front"), list...)})
}

const field = "\x13 HYPERLINK \"http://a.test/\" \x14there\x15 and \x13 PAGE \x147\x15\r"

func record(version, kind uint16, content ...[]byte) []byte {
	all := bytes.Join(content, nil)
	return bytes.Join([][]byte{u16(version, kind), u32(uint32(len(all))), all}, nil)
}

func ppt() []byte {
	title, body := record(0, textHeader, u32(0)), record(0, textHeader, u32(1))
	return compoundOf(stream{"PowerPoint Document", bytes.Join([][]byte{
		record(0xF, master, record(0, textNarrow, []byte("Click to edit"))),
		record(0xF, 1000,
			record(0x1F, slideList, title, record(0, textNarrow, []byte("master"))),
			record(0x0F, slideList, title, record(0, textWide, utf16le("Größe")), body, record(0, textNarrow, []byte("one\rtwo\x0B*")))),
	}, nil)})
}

func TestHTML(t *testing.T) {
	const start, end = `<!doctype html><html lang=""><head><title></title></head><body><main>` + "\n", "</main></body></html>\n"
	for name, c := range map[string]struct {
		data        []byte
		media, want string
	}{
		"DOC": {doc(flagTable1, "Fir\x93st\r"+field, "Größe\x07a\tb\r"), DOC,
			"Fir“st<br>\n<a href=\"http://a.test/\">there</a> and 7<br>\nGröße<br>\na b<br>\n"},
		"PPT": {ppt(), PPT, "<h1>Größe</h1>\none<br>\ntwo<br>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if media := Type(c.data); media != c.media {
				t.Errorf("type %q", media)
			}
			page, err := HTML(c.data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(start+c.want+end, string(page.HTML)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoDocument(t *testing.T) {
	cut := doc(flagTable1, "a", "b")
	for name, c := range map[string]struct {
		data        []byte
		media, want string
	}{
		"nothing":   {nil, "", "cannot read document: no compound file"},
		"a header":  {append([]byte(Magic), make([]byte, headerSize)...), Other, "cannot read document: broken compound file"},
		"a sheet":   {compoundOf(stream{"Workbook", []byte("x")}), XLS, "cannot read document: the compound file holds none that is known"},
		"a message": {compoundOf(stream{"__properties", []byte("x")}), Other, "cannot read document: the compound file holds none that is known"},
		"encrypted": {doc(flagTable1|flagEncrypted, "a", "b"), DOC, "cannot read document: it needs a password"},
		"no table":  {doc(0, "a", "b"), DOC, "cannot read document: the list of its pieces is missing"},
		"cut off":   {cut[:headerSize+100], Other, "cannot read document: the compound file holds none that is known"},
	} {
		t.Run(name, func(t *testing.T) {
			if media := Type(c.data); media != c.media {
				t.Errorf("type %q", media)
			}
			_, err := HTML(c.data)
			if err == nil {
				t.Fatal("read")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCycle reads a file in whose table each sector is followed by itself, so that every chain of
// sectors is endless. Reading a stream must still end, with no more bytes than the stream has.
func TestCycle(t *testing.T) {
	data := compoundOf(stream{"WordDocument", make([]byte, 2*smallStream)})
	table := data[len(data)-512:]
	for i := range 128 {
		copy(table[4*i:], u32(uint32(i)))
	}
	c, err := open(data)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.stream("WordDocument")); n > 2*smallStream {
		t.Errorf("%d bytes", n)
	}
}

func FuzzHTML(f *testing.F) {
	f.Add(doc(flagTable1, "First\r"+field, "Größe\r"))
	f.Add(ppt())
	f.Add([]byte(Magic + strings.Repeat("\x00", headerSize)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if page, err := HTML(data); err == nil && len(page.HTML) > 9<<20 {
			t.Errorf("%d bytes became %d", len(data), len(page.HTML))
		}
	})
}

func FuzzWord(f *testing.F) {
	f.Add("First\r" + field)
	f.Add("\x13\x13\x14\x15\x14\x15\x15")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := HTML(doc(flagTable1, text, text)); err != nil {
			t.Error(err)
		}
	})
}
