package segment

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring"
)

// reseal corrects the checksums of a segment's tail and footer.
func reseal(object []byte) {
	footer := len(object) - footerSize
	last := len(object) - int(binary.BigEndian.Uint64(object[footer:]))
	resealPart(object[last:footer])
	resealPart(object[footer:])
}

func resealPart(sealed []byte) {
	end := len(sealed) - sealSize
	binary.BigEndian.PutUint32(sealed[end:], crc32.Checksum(sealed[:end], castagnoli))
}

// FuzzTail opens segments whose tails hold arbitrary bytes with right checksums, and reads
// everything that these tails describe: nothing may panic.
func FuzzTail(f *testing.F) {
	content := mustBuild(f, generate(5, 1), 0)
	end := mustOpen(f, content).tail.end()
	f.Add(content[end : len(content)-footerSize-sealSize])
	f.Add([]byte{version, leastVersion})
	f.Fuzz(func(t *testing.T, last []byte) {
		object := seal(append(slices.Clone(content[:end]), last...), int(end))
		footer := len(object)
		object = binary.BigEndian.AppendUint64(object, uint64(footer-int(end)+footerSize))
		object = seal(binary.BigEndian.AppendUint64(object, uint64(footer+footerSize)), footer)
		_ = Check(object)
		if s, err := OpenBytes(object); err == nil {
			_ = readAll(t, s)
		}
	})
}

// FuzzSections changes a byte of a section, and corrects the section's checksum. Checking, reading
// and merging the segment may then fail or give wrong data, but may not panic.
func FuzzSections(f *testing.F) {
	content := mustBuild(f, supplemented(generate(5, 1)), 0)
	s := mustOpen(f, content)
	for n := range 24 {
		f.Add(uint8(n), uint16(3), byte(0xff))
	}
	f.Fuzz(func(t *testing.T, section uint8, at uint16, value byte) {
		changed := slices.Clone(content)
		block, pages := s.tail.terms.split(0)
		pages.Length = min(pages.Length, pageSize)
		ranges := append(s.tail.stored.ranges([]int{0}), block, pages)
		for _, c := range s.tail.columns {
			r := ranges[0]
			r.Offset, r.Length = c.offset, c.size
			ranges = append(ranges, r)
		}
		r := ranges[int(section)%len(ranges)]
		part := changed[r.Offset:][:r.Length]
		part[int(at)%len(part)] = value
		resealPart(part)
		_ = Check(changed)
		flipped := mustOpen(t, changed)
		_ = readAll(t, flipped)
		if _, free, err := Merge(t.Context(), []Input{{Segment: flipped, Dead: roaring.BitmapOf(1)}}, 1<<30, ""); err == nil {
			free()
		}
	})
}

func FuzzTermBlock(f *testing.F) {
	content := mustBuild(f, generate(5, 1), 0)
	s := mustOpen(f, content)
	r, _ := s.tail.terms.split(0)
	f.Add(content[r.Offset:][:r.Length-sealSize], "w1")
	f.Add([]byte{0x01, 'w', 1}, "w1") // the list of the term would end one byte behind the block
	f.Fuzz(func(t *testing.T, block []byte, term string) {
		texts, sealed := []string{term, term + "x"}, seal(slices.Clone(block), 0)
		for _, cache := range []Guides{nil, make(guides)} {
			found := make([]*Term, 2)
			var r blockReader
			guide, err := s.openBlock(&r, 0, sealed, nil, cache)
			if err == nil {
				err = s.findTerms(&r, guide, wantedBlock{0, []int{0, 1}}, texts, found)
			}
			for i, term := range found {
				if term != nil && term.Text != texts[i] {
					t.Errorf("%q: %q, %v", texts[i], term.Text, err)
				}
			}
		}
	})
}

func FuzzStoredBlock(f *testing.F) {
	w := storedWriter{object: newObjectWriter(nil)}
	for _, d := range generate(3, 1) {
		if err := w.add(&d); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(append(append(slices.Clone(w.sizes), w.records...), w.bodies...), 3)
	f.Fuzz(func(t *testing.T, raw []byte, documents int) {
		if documents < 0 || len(raw) > maxStoredBlock {
			return
		}
		sealed := seal(compress(nil, raw), 0)
		r, err := openStored(sealed, uint32(len(raw)), documents)
		if err != nil {
			return
		}
		for i := range documents {
			d, err := r.document(i)
			if err != nil {
				continue
			}
			if again, err := parseRecord(appendRecord(nil, &d)); err != nil || again.URL != d.URL || again.ID != d.ID {
				t.Errorf("%+v reads as %+v, %v", d, again, err)
			}
		}
	})
}

func FuzzColumns(f *testing.F) {
	var w stringWriter
	w.add("a")
	w.add("a", "b")
	w.add()
	f.Add(w.appendTo(nil), uint16(3))
	f.Add(appendNumbers(nil, []uint64{1, 1 << 40, 7}), uint16(3))
	f.Add(appendSample(appendSample(nil, []uint32{1, 2}), []uint32{0}), uint16(3))
	f.Fuzz(func(t *testing.T, content []byte, documents uint16) {
		p := parser{data: content}
		if c := p.strings(int(documents)); !p.failed {
			for doc := range c.Of {
				c.Get(uint32(doc))
			}
		}
		p = parser{data: content}
		if values := p.numbers(int(documents)); !p.failed && len(values) != int(documents) {
			t.Errorf("%d numbers of %d documents", len(values), documents)
		}
		p = parser{data: content}
		for _, doc := range p.sample(nil, uint32(documents)) {
			if doc >= uint32(documents) {
				t.Errorf("sample of document %d of %d", doc, documents)
			}
		}
	})
}

func FuzzDeletions(f *testing.F) {
	for _, docs := range [][]uint32{nil, {0}, {1, 2, 3, 70000}, {99999}} {
		b, err := Deletions{Documents: 100_000, Dead: roaring.BitmapOf(docs...)}.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[len(overlayMagic)+1 : len(b)-sealSize])
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		object := seal(append(append([]byte(overlayMagic), byte(deletionsKind)), content...), 0)
		d, err := DecodeDeletions(object)
		if err != nil {
			return
		}
		again, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := DecodeDeletions(again); err != nil || !back.Dead.Equals(d.Dead) || back.Documents != d.Documents {
			t.Errorf("%v reads as %v, %v", d, back, err)
		}
	})
}
