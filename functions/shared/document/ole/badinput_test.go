package ole

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// pieced returns a Word file whose list of text pieces has the given number of entries. All entries
// are alike: they have the same length in characters, and point to the same place in the file.
func pieced(pieces int, place, length uint32, text string) []byte {
	file := make([]byte, wordHeaderSize)
	copy(file, u16(0xA5EC))
	copy(file[wordFlags:], u16(flagTable1))
	copy(file[wordTextLength:], u32(free))
	var bounds, places []byte
	for i := range pieces + 1 {
		bounds = append(bounds, u32(uint32(i)*length)...)
	}
	for range pieces {
		places = append(append(append(places, u16(0)...), u32(place)...), u16(0)...)
	}
	list := slices.Concat([]byte{2}, u32(uint32(len(bounds)+len(places))), bounds, places)
	copy(file[wordPieces:], u32(0, uint32(len(list))))
	file = slices.Concat(file, []byte(text), make([]byte, smallStream))
	return compoundOf(stream{"WordDocument", file}, stream{"1Table", append(list, make([]byte, smallStream)...)})
}

// with returns a copy of a file in which the bytes from an offset on are overwritten by others.
func with(file []byte, at int, others []byte) []byte {
	file = bytes.Clone(file)
	copy(file[at:], others)
	return file
}

// TestBadInput reads damaged and extreme files, and checks that each gives its readable words or
// fails as expected, and that the memory taken is proportional to the size of the file.
func TestBadInput(t *testing.T) {
	const many = 50_000
	words := strings.Repeat("word ", 2000)
	whole := doc(flagTable1, "First\r"+field, words)
	table := len(whole) - 512
	slide := record(0, textNarrow, []byte("first"))
	presentation := func(records ...[]byte) []byte {
		return compoundOf(stream{"PowerPoint Document", append(bytes.Join(records, nil), make([]byte, smallStream)...)})
	}
	directory := bytes.Index(whole, utf16le("WordDocument"))
	for name, c := range map[string]struct {
		file  []byte
		words string // found in what is read
		fails bool
	}{
		"a piece of all, many times":       {pieced(many, wordHeaderSize*2|1<<30, smallStream, "first "), "first", false},
		"pieces beyond the file":           {pieced(many, 0x3FFFFFFF, 1, ""), "", false},
		"pieces of nothing":                {pieced(many, 0, 0, ""), "", false},
		"pieces that overflow":             {pieced(100, wordHeaderSize*2|1<<30, 0x7FFFFFFF, "first "), "first", false},
		"fields in fields":                 {doc(flagTable1, "First\r"+strings.Repeat("\x13", many), words), "First", false},
		"fields that end twice":            {doc(flagTable1, "First\r"+strings.Repeat("\x13\x14\x15\x15", many), words), "First word", false},
		"fields of a huge instruction":     {doc(flagTable1, "First\r\x13 HYPERLINK \""+strings.Repeat("x", many)+"\x14there\x15", words), "First there", false},
		"lines of nothing":                 {doc(flagTable1, "First"+strings.Repeat("\r\v\f\a\t", many), words), "First word", false},
		"half pairs of characters":         {compoundOf(stream{"PowerPoint Document", append(record(0, textWide, u16(0xD83D, 'a', 0xDE00)), make([]byte, smallStream)...)}), "a", false},
		"a chain of itself":                {with(whole, table, u32(0, 0, 0, 0)), "First", false},
		"a chain beyond the file":          {with(whole, table, u32(1<<20)), "First", false},
		"a table of the first sector":      {with(whole, 76, u32(0)), "First", false},
		"tables without end":               {with(with(whole, 68, u32(0)), 512+508, u32(0)), "First", false},
		"a directory of itself":            {with(whole, 48, u32(0)), "", true},
		"sectors of another size":          {with(whole, 30, u16(12)), "", true},
		"sectors of no size":               {with(whole, 30, u16(0)), "", true},
		"a stream of 16 EB":                {with(with(whole, 30, u16(9)), directory+120, u32(free, free)), "First", false},
		"a stream of nothing":              {with(whole, directory+120, u32(0, 0)), "", true},
		"a name of no length":              {with(whole, directory+64, u16(0)), "", true},
		"a name of all lengths":            {with(whole, directory+64, u16(0xFFFF)), "", true},
		"a list of pieces beyond":          {with(whole, bytes.Index(whole, u16(0xA5EC))+wordPieces, u32(free, free)), "", true},
		"property changes beyond":          {with(whole, bytes.Index(whole, []byte("front"))+6, u16(0xFFFF)), "", false},
		"records of 4 GB":                  {presentation(slide, u16(0, textNarrow), u32(free)), "first", false},
		"records in records":               {presentation(slide, bytes.Repeat(record(0xF, 1000), many)), "first", false},
		"records that hold more than all":  {presentation(slide, bytes.Repeat(slices.Concat(u16(0xF, 1000), u32(free)), many), slide), "first", false},
		"records of nothing":               {presentation(bytes.Repeat(record(0, textNarrow), many), slide), "first", false},
		"a header of a text without a use": {presentation(record(0, textHeader), slide), "first", false},
		"many entries of one name":         {compoundOf(slices.Repeat([]stream{{"PowerPoint Document", slide}}, 2000)...), "first", false},
	} {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			page, err := HTML(c.file)
			if (err != nil) != c.fails {
				t.Fatalf("fails: %v, want %v; %.100q", err, c.fails, page.HTML)
			}
			if taken, most := allocated()-before, uint64(20*len(c.file)+64<<20); taken > most {
				t.Errorf("%d bytes take %d, want at most %d", len(c.file), taken, most)
			}
			for word := range strings.FieldsSeq(c.words) {
				if !bytes.Contains(page.HTML, []byte(word)) {
					t.Errorf("%q is lost in %.200q", word, page.HTML)
				}
			}
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestCutAnywhere cuts files off after 0, 7, 14 … bytes. Each beginning of a file must be converted
// to whole HTML or refused.
func TestCutAnywhere(t *testing.T) {
	for name, whole := range map[string][]byte{"DOC": doc(flagTable1, "First\r"+field, "Größe\r"), "PPT": ppt()} {
		for end := 0; end < len(whole); end += 7 {
			page, err := HTML(whole[:end])
			if err == nil && !bytes.HasSuffix(page.HTML, []byte("</html>\n")) {
				t.Errorf("%s cut at %d: %s", name, end, fmt.Sprintf("%.100q", page.HTML))
			}
		}
	}
}
