package postings

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// examples returns three lists: one of a single document, one of some documents in one
// block, and one of several blocks. Together they use every form that the format has.
func examples() map[string][]model {
	one := simple(3000)
	var some, blocks []model
	for i := range uint32(300) {
		d := model{Posting: Posting{Doc: i * (1 + i%7*i%3), Hits: Hits(i % 5 / 4 * (i % 8))}}
		if i > 0 && d.Doc <= blocks[i-1].Doc {
			d.Doc = blocks[i-1].Doc + 1 + i%11/10*1_000_000
		}
		lengths := [Fields]uint32{7, 12, 4, 300 + i*i%977*(i%13)}
		for field, often := range [Fields]uint32{20, 9, 40, 1} {
			if i%often != 0 || i%50 == 49 {
				continue
			}
			length := lengths[field]
			d.Length[field] = LengthCode(length)
			d.Freq[field] = 1 + i%3/2*(i%6) + i%100/99*20
			for j := range d.Freq[field] {
				d.Positions = append(d.Positions, j*length/d.Freq[field]+i%length)
			}
		}
		blocks = append(blocks, d)
		if i%40 == 0 {
			some = append(some, d)
		}
	}
	return map[string][]model{"one": one, "some": some, "blocks": blocks}
}

// TestVersions reads lists from files in each version of the format of lists. All later versions of this
// package must read them, too, because segments in buckets have such lists. The test also encodes the
// same documents again: the bytes must equal those of the files.
func TestVersions(t *testing.T) {
	for name, want := range examples() {
		list, positions := encode(want)
		testFile(t, name+".v1", want, list, positions, nil)
		want = dense(want)
		list, positions, lengths := encode2(want)
		testFile(t, name+".v2", want, list, positions, lengths)
	}
}

// testFile compares the files of a list and its positions with these bytes, and what it reads from them with the
// wanted documents.
func testFile(t *testing.T, name string, want []model, list, positions []byte, lengths Lengths) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		for kind, content := range map[string][]byte{".list": list, ".positions": positions} {
			if err := os.WriteFile(file+kind, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	oldList, err := os.ReadFile(file + ".list")
	if err != nil {
		t.Fatal(err)
	}
	oldPositions, err := os.ReadFile(file + ".positions")
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(oldList, lengths)
	if err != nil {
		t.Fatal(err)
	}
	if d := difference(want, walk(t, l.Iterator(), oldPositions)); d != "" {
		t.Errorf("%s: (-want +got)\n%s", name, d)
	}
	if !bytes.Equal(list, oldList) || !bytes.Equal(positions, oldPositions) {
		t.Errorf("%s is now encoded in other bytes", name)
	}
}

// TestDocumented checks the bytes of the example in the package comment.
func TestDocumented(t *testing.T) {
	documents := []model{{
		Posting:   Posting{Doc: 3000, Freq: [Fields]uint32{0, 0, 0, 2}, Length: [Fields]uint8{3: LengthCode(100)}, Hits: Capitals},
		Positions: []uint32{5, 70},
	}}
	list, positions := encode(documents)
	if want := []byte{0x12, 0xB8, 0x17, 0x10, 0x01, 0x39}; !bytes.Equal(list, want) {
		t.Errorf("the list is % X, documented as % X", list, want)
	}
	if want := []byte{0xCA, 0x02}; !bytes.Equal(positions, want) {
		t.Errorf("the positions are % X, documented as % X", positions, want)
	}
	list, positions, _ = encode2(documents)
	if want := []byte{0x12, 0xB8, 0x17, 0x10, 0x01}; !bytes.Equal(list, want) {
		t.Errorf("the list of version 2 is % X, documented as % X", list, want)
	}
	if want := []byte{0xCA, 0x02}; !bytes.Equal(positions, want) {
		t.Errorf("the positions of version 2 are % X, documented as % X", positions, want)
	}
}
